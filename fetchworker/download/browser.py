"""The download handler for pages that need a browser: requests with ``meta["playwright"]``; all others go to curl.

It takes scrapy-playwright's meta keys, settings and page methods, and keeps what that package does not: the session's
proxy, cookies and profile, the egress policy, DOWNLOAD_TIMEOUT, DOWNLOAD_MAXSIZE and the count of bytes.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.utils.misc import load_object

from fetchworker.browser.cookies import changes
from fetchworker.download.browserheld import HeldPages, Hold
from fetchworker.download.browserplan import DEFAULT, Limits, Plan, plan_visit, proxy_of_arguments
from fetchworker.download.browsersettings import context_arguments, engine_options
from fetchworker.download.browservisit import Visit
from fetchworker.download.charging import end_of
from fetchworker.download.curl import CurlDownloadHandler
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import ArgumentError, BrowserError, ConfigError
from fetchworker.usage import UNJUDGED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.browser import BrowserContext, BrowserEngine
    from fetchworker.browser.options import ContextSpec
    from fetchworker.proxies import Proxy
    from fetchworker.usage import Charge

#: the meta key that asks for a browser, and the one that asks for its page
WANTED, PAGE, INCLUDE = "playwright", "playwright_page", "playwright_include_page"


@dataclass(slots=True)
class _Job:
    """One request on its way."""

    request: Request
    wire: Wire | None
    plan: Plan
    charge: Charge


_parts: WeakKeyDictionary[Crawler, BrowserParts] = WeakKeyDictionary()


class BrowserDownloadHandler(CurlDownloadHandler):
    """Downloads ``http`` and ``https``; all crawlers of a process share one browser."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        seconds = crawler.settings.get("PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT")
        self._navigation_timeout = float(seconds) if seconds is not None else None
        self._verify = crawler.settings.getbool("DOWNLOAD_VERIFY_CERTIFICATES")

    async def download_request(self, request: Request) -> Response:
        """Download one request, in the browser if it asks for one.

        Raises:
            BrowserError: by its layer; the classes are members of Scrapy's families of errors.
            ContradictionError: the request wants another browser than its session is.
            Exception: as :meth:`CurlDownloadHandler.download_request` says, for refusals, proxies and budgets.
        """
        wire: Wire | None = request.meta.get(WIRE)
        if not request.meta.get(WANTED) and (wire is None or wire.rendering is None):
            return await super().download_request(request)
        if wire is not None and wire.secrets:
            raise ConfigError("a credential of the operator (fw_secret_headers) is not given to a browser")
        arguments = self._arguments(request)
        proxy = self._proxy(request, wire) or proxy_of_arguments(arguments)
        self._route(request, proxy, configured=wire is not None and proxy is wire.proxy)
        if self._budget is not None:
            self._budget.check_exit(request.url, proxy)
        plan = self._plan(request, wire, proxy, arguments)
        charge = self._charge(request, wire, proxy)
        return await self._charged(_Job(request, wire, plan, charge))

    async def _charged(self, job: _Job) -> Response:
        started, charge, wire = time.monotonic(), job.charge, job.wire
        try:
            response = await self._browse(job)
        except BaseException as exc:
            charge.end(end_of(exc))
            if isinstance(exc, BrowserError):
                self._runtime.count(f"browser/failed/{exc.layer}")
            raise
        finally:
            elapsed = job.request.meta["download_latency"] = time.monotonic() - started
            self._runtime.usage.account.browse(charge.key, elapsed)
            if wire is not None:
                wire.elapsed = elapsed
        charge.end(UNJUDGED)
        self._runtime.count("browser/pages")
        return response

    def _arguments(self, request: Request) -> dict[str, Any]:
        name = request.meta.get("playwright_context") or DEFAULT
        return context_arguments(self.crawler.settings, name, request.meta.get("playwright_context_kwargs"))

    def _plan(self, request: Request, wire: Wire | None, proxy: Proxy | None, arguments: dict[str, Any]) -> Plan:
        meta = request.meta
        maxsize = meta.get("download_maxsize", self._maxsize)
        seconds = float(meta.get("download_timeout") or self._timeout)
        return plan_visit(
            request,
            wire,
            proxy,
            site=self._runtime.site,
            arguments=arguments,
            limits=Limits(seconds, maxsize or None, self._verify),
            language=self._runtime.config.accept_language,
            policy=self._egress,
            now=time.time(),
        )

    # ── the visit ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _browse(self, job: _Job) -> Response:
        meta, spec = job.request.meta, job.plan.spec
        held = self._shared.held.context_of(meta.get(PAGE))
        if held is not None:
            return await self._visit(job, held, meta[PAGE])
        engine = await self._shared.engine()

        async def once(spec: ContextSpec) -> Response:
            async with AsyncExitStack() as stack:
                context = await stack.enter_async_context(engine.context(spec))
                page = await context.guard(stack.enter_async_context(context.page()))
                response = await self._visit(job, context, page)
                if meta.get(INCLUDE):
                    meta[PAGE] = page
                    hold = Hold(context, stack.pop_all(), job.request.url, spec.deadline, job.charge)
                    self._shared.held.keep(page, hold)
                return response

        if not job.plan.repeatable:
            return await once(spec)
        return await engine.repeating(spec, once, ending=self._runtime.ending)

    async def _visit(self, job: _Job, context: BrowserContext, page: Any) -> Response:
        request, wire = job.request, job.wire
        if wire is not None and wire.client is None:
            wire.proxy = context.upstream  # a context that was named before has its own
        visit = Visit(
            request,
            job.plan,
            self.crawler.spider,
            maxsize=request.meta.get("download_maxsize", self._maxsize),
            abort=self._abort,
            navigation_timeout=self._navigation_timeout,
            rendering=wire.rendering if wire is not None else None,
        )
        try:
            response = await context.guard(visit.load(page, context))
            if wire is not None and job.plan.told is not None:
                await context.guard(self._keep_cookies(wire, job.plan, context))
        finally:
            up, down = context.take_bytes()
            job.charge.add(up, down)
            if wire is not None:
                wire.bytes_up, wire.bytes_down = wire.bytes_up + up, wire.bytes_down + down
        return response

    async def _keep_cookies(self, wire: Wire, plan: Plan, context: BrowserContext) -> None:
        """Put what the browser has made of the session's cookies into its jar."""
        assert plan.told is not None
        written, gone = changes(plan.told, await context.cookies())
        jar, now = wire.session.jar, time.time()
        ended: Iterable[tuple[Any, float | None]] = [(cookie, now - 1) for cookie in gone]
        for cookie, expires in [*((cookie, cookie.expires) for cookie in written), *ended]:
            with suppress(ArgumentError):  # a browser holds some that no jar of ours would
                jar.add(
                    cookie.name,
                    cookie.value.encode("latin-1"),
                    domain=cookie.domain,
                    now=now,
                    path=cookie.path,
                    host_only=not cookie.domain.startswith("."),
                    secure=cookie.secure,
                    http_only=cookie.http_only,
                    same_site=cookie.same_site,
                    expires=expires,
                )
        wire.cookies_kept = True

    @cached_property
    def _abort(self) -> Any:
        """The function of PLAYWRIGHT_ABORT_REQUEST, None where there is none."""
        named = self.crawler.settings.get("PLAYWRIGHT_ABORT_REQUEST")
        return load_object(named) if named else None

    @cached_property
    def _shared(self) -> BrowserParts:
        parts = _parts.get(self.crawler)
        if parts is None:
            parts = _parts[self.crawler] = BrowserParts(self.crawler, self._runtime)
            self._runtime.usage.before_close(parts.close)
        return parts

    async def close(self) -> None:
        """Close the crawl's pages and give the browser back."""
        parts = _parts.pop(self.crawler, None)
        if parts is not None:
            await parts.close()
        await super().close()


class BrowserParts:
    """What the handlers of a crawl have in common: their hold on the engine, and the pages that spiders have."""

    def __init__(self, crawler: Crawler, runtime: Any) -> None:
        self._crawler, self._runtime = crawler, runtime
        self._engine: BrowserEngine | None = None
        self._opening = asyncio.Lock()
        self.held = HeldPages(runtime.count)

    async def engine(self) -> BrowserEngine:
        """The engine; with the first call it is this crawl's too."""
        from fetchworker.browser import BrowserEngine  # noqa: PLC0415  # only who asks for a page has what it needs

        async with self._opening:
            if self._engine is None:
                self._engine = await BrowserEngine.of(engine_options(self._crawler.settings, self._runtime.environment))
            return self._engine

    async def close(self) -> None:
        """Close the pages that are left, and give the engine back."""
        await self.held.close()
        engine, self._engine = self._engine, None
        if engine is not None:
            for name, number in engine.counts.items():
                self._runtime.count(f"browser/{name}", number)
            await engine.release()
