"""Reads ids of stored queries out of a site's script files, once they are needed: when the ones at hand are retired.

A site says where its scripts are and what they tell (``scripts`` on its spider). The page that the query belongs to is
asked for with the request's own identity, then its scripts, one after another, until the id is found: never more than
:data:`MOST_SCRIPTS` of them and :data:`MOST_BYTES` at a time, each of them once, and an id that was not found is not
looked for again for :data:`REST` seconds. What is found holds for all sessions of the process, and lands in each that
uses it. Stats: ``fetchworker/scripts/<site>`` counts the scripts read, ``fetchworker/scripts_told/<site>`` their use.
"""

from __future__ import annotations

import asyncio
import logging
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from scrapy.exceptions import DownloadFailedError, IgnoreRequest

from fetchworker.contracts import Fetch
from fetchworker.download.wire import WIRE, page_of
from fetchworker.errors import FetchworkerError
from fetchworker.frontier.codec import CARRIED
from fetchworker.media import MEDIA
from fetchworker.middlewares.warmup import beside
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.contracts import Scripts
    from fetchworker.sessions import Session

logger = logging.getLogger(__name__)

MOST_SCRIPTS, MOST_BYTES, REST = 24, 24 * 1024 * 1024, 600.0
#: bytes of one script
_LARGEST = 8 * 1024 * 1024
#: scripts that could not be had, after which no more are asked for
_MOST_FAILED = 3
#: how much is remembered, so that a process of months stays small
_MOST_READ, _MOST_RETIRED = 10_000, 1_000
_FAILURES = (FetchworkerError, DownloadFailedError, IgnoreRequest)


class Bundles:
    """What the scripts of one site have told this process."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._runtime = crawler, Runtime.of(crawler)
        self._scripts: Scripts | None = getattr(crawler.spidercls, "scripts", None)
        self._lock = asyncio.Lock()
        self._known: dict[str, str] = {}
        self._retired: set[tuple[str, str]] = set()
        self._read: set[str] = set()
        self._rests: dict[str, float] = {}

    def told(self, request: Request, tokens: Mapping[str, str]) -> dict[str, str]:
        """Ids for a request, in place of those of its session (or in the code) that are known to be retired."""
        if not self._retired:
            return {}
        found = {}
        for token, default in request.meta.get("fw_token_form", {}).values():
            if (token, tokens.get(token) or default) in self._retired and token in self._known:
                found[token] = self._known[token]
        if found:
            self._runtime.count(f"scripts_told/{self._runtime.site}")
        return found

    async def renew(self, request: Request, session: Session, signs: Iterable[str]) -> None:
        """Look for ids in place of those that a request was sent with, unless the session has others by now.

        Args:
            request: as it was sent.
            session: what a warm-up has brought since.
            signs: why its contract is taken for stale.
        """
        if self._scripts is None or self._scripts.signs.isdisjoint(signs):
            return
        sent = dict(self._sent(request))
        self._retired = self._retired if len(self._retired) < _MOST_RETIRED else set()
        self._retired.update(sent.items())
        async with self._lock:
            lacking = self._lacking(sent, session.tokens)
            if not lacking:
                return
            try:
                lacking = await self._look(request, session, lacking)
            except _FAILURES as exc:
                logger.info("%s: the page that names the site's scripts cannot be had (%s)", request.url, exc)
            self._rests |= dict.fromkeys(lacking, time.monotonic() + REST)

    def _sent(self, request: Request) -> Iterator[tuple[str, str]]:
        assert self._scripts is not None
        pairs = dict(parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True))
        for key, (token, _) in request.meta.get("fw_token_form", {}).items():
            if token.startswith(self._scripts.prefix) and pairs.get(key):
                yield token, pairs[key]

    def _lacking(self, sent: Mapping[str, str], tokens: Mapping[str, str]) -> dict[str, str]:
        """The ids for which nobody has told another one, and that may be looked for."""
        now = time.monotonic()
        return {
            token: number
            for token, number in sent.items()
            if tokens.get(token, number) == number
            and self._known.get(token, number) == number
            and self._rests.get(token, 0.0) <= now
        }

    async def _look(self, request: Request, session: Session, lacking: dict[str, str]) -> dict[str, str]:
        """Read the query's page and its scripts; what is still lacking then."""
        assert self._scripts is not None
        home: Fetch | None = getattr(self._crawler.spidercls, "warmup", None)
        place = request.meta.get("fw_referer") or (home.url if home else request.url)
        response, session = await self._ask(Fetch("page", place), request, session, fw_harvest=True)
        lacking = self._lacking(lacking, session.tokens)  # the page may have told it itself
        addresses = self._scripts.find(page_of(response)) if lacking else ()
        unread = [address for address in addresses if address not in self._read]
        failed, size = 0, 0
        for address in unread[:MOST_SCRIPTS]:
            if not lacking or failed >= _MOST_FAILED or size >= MOST_BYTES:
                break
            script = Fetch("script", address, referer=response.url)
            try:  # as a picture is: a static host that fails is no reason for another identity
                answer, session = await self._ask(
                    script, request, session, fw_destination="script", download_maxsize=_LARGEST, **{MEDIA: True}
                )
            except _FAILURES as exc:
                logger.info("%s: a script of the site cannot be had (%s)", address, exc)
                failed += 1
                continue
            size += len(answer.body)
            await self._learn(address, answer.body if answer.status == HTTPStatus.OK else b"")
            lacking = self._lacking(lacking, session.tokens)
        return lacking

    async def _ask(self, fetch: Fetch, request: Request, session: Session, **meta: Any) -> tuple[Response, Session]:
        """The answer to a request beside another, and the identity that it came to."""
        assert self._crawler.engine is not None
        response = await self._crawler.engine.download_async(beside(fetch, request, session, CARRIED, **meta))
        wire = response.request.meta.get(WIRE) if response.request is not None else None
        if wire is not None and not wire.session.stored:
            request.meta[CARRIED] = wire.session
        return response, wire.session if wire is not None else session

    async def _learn(self, address: str, body: bytes) -> None:
        assert self._scripts is not None
        if len(self._read) >= _MOST_READ:
            self._read.clear()
            self._known.clear()
        self._read.add(address)
        self._known |= await asyncio.to_thread(self._scripts.read, body)
        self._runtime.count(f"scripts/{self._runtime.site}")
