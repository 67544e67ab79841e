"""Brings a session the tokens it lacks: the site's warm-up pages are fetched with that session, by the same path."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from scrapy import Request

from fetchworker.download.wire import LAST, WIRE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy.crawler import Crawler

    from fetchworker.contracts import Fetch
    from fetchworker.sessions import Session


#: the meta key of a request whose warm-up has failed, which was tried as often as a request may be
FAILED = "fw_warmup_failed"


def wanted_tokens(meta: dict[str, Any]) -> set[str]:
    """The tokens without which a request cannot be sent (those that have no default)."""
    places = (*meta.get("fw_token_headers", {}).values(), *meta.get("fw_token_form", {}).values())
    return {token for token, default in places if default is None}


def uses_tokens(meta: dict[str, Any]) -> bool:
    """Whether a request takes values from its session."""
    return bool(meta.get("fw_token_headers") or meta.get("fw_token_form"))


class _Visit:
    """The warm-ups of one identity, as long as somebody waits for one; ``done`` counts those that went well."""

    __slots__ = ("__weakref__", "done", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.done = 0


class Warmup:
    """Runs one warm-up per identity at a time; who comes meanwhile waits for it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._fetches: Callable[[str], Sequence[Fetch]] = getattr(crawler.spidercls, "visits", lambda _url: ())
        self._visits: WeakValueDictionary[str, _Visit] = WeakValueDictionary()

    def runs(self, session: Session) -> bool:
        """Whether a warm-up of this identity is on its way."""
        visit = self._visits.get(session.identity)
        return visit is not None and visit.lock.locked()

    def ticket(self, session: Session) -> int:
        """What :meth:`run` needs to know about the time at which a warm-up was found wanting."""
        visit = self._visits.get(session.identity)
        return visit.done if visit is not None else 0

    async def run(self, request: Request, session: Session, carried: str, ticket: int) -> None:
        """Make the visits of the warm-up in ``session``, unless that was done since; the answers' tokens land in it.

        Errors and blocks of the warm-up are raised as those of any request.
        """
        fetches = self._fetches(request.url)
        if not fetches:
            return
        visit = self._visits.setdefault(session.identity, _Visit())
        async with visit.lock:
            if visit.done != ticket:  # another request has done it
                return
            assert self._crawler.engine is not None
            request.meta[FAILED] = True
            for fetch in fetches:
                asked = beside(fetch, request, session, carried, fw_harvest=True)
                response = await self._crawler.engine.download_async(asked)
                if not session.stored and response.request is not None:
                    # the warm-up may have gone through several identities: go on with the one that arrived
                    session = request.meta[carried] = response.request.meta[WIRE].session
            del request.meta[FAILED]
            visit.done += 1


def beside(fetch: Fetch, request: Request, session: Session, carried: str, **more: Any) -> Request:
    """A request that is made for another one, with its session; ``more`` joins its meta."""
    meta: dict[str, Any] = {"fw_warmup": True, "fw_destination": fetch.destination, **more}
    meta["fw_request_id"] = request.meta.get("fw_request_id")
    if LAST in request.meta:
        meta[LAST] = request.meta[LAST]
    if fetch.referer:
        meta["fw_referer"] = fetch.referer
    if session.stored:
        meta["fw_session"] = request.meta["fw_session"]
    else:
        meta[carried] = session
    return Request(fetch.url, method=fetch.method, headers=list(fetch.headers), meta=meta, priority=request.priority)
