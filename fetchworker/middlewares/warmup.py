"""Brings a session the tokens it lacks: the site's warm-up page is fetched with that session, by the same path."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from scrapy import Request

from fetchworker.download.wire import WIRE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from fetchworker.contracts import Fetch
    from fetchworker.sessions import Session


def wanted_tokens(meta: dict[str, Any]) -> set[str]:
    """The tokens without which a request cannot be sent (those that have no default)."""
    places = (*meta.get("fw_token_headers", {}).values(), *meta.get("fw_token_form", {}).values())
    return {token for token, default in places if default is None}


def uses_tokens(meta: dict[str, Any]) -> bool:
    """Whether a request takes values from its session."""
    return bool(meta.get("fw_token_headers") or meta.get("fw_token_form"))


class Warmup:
    """Runs one warm-up per identity at a time; who comes meanwhile waits for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._fetch: Fetch | None = getattr(crawler.spidercls, "warmup", None)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def run(self, request: Request, session: Session, carried: str) -> None:
        """Fetch the warm-up page in ``session``; the answer's tokens land in it.

        Errors and blocks of the warm-up are raised as those of any request.
        """
        if self._fetch is None:
            return
        lock = self._locks.setdefault(session.identity, asyncio.Lock())
        before = dict(session.tokens)
        async with lock:
            if session.tokens != before:  # another request has done it
                return
            assert self._crawler.engine is not None
            response = await self._crawler.engine.download_async(self._request(request, session, carried))
        if not session.stored and response.request is not None:
            # the warm-up may have gone through several identities: go on with the one that arrived
            request.meta[carried] = response.request.meta[WIRE].session

    def _request(self, request: Request, session: Session, carried: str) -> Request:
        fetch = self._fetch
        assert fetch is not None
        meta: dict[str, Any] = {"fw_warmup": True, "fw_harvest": True, "fw_destination": fetch.destination}
        meta["fw_request_id"] = request.meta.get("fw_request_id")
        if session.stored:
            meta["fw_session"] = request.meta["fw_session"]
        else:
            meta[carried] = session
        return Request(
            fetch.url, method=fetch.method, headers=list(fetch.headers), meta=meta, priority=request.priority
        )
