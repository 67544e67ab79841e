"""The base of every site's spider: arguments and seeds become calls, calls become requests, pages become items.

A site's class says what it can do (methods marked ``@operation``); this base walks the strategies of a call, turns
pages until the limit or the end, stamps items, and writes a failure line when a call ends without its data.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from scrapy.exceptions import CloseSpider

from fetchworker.contracts import REPEATS, Call, Fetch, Page, Parsed, Scripts
from fetchworker.download.wire import WIRE, page_of
from fetchworker.errors import (
    ArgumentError,
    BrokenChainError,
    ConfigError,
    ContractError,
    FetchworkerError,
    OutcomeError,
    ProxyExhaustedError,
    RedisUnavailableError,
    SessionError,
    UnfinishedError,
)
from fetchworker.runtime import Runtime
from fetchworker.spiders.operation import Operation, Resolver, Started, collect, operation
from fetchworker.spiders.paging import Duplicates, dump_items, following, is_shell, load_items, stamper
from fetchworker.spiders.queued import CALLBACKS, check_fields
from fetchworker.spiders.rendered import ONE_STEP, RenderedSpider
from fetchworker.spiders.requests import build_request, dump_call, fetch_meta, load_call, request_id
from fetchworker.spiders.scopes import BEGUN, LEG, identity_of, kept_identity

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from fetchworker.download.wire import Wire
    from fetchworker.items import Item
    from fetchworker.runtime import Identities
    from fetchworker.sites import SiteConfig

__all__ = ["SiteSpider", "operation"]

#: pages above this size (bytes) are parsed in a thread, so that the loop goes on
_THREAD_ABOVE = 512 * 1024
#: errors that every other way would meet as well
_NO_OTHER_WAY = (
    *(CloseSpider, ArgumentError, ConfigError, ProxyExhaustedError, RedisUnavailableError, SessionError),
    UnfinishedError,
)
#: outcomes that another strategy cannot better
_FINAL_OUTCOMES = frozenset({"not_found", "gone", "private"})


class SiteSpider(RenderedSpider):
    """One site.

    Class attributes:
        name: the site's name in sites.yaml, in ``scrapy crawl`` and in routes.
        warmup: the request that brings a session the tokens it lacks, None for a site without tokens.
        extract_tokens: reads tokens out of a page (pure), None for a site without tokens.
        scripts: how the site's script files tell ids of stored queries, None where no such ids are.
        gate: the request by which a page's script would pass the site's gate (pure), None for a site without gates.
        callbacks: the names of methods that requests in the shared queue may call.
        verb: the method of its routes in the HTTP service.
        compute_tokens: makes tokens out of an identity's name and the POSIX time, anew for each request (pure).
    """

    verb: ClassVar[Literal["GET", "POST"]] = "GET"
    warmup: ClassVar[Fetch | None] = None
    extract_tokens: ClassVar[staticmethod[[Page], dict[str, str]] | None] = None
    scripts: ClassVar[Scripts | None] = None
    gate: ClassVar[staticmethod[[Page], Fetch | None] | None] = None
    compute_tokens: ClassVar[staticmethod[[str, int], dict[str, str]] | None] = None
    operations: ClassVar[Mapping[str, Operation]] = {}
    callbacks: ClassVar[Mapping[str, frozenset[str]]] = CALLBACKS

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.operations = collect(cls)

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.arguments = arguments
        self.resolver = self.make_resolver()
        self.started: Started | None = self.resolver.arguments(arguments) if arguments else None
        self.runtime: Runtime | None = None
        self._duplicates = Duplicates()

    @classmethod
    def make_resolver(cls) -> Resolver:
        """What turns arguments and seeds into this spider's calls."""
        return Resolver(cls.name, cls.operations)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and settle what depends on its arguments: private namespace or shared queue."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.runtime = Runtime.open(crawler, site=cls.name, private=spider.started is not None)
        if spider.started is not None:
            cls.check_call(spider.started.call, spider.runtime.config)
        return spider

    @classmethod
    def check_call(cls, call: Call[Any], config: SiteConfig) -> None:
        """Raise ArgumentError for a call that this configuration rules out; a site that has some overrides this."""

    @classmethod
    def visits(cls, url: str) -> Sequence[Fetch]:  # noqa: ARG003  # sites of several hosts look at it
        """What a session visits, in this order, before requests to ``url`` that need its warm-up."""
        return (cls.warmup,) if cls.warmup is not None else ()

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> AsyncIterator[Any]:
        """The call that the arguments name; seeds of the shared queue come by the scheduler."""
        if self.started is not None:
            yield self.request(self.started)

    def seed_request(self, raw: bytes) -> Request:
        """The request for a seed of the shared queue.

        Raises:
            ArgumentError: the seed names no call, or one that there is no way to do.
        """
        assert self.runtime
        started = self.resolver.seed(raw)
        self.check_call(started.call, self.runtime.config)
        return self.request(started)

    def ways(self, call: Call[Any]) -> list[Fetch]:
        """The strategies for a call.

        Raises:
            ArgumentError: there is none.
        """
        fetches = self.operations[call.operation].fetches(self, call)
        if not fetches:
            told = f"{self.name} has no way to do {call.operation} from these arguments"
            raise ArgumentError(told, fields=sorted(call.params.model_fields_set))
        return fetches

    def request(self, started: Started) -> Request:
        """The first request of a call."""
        operation = self.operations[started.call.operation]
        identity = identity_of(operation, started, self.name, self.identities)
        return self._request(started.call, 0, identity, priority=started.priority)

    @property
    def identities(self) -> Identities:
        """What the names of sessions depend on."""
        assert self.runtime
        return self.runtime.identities

    def _request(self, call: Call[Any], strategy: int, identity: Mapping[str, Any], *, priority: int = 0) -> Request:
        fetches = self.ways(call)
        fetch = fetches[strategy]
        meta: dict[str, Any] = {
            "fw_call": dump_call(call),
            "fw_strategy": [strategy, len(fetches), fetch.strategy],
            "fw_request_id": request_id(self.name, call),
            **fetch_meta(fetch),
            **identity,
        }
        if call.page > 1 and self.operations[call.operation].session_scope == "chain":
            meta[LEG] = True
        return build_request(fetch, meta, callback=self.parse_call, errback=self.fail_call, priority=priority)

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def parse_call(self, response: Response) -> AsyncIterator[Any]:
        """Items of a page, then the request for the next one; or the next strategy when the page keeps no promise."""
        assert self.runtime
        meta = response.meta
        call = self.load_call(meta["fw_call"])
        page = page_of(response)
        try:
            parsed = await self._parsed(self.operations[call.operation].read, page, call)
        except Exception as exc:  # noqa: BLE001  # a parser's bug must not cost the call its other ways
            async for another in self._unparsed(response, call, page, exc):
                yield another
            return
        self.in_browser(response, page, None)
        self.runtime.count(f"parsed/{self.name}/{call.operation}")
        if is_shell(parsed.items) and self._other_way(meta):
            yield self._again(response.request, call, meta["fw_strategy"][0] + 1, shell=dump_items(parsed.items))
            return
        further = self._following(call, parsed, 0) if parsed.held else None
        if further is not None:
            yield self._again(response.request, further, 0, shell=dump_items(parsed.items))
            return
        items, counted = self._limited(call, parsed)
        stamp = self._stamp(call, response.url)
        for place, item in items:
            stamp(item, place)
            self.complete(item, response)
            yield item
        further = self._following(call, parsed, counted)
        if further is None:
            await self._end(call, meta)
            return
        try:
            yield self._again(response.request, further, 0)
        except ArgumentError as exc:
            async for another in self._after_failure(response.request, exc, None):
                yield another

    async def _unparsed(self, response: Response, call: Call[Any], page: Page, error: Exception) -> AsyncIterator[Any]:
        """What follows a page that keeps no promise: the same in a browser, the next way, or a failure."""
        if self.in_browser(response, page, error):
            rendered = self._again(response.request, call, response.meta["fw_strategy"][0])
            rendered.meta.update(ONE_STEP)
            yield rendered
            return
        if not isinstance(error, OutcomeError):  # that is no surprise to the parser
            await self._drifted(response.request, call, page, error)
        async for another in self._after_failure(response.request, error, page):
            yield another

    def _again(
        self, request: Request | None, call: Call[Any], strategy: int, *, shell: list[dict[str, Any]] | None = None
    ) -> Request:
        """A further request of the same chain: next page or next strategy, same session."""
        assert request is not None
        identity, first = kept_identity(request.meta)
        again = self._request(call, strategy, identity, priority=request.priority + first)
        kept = shell or (request.meta.get("fw_shell") if strategy else None)
        if kept:
            again.meta["fw_shell"] = kept
        return again

    @staticmethod
    def _other_way(meta: Mapping[str, Any]) -> bool:
        strategy, count, _ = meta["fw_strategy"]
        return bool(strategy + 1 < count)

    async def _end(self, call: Call[Any], meta: dict[str, Any]) -> None:
        """The call is over: a session made for it alone is of no more use."""
        self._duplicates.forget(self._chain(call))
        assert self.runtime
        if meta.get("fw_scope"):
            await self.runtime.end_scope(meta)
        elif meta.get("fw_session_ends"):
            await self.runtime.drop_session(meta["fw_session"])

    def complete(self, item: Item, response: Response) -> None:
        """Add to an item what only the transfer knows; a site that has something to add overrides this."""

    async def _parsed(self, parse: Callable[[Page, Call[Any]], Parsed], page: Page, call: Call[Any]) -> Parsed:
        if len(page.body) > _THREAD_ABOVE:
            return await asyncio.to_thread(parse, page, call)
        return parse(page, call)

    def _limited(self, call: Call[Any], parsed: Parsed) -> tuple[list[tuple[int, Item]], int]:
        """The items to yield with their places on the page, and how many of them the limit counts."""
        kind, limit = self.operations[call.operation].counts, getattr(call.params, "limit", None)
        room = None if kind is None or limit is None else max(0, limit - call.seen)
        repeated = self._duplicates.among(self._chain(call), parsed.items)
        if repeated:
            assert self.runtime
            self.runtime.count(f"duplicates/{self.name}/{call.operation}", len(repeated))
        kept: list[tuple[int, Item]] = []
        counted = 0
        for place, item in enumerate(parsed.items):
            if place in repeated:
                continue
            if item.kind == kind:
                if room is not None and counted >= room:
                    continue
                counted += 1
            kept.append((place, item))
        return kept, counted

    def _chain(self, call: Call[Any]) -> str:
        """A name for a call that its pages share."""
        return request_id(self.name, call if call.page == 1 else replace(call, cursor=None, page=1))

    def _following(self, call: Call[Any], parsed: Parsed, counted: int) -> Call[Any] | None:
        if self.operations[call.operation].counts is None:
            return None
        further, ended = following(call, parsed, counted)
        if ended:
            assert self.runtime
            self.runtime.count(f"ended/{self.name}/{call.operation}/{ended}")
        if ended == REPEATS:
            self.logger.warning("%s %s: the pages repeat (cursor %s), stopped", self.name, call.operation, call.cursor)
        return further

    def _stamp(self, call: Call[Any], url: str) -> Callable[[Item, int], None]:
        return stamper(self.name, call.operation, request_id(self.name, call), url)

    # ── failures ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def fail_call(self, failure: Failure) -> AsyncIterator[Any]:
        """The next strategy after an error, or a failure line when there is none."""
        request: Request = failure.request  # type: ignore[attr-defined]  # set by Scrapy
        async for another in self._after_failure(request, failure.value or FetchworkerError("no reason given"), None):
            yield another

    async def _after_failure(
        self, request: Request | None, error: BaseException, page: Page | None
    ) -> AsyncIterator[Any]:
        assert request is not None
        assert self.runtime
        strategy, _, name = request.meta["fw_strategy"]
        if isinstance(error, BrokenChainError):
            yield self._begin_again(request)
            return
        if isinstance(error, asyncio.CancelledError):
            error = UnfinishedError("the crawl was ended while it waited for the answer")
        final = isinstance(error, OutcomeError) and error.outcome in _FINAL_OUTCOMES
        call = self.load_call(request.meta["fw_call"])
        if not final and self._other_way(request.meta) and not isinstance(error, _NO_OTHER_WAY):
            if not self.runtime.ending():  # else the queue keeps the next way, and nobody tries it here
                told = (self.name, call.operation, name, error)
                self.logger.info("%s %s: strategy %s failed (%s), trying the next", *told)
                self.runtime.count(f"strategy_failed/{self.name}/{call.operation}/{name}")
            yield self._again(request, call, strategy + 1)
            return
        shell = [] if isinstance(error, UnfinishedError) else load_items(request.meta.get("fw_shell", ()))
        stamp = self._stamp(call, request.url)
        for place, item in enumerate(shell):  # less than the site has, and marked so: better than nothing
            stamp(item, place)
            yield item
        if not shell:
            self.runtime.record_failure(request, error, page)
        await self._end(call, request.meta)

    def _begin_again(self, request: Request) -> Request:
        """The first request of a chain once more; what it gave already is known and not given again."""
        assert self.runtime
        call = self.load_call(request.meta["fw_call"])
        self.runtime.count(f"chain_begun_again/{self.name}/{call.operation}")
        first = replace(call, cursor=getattr(call.params, "cursor", None), page=1, state={})
        again = self._again(request, first, 0)
        again.meta[BEGUN] = request.meta.get(BEGUN, 0) + 1
        return again

    async def _drifted(self, request: Request | None, call: Call[Any], page: Page, error: Exception) -> None:
        """Count a page that lacks what it should have, and keep it."""
        assert self.runtime
        assert request is not None
        if not isinstance(error, ContractError):
            told = (self.name, call.operation, page.url)
            self.logger.error("%s %s: the parser broke on %s", *told, exc_info=error)
        lacks = error.context["path"] if isinstance(error, ContractError) else f"({type(error).__name__})"
        self.runtime.count(f"drift/{self.name}/{call.operation}/{lacks}")
        wire: Wire | None = request.meta.get(WIRE)
        keep = partial(self.runtime.records.drift.keep, page, site=self.name, operation=call.operation, lacks=lacks)
        try:
            kept = await asyncio.to_thread(keep, secrets=wire.session.secrets() if wire else ())
        except OSError as exc:
            self.logger.warning("the page %s is not kept: %s", page.url, exc)
            return
        if kept:
            request.meta["fw_evidence"] = kept

    # ── calls in requests ────────────────────────────────────────────────────────────────────────────────────────

    def check_queued(self, request: Request) -> None:
        """Raise for a request out of the shared queue that this spider would not make, naming what is wrong."""
        check_fields(request, self.callbacks)
        call, count = self.load_call(request.meta["fw_call"]), request.meta["fw_strategy"][1]
        if count > len(self.operations[call.operation].fetches(self, call)):
            raise ArgumentError(f"{self.name} {call.operation} has fewer than {count} strategies for these arguments")
        load_items(request.meta.get("fw_shell", ()))

    def load_call(self, dumped: Mapping[str, Any]) -> Call[Any]:
        """The call that a request belongs to."""
        return load_call(self.name, self.operations, dumped)
