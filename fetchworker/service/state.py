"""What the routes of a service share, and how a call is carried out under its limits."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fetchworker.service.admission import Admission
from fetchworker.service.documents import Documents
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.locks import SessionLocks
from fetchworker.telemetry.attribution import bound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request

    from fetchworker.config import Environment
    from fetchworker.service.callers import Callers
    from fetchworker.service.crawlers import Crawlers
    from fetchworker.service.idempotency import Idempotency
    from fetchworker.service.redislink import RedisLink
    from fetchworker.sites import Sites

logger = logging.getLogger(__name__)

#: the site of addresses that belong to none
DEFAULT = "fetch"


class Service:
    """The parts of one service.

    Attributes:
        stateless: whether the sites' routes and pools are left out.
        draining: whether the service was told to end.
    """

    def __init__(  # noqa: PLR0917  # its parts
        self,
        environment: Environment,
        sites: Sites,
        crawlers: Crawlers,
        callers: Callers,
        idempotency: Idempotency,
        link: RedisLink,
        *,
        stateless: bool,
    ) -> None:
        self.environment = environment
        self.sites = sites
        self.crawlers = crawlers
        self.callers = callers
        self.idempotency = idempotency
        self.link = link
        self.stateless = stateless
        self.draining = False
        self.admission = Admission(environment.serve_in_flight, environment.serve_waiting)
        self.locks = SessionLocks()
        self.documents = Documents(environment)

    async def open(self) -> None:
        """Open what calls need from the start; the sites' crawlers are opened with their first calls."""
        await self.crawlers.get(DEFAULT)
        for site, config in self.sites.items():
            if config.pool is not None and config.pool.min_idle and site in self.crawlers.sites:
                await self.crawlers.get(site)  # which warms its sessions up

    async def close(self) -> None:
        """Close everything."""
        await self.documents.close()
        await self.crawlers.close()
        await self.link.close()

    def time_for(self, asked: float | None) -> float:
        """Seconds that a call gets.

        Raises:
            ApiError: it asks for more than the service gives.
        """
        most = self.environment.serve_timeout_max
        if asked is not None and asked > most:
            raise ApiError("VALIDATION_ERROR", f"timeout: at most {most:g} seconds are given", fields=["timeout"])
        return min(asked or self.environment.serve_timeout, most)

    def degraded(self) -> list[tuple[str, str]]:
        """Parts that do less than they should, and what that means."""
        limit = self.crawlers.limit
        if limit is None or not limit.away:
            return []
        most, rate = self.environment.limit_concurrency, self.environment.limit_rate
        ceiling = [f"{most} requests under way"] if most is not None else []
        ceiling += [f"{rate[0]:g} a second"] if rate is not None else []
        told = f"Redis does not answer: this process keeps the limit by itself, at most {' and '.join(ceiling)}"
        return [("limit", told)]

    @asynccontextmanager
    async def call(
        self,
        request: Request,
        *,
        site: str,
        operation: str,
        timeout: float,  # noqa: ASYNC109  # over admission as well
        session: str | None = None,
    ) -> AsyncIterator[None]:
        """Carry out a call: a place, the session for itself, a deadline over all of it.

        Raises:
            ApiError: in place of whatever the block ended with.
        """
        started = time.monotonic()
        state = request.scope["state"]
        deadline = asyncio.timeout(timeout)
        with bound(request_id=state["request_id"], trace_id=state["trace_id"], site=site, operation=operation):
            try:
                async with (
                    deadline,
                    self.admission.place(),
                    self.locks.held(site, session),
                ):
                    yield
            except Exception as exc:
                failure = _failure(exc, over=deadline.expired(), timeout=timeout)
                elapsed = round((time.monotonic() - started) * 1000, 1)
                told: dict[str, Any] = {"site": site, "operation": operation, "elapsed_ms": elapsed}
                failure.context = {**told, **failure.context}
                raise failure from exc


def _failure(error: Exception, *, over: bool, timeout: float) -> ApiError:
    if over and isinstance(error, TimeoutError):
        return ApiError("DEADLINE", f"not done within {timeout:g} seconds", limit=timeout)
    failure = failure_of(error)
    if failure.type == "INTERNAL_ERROR":
        logger.error("a call failed: %s", error, exc_info=error)
    return failure
