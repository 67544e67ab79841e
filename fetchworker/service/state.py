"""What the routes of a service share, and how a call is carried out under its limits."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fetchworker.errors import RedisUnavailableError
from fetchworker.service.admission import Admission
from fetchworker.service.artifacts import Artifacts
from fetchworker.service.documents import Documents
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.locks import SessionLocks
from fetchworker.tasks import end
from fetchworker.telemetry.attribution import bound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.requests import Request

    from fetchworker.config import Environment
    from fetchworker.service.callers import Callers
    from fetchworker.service.crawlers import Crawlers
    from fetchworker.service.idempotency import Idempotency
    from fetchworker.service.redislink import RedisLink
    from fetchworker.service.runs import RunsPart
    from fetchworker.sites import Sites

logger = logging.getLogger(__name__)

#: the site of addresses that belong to none
DEFAULT = "fetch"


class Service:
    """The parts of one service.

    Attributes:
        stateless: whether the sites' routes and pools are left out.
        draining: whether the service was told to end.
        ending: whether the time of the drain is over: what is still under way is cut off.
        under_way: requests that are being served, those too that have no place yet or lie in the way to the client.
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
        runs: RunsPart | None,
        broken: Mapping[str, str] | None = None,
    ) -> None:
        self.environment = environment
        self.sites = sites
        self.crawlers = crawlers
        self.callers = callers
        self.idempotency = idempotency
        self.link = link
        self.stateless = runs is None
        self.runs = runs
        self._broken = {} if broken is None else broken
        self.draining = self.ending = False
        self.under_way = 0
        self.admission = Admission(environment.serve_in_flight, environment.serve_waiting)
        most = environment.serve_listeners
        told = f"{most} listen to events already, and no more may (FETCHWORKER_SERVE_LISTENERS)"
        self.listeners = Admission(most, 0, told=told)
        self.locks = SessionLocks()
        self.documents = Documents(environment)
        self.artifacts = Artifacts(environment)
        self._watch: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Open what calls need from the start; the sites' crawlers are opened with their first calls."""
        if self.environment.redis_url is not None:
            await self.link.away()
        self._watch = asyncio.ensure_future(self.link.watch(self._needs_redis))
        await self.crawlers.get(DEFAULT)
        self.artifacts.start()
        if self.runs is not None:
            await self.runs.start()
        for site, config in self.sites.items():
            if config.pool is not None and config.pool.min_idle and site in self.crawlers.sites:
                await self.crawlers.get(site)  # which warms its sessions up

    async def close(self) -> None:
        """Close everything."""
        await end(self._watch)
        if self.runs is not None:
            await self.runs.close()
        await self.documents.close()
        await self.artifacts.close()
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

    def workspace_of(self, request: Request) -> str | None:
        """The workspace of the caller's key, None where it has none."""
        return self.callers.workspace_of(caller_of(request))

    def degraded(self) -> list[tuple[str, str]]:
        """Parts that do less than they should, and what that means; from memory, as it is asked for often."""
        found = []
        limit = self.crawlers.limit
        if limit is not None and limit.away:
            found.append(("limit", self._ceiling()))
        if self._needs_redis() and self.link.missed:
            what = "sessions with a name" if self.stateless else "sessions with a name, pools and Idempotency-Key"
            found.append(("redis", f"Redis does not answer: calls with {what} fail"))
        if self.runs is not None and self.runs.away:
            found.append(("runs", self.runs.away))
        found += [(f"site {site}", why) for site, why in self._broken.items()]
        return found

    def _ceiling(self) -> str:
        most, rate = self.environment.limit_concurrency, self.environment.limit_rate
        ceiling = [f"{most} requests under way"] if most is not None else []
        ceiling += [f"{rate[0]:g} a second"] if rate is not None else []
        return f"Redis does not answer: this process keeps the limit by itself, at most {' and '.join(ceiling)}"

    def _needs_redis(self) -> bool:
        """One of our own is started by the first call that needs it, and by nothing else."""
        return self.environment.redis_url is not None or self.link.needed or self.crawlers.need_redis

    @asynccontextmanager
    async def call(
        self,
        request: Request,
        *,
        site: str,
        operation: str,
        timeout: float,  # noqa: ASYNC109  # over admission as well
        session: str | None = None,
        redis: bool = False,
        listening: bool = False,
    ) -> AsyncIterator[dict[str, Any]]:
        """Carry out a call: a place, the session for itself, a deadline over all of it.

        The block gets a mapping for how its last try ended (``meta[LAST]``); a failure tells it.

        Args:
            request: of the caller.
            site: whose it is.
            operation: its name.
            timeout: seconds that it may take.
            session: its name, if it has one.
            redis: whether nothing can come of it without Redis.
            listening: whether it only waits for what others do: its place is none of those of calls.

        Raises:
            ApiError: in place of whatever the block ended with.
        """
        started = time.monotonic()
        redis = redis or session is not None
        state = request.scope["state"]
        deadline = asyncio.timeout(timeout)
        last: dict[str, Any] = {}
        with bound(request_id=state["request_id"], trace_id=state["trace_id"], site=site, operation=operation):
            try:
                async with deadline:
                    # it comes back when the answer has been taken: until then that lies in the memory
                    places = self.listeners if listening else self.admission
                    await state["held"].enter_async_context(places.place())
                    async with self.locks.held(site, session):
                        if redis and self.link.missed:
                            await self.link.check()
                        yield last
            except (Exception, asyncio.CancelledError) as exc:
                if isinstance(exc, asyncio.CancelledError) and not self._cut_off():
                    raise
                cause = await self._cause(exc) if redis and isinstance(exc, TimeoutError) else exc
                failure = _failure(cause, over=deadline.expired(), timeout=timeout)
                elapsed = round((time.monotonic() - started) * 1000, 1)
                failure.context = {
                    "site": site, "operation": operation, "elapsed_ms": elapsed, **last, **failure.context,
                }  # fmt: skip
                raise failure from exc

    async def _cause(self, error: BaseException) -> BaseException:
        """What has taken the time of a call that needs Redis: that one, or something else."""
        try:
            await self.link.check()
        except RedisUnavailableError as exc:
            return exc
        return error

    def _cut_off(self) -> bool:
        """Whether this call is cancelled as the service ends; it is not any more then, and can answer so."""
        task = asyncio.current_task()
        if self.ending and task is not None:
            task.uncancel()
        return self.ending


def caller_of(request: Request) -> str | None:
    """The name of the caller's key, None where nobody is asked for one."""
    caller: str | None = request.scope["state"]["caller"]
    return caller


def _failure(error: BaseException, *, over: bool, timeout: float) -> ApiError:
    if over and isinstance(error, TimeoutError):
        return ApiError("DEADLINE", f"not done within {timeout:g} seconds", limit=timeout, layer="deadline")
    failure = failure_of(error)
    if failure.type == "REDIS_UNAVAILABLE":
        logger.warning("a call failed: %s", error)
    if failure.type == "INTERNAL_ERROR" and isinstance(error, Exception):
        logger.error("a call failed: %s", error, exc_info=error)
    return failure
