"""Pages that a browser loads without being asked to by ``meta["playwright"]``: ``fw_render`` (docs/browser.md).

``always``: each page. ``on_evidence``: one browser step for a request that met a challenge, or whose page has its data
by scripts alone; the browser goes as the same session, its cookies come back to it, and what follows goes over HTTP.

Stats: ``fetchworker/render/<site>/<reason>`` counts what the browser has loaded, ``…/render_ok/<site>``,
``…/render_failed/<site>`` and ``…/render_seconds/<site>`` what came of it, ``…/render_paused/<site>`` how often the
site had too many failures in a row.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.exceptions import DownloadFailedError, IgnoreRequest
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.download.charging import MINT
from fetchworker.download.rendering import Rendering
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import FetchworkerError, PageFailedError, ProxyAuthError, ProxyFailedError
from fetchworker.frontier.codec import CARRIED
from fetchworker.media import MEDIA
from fetchworker.middlewares.redirect import another_try
from fetchworker.middlewares.renderguard import Guard, Standing
from fetchworker.outcomes import Outcome, Verdict, classify
from fetchworker.outcomes.appshell import is_app_shell, is_html
from fetchworker.outcomes.taxonomy import REFUSALS
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.contracts import Page, Render

logger = logging.getLogger(__name__)

#: meta keys: what is wished for; why the next try goes by the browser; identities that had their step for this request
RENDER, STEP, STEPS = "fw_render", "fw_render_step", "fw_render_steps"
#: before an identity in ``fw_render_steps``: it had no step for this request, which went on after another's
_JOINED = "joined:"
#: the reasons of steps
_ON_EVIDENCE = frozenset({"challenge", "shell", "contract"})
#: seconds that a page is waited for at most, and the part of the try's timeout that this may be
_PATIENCE, _PART = 20.0, 0.6
#: errors that are an exit's fault
OF_EXITS = (ProxyAuthError, ProxyFailedError)
#: errors of a visit beside a request, which the request itself gets over
_FAILURES = (FetchworkerError, DownloadFailedError, IgnoreRequest)

_steps: WeakKeyDictionary[Crawler, Steps] = WeakKeyDictionary()


class RenderMiddleware:
    """Says of each try whether a browser makes it; sits where the try has its identity."""

    def __init__(self, crawler: Crawler) -> None:
        self._steps = Steps.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware.

        Raises:
            ConfigError: the site's pages are to be rendered, and there is no browser that could.
        """
        made = cls(crawler)
        made._steps.check()
        return made

    async def process_request(self, request: Request) -> None:
        """Have a page loaded by the browser."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is None or request.meta.get("playwright"):
            return
        reason = MINT if request.meta.get("fw_warmup") == MINT else request.meta.get(STEP)
        if reason is None and self._steps.policy(request) == "always" and is_load(request):
            reason = "always"
        if reason is not None:
            wire.rendering = self._steps.rendering(request, reason)

    async def process_response(self, request: Request, response: Response) -> Response:
        """The step was for one try."""
        self._steps.counted(request)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """So was one that failed."""
        if self._steps.counted(request):
            self._steps.failed(request, exception)


class Steps:
    """The browser steps of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler, self._runtime = crawler, Runtime.of(crawler)
        self._guard = Guard(self._runtime)
        self._standing = Standing(self._runtime.waits)

    @classmethod
    def of(cls, crawler: Crawler) -> Steps:
        """The same object for all parts of a crawl."""
        found = _steps.get(crawler)
        if found is None:
            found = _steps[crawler] = cls(crawler)
        return found

    def check(self) -> None:
        """Raise ConfigError where pages are to be rendered and none can be."""
        pool = self._runtime.config.pool
        if self._runtime.render == "always" or (pool is not None and pool.via == "browser"):
            self._guard.check(self._crawler.settings)

    def policy(self, request: Request) -> Render:
        """What holds for a request."""
        wished: Render | None = request.meta.get(RENDER)
        return wished or self._runtime.render

    def rendering(self, request: Request, reason: str) -> Rendering:
        """What the browser waits for in a request's page."""
        seconds = float(request.meta.get("download_timeout") or self._crawler.settings.getfloat("DOWNLOAD_TIMEOUT"))
        complete, most = partial(self._is_complete, request, reason), self._runtime.environment.browser_navigations
        return Rendering(reason, complete, min(_PATIENCE, seconds * _PART), most)

    async def _is_complete(self, request: Request, reason: str, page: Page) -> bool:
        if classify(page, site=self._runtime.site, request_url=request.url).outcome is Outcome.CHALLENGE:
            return False
        if reason == MINT or request.meta.get("fw_warmup"):
            return True
        if reason == "challenge":  # behind it may stand a page that its scripts fill in
            return not is_app_shell(page)
        gives = getattr(self._crawler.spider, "gives_data", None)
        return not is_app_shell(page) and (gives is None or await gives(request, page))

    # ── after a try ──────────────────────────────────────────────────────────────────────────────────────────────

    def counted(self, request: Request) -> bool:
        """Take note that a try was made, if it was the browser's, and that its step is over."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is None or wire.rendering is None:
            return False
        request.meta.pop(STEP, None)
        site = self._runtime.site
        self._runtime.count(f"render/{site}/{wire.rendering.reason}")
        self._runtime.count(f"render_seconds/{site}", round(wire.elapsed, 3))
        return True

    def ended(self, request: Request, *, good: bool) -> None:
        """Say what a browser's try was worth."""
        wire: Wire = request.meta[WIRE]
        assert wire.rendering is not None
        self._runtime.count(f"render_{'ok' if good else 'failed'}/{self._runtime.site}")
        if wire.rendering.reason == "challenge":
            self._standing.landed(wire.session.identity, good=good)
        if wire.rendering.reason in _ON_EVIDENCE and not (wire.rendering.reason == "contract" and good):
            self._guard.told(good=good)

    def failed(self, request: Request, exception: Exception) -> None:
        """A browser's try has failed; what is its exit's fault says nothing of the site and spends no step."""
        if not isinstance(exception, OF_EXITS):
            self.ended(request, good=False)
            return
        wire: Wire = request.meta[WIRE]
        identity, made = wire.session.identity, request.meta.get(STEPS, ())
        request.meta[STEPS] = [one for one in made if one != identity]
        self._runtime.count(f"render_failed/{self._runtime.site}")
        self._standing.landed(identity, good=False)

    def parsed(self, response: Response, *, good: bool) -> None:
        """Say whether the parser found in a page what it had missed without a browser."""
        wire: Wire | None = response.meta.get(WIRE)
        if wire is not None and wire.rendering is not None and wire.rendering.reason == "contract":
            self._guard.told(good=good)

    def helps(self, request: Request, page: Page) -> bool:
        """Whether a page that lacks its data may have it in a browser."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is None or wire.rendering is not None or request.meta.get("playwright") or not is_html(page):
            return False
        allowed = self.policy(request) != "never" and self._guard.allows(wire.session.identity, ())
        return allowed and is_load(request) and self._guard.can(wire, self._crawler.settings)

    @staticmethod
    def made(wire: Wire | None, exception: Exception) -> bool:
        """Whether a try that failed was a step, which counts for none; one that its exit has ended is none."""
        if wire is None or wire.rendering is None or isinstance(exception, OF_EXITS):
            return False
        return wire.rendering.reason in _ON_EVIDENCE

    async def through(self, request: Request, page: Page, verdict: Verdict, wire: Wire | None) -> Request | None:
        """The request once more, by the browser or after it; None where the answer is to be taken as it is.

        Raises:
            PageFailedError: the page is filled in by scripts, and the browser has failed to load it.
        """
        if wire is None or request.meta.get("playwright"):
            return None
        if wire.rendering is not None:
            self.ended(request, good=verdict.outcome not in REFUSALS)
            return None
        if verdict.outcome is Outcome.CHALLENGE:
            return await self.step(request, wire, "challenge")
        rendered = verdict.outcome is Outcome.OK and self.policy(request) != "never" and is_load(request)
        return await self._filled_in(request, wire) if rendered and is_app_shell(page) else None

    async def _filled_in(self, request: Request, wire: Wire) -> Request | None:
        """A page without its data by the browser; where that has failed it is no answer as it is."""
        again = await self.step(request, wire, "shell")
        if again is None and self._guard.can(wire, self._crawler.settings) and not request.meta.get("fw_warmup"):
            why = "the site's browser steps are paused" if self._guard.paused else "its browser steps have failed"
            raise PageFailedError("navigation", f"the page is filled in by scripts, and {why}", reason="shell")
        return again

    async def step(self, request: Request, wire: Wire, reason: str) -> Request | None:
        """One browser step for a request, where there may be one."""
        identity, before = wire.session.identity, request.meta.get(STEPS, ())
        made = [one for one in before if not one.startswith(_JOINED)]
        whose = identity if reason == "challenge" else None  # what scripts fill in is no matter of the identity
        if self.policy(request) == "never" or not self._guard.allows(whose, made) or _is_for_no_browser(request):
            return None
        if not self._guard.can(wire, self._crawler.settings):
            return None
        again = another_try(request, same_identity=True)
        again.meta[STEPS] = [*before, identity]
        # a browser would follow the redirect that is asked for, and that may stand behind a challenge
        loads = is_load(request) and not (reason == "challenge" and request.meta.get("dont_redirect"))
        if not wire.session.stored:
            again.meta[CARRIED] = wire.session
        if reason == "challenge" and await self._joins(request, wire):
            if loads:  # a visit for a script's request would bring no more than the other has
                again.meta[STEPS] = [*before, _JOINED + identity]
            return again
        if loads:
            again.meta[STEP] = reason
            if reason == "challenge":
                self._standing.begins(identity)
            return again
        return again if await self._visit(request, wire, reason) else None

    async def _joins(self, request: Request, wire: Wire) -> bool:
        """Whether another request of the same session has passed the challenge for this one, which is so once."""
        identity = wire.session.identity
        if _JOINED + identity in request.meta.get(STEPS, ()):
            return False
        return await self._standing.solved(identity, since=time.monotonic() - wire.elapsed)

    async def _visit(self, request: Request, wire: Wire, reason: str) -> bool:
        """Go with the browser where the request comes from; whether that went well."""
        self._standing.begins(wire.session.identity)
        assert self._crawler.engine is not None
        try:
            response = await self._crawler.engine.download_async(self._beside(request, wire, reason))
        except _FAILURES as exc:
            logger.info("%s: the browser's visit failed (%s)", request.url, exc)
            self._standing.landed(wire.session.identity, good=False)
            return False
        if not wire.session.stored and response.request is not None and WIRE in response.request.meta:
            return bool(response.request.meta[WIRE].session.identity == wire.session.identity)
        return True

    def _beside(self, request: Request, wire: Wire, reason: str) -> Request:
        meta: dict[str, Any] = {"fw_warmup": True, "fw_harvest": True, "fw_destination": "navigate", "fw_retries": 0}
        meta |= {STEP: reason, STEPS: [wire.session.identity], "fw_request_id": request.meta.get("fw_request_id")}
        if wire.session.stored:
            meta["fw_session"] = request.meta["fw_session"]
        else:
            meta[CARRIED] = wire.session
        return Request(self._origin(request), meta=meta, priority=request.priority)

    def _origin(self, request: Request) -> str:
        """The page that a script would have sent the request from: of the same host, or the site's entry page."""
        referer, host = request.meta.get("fw_referer"), urlparse_cached(request).hostname
        if referer and urlparse_cached(Request(referer)).hostname == host:
            return str(referer)
        visits = getattr(self._crawler.spidercls, "visits", None)
        entry = next(iter(visits(request.url)), None) if visits is not None else None
        address = urlparse_cached(request)
        return entry.url if entry is not None else f"{address.scheme}://{address.netloc}/"


def is_load(request: Request) -> bool:
    """Whether a request is the load of a page, which a browser could make as well."""
    meta = request.meta
    return (
        request.method == "GET"
        and meta.get("fw_destination", "navigate") == "navigate"
        and not (meta.get(MEDIA) or request.callback is NO_CALLBACK or meta.get("fw_secret_headers") or request.body)
    )


def _is_for_no_browser(request: Request) -> bool:
    return bool(request.meta.get(MEDIA)) or request.callback is NO_CALLBACK
