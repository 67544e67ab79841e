"""Tells blocks from data: only ``ok`` goes on, everything else is retried, rested or reported.

Stats: ``fetchworker/outcome/<site>/<outcome>`` counts every answer, ``fetchworker/retry/<site>/<why>`` every retry.
"""

from __future__ import annotations

import logging
import random
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.download.browserfaults import GOES_ON
from fetchworker.download.charging import ROBOTS, operation_of
from fetchworker.download.wire import LAST, WIRE, Wire, page_of
from fetchworker.errors import (
    BrowserError,
    FetchworkerError,
    PageFailedError,
    ProxyAuthError,
    ProxyExhaustedError,
    ProxyFailedError,
    TierSpentError,
)
from fetchworker.media import MEDIA
from fetchworker.middlewares.gate import Gate
from fetchworker.middlewares.policy import FAIL, Plan, pause_of, plan_error, plan_media, plan_verdict, wait
from fetchworker.middlewares.pooled import COUNTRY, KEEPS, LEASED, PooledSessions
from fetchworker.middlewares.recording import Recorder
from fetchworker.middlewares.redirect import another_try
from fetchworker.middlewares.refusals import RESULTS, Refusals
from fetchworker.middlewares.render import Steps
from fetchworker.middlewares.telling import failure_of, known, told, tries_of
from fetchworker.middlewares.warmup import FAILED, uses_tokens
from fetchworker.outcomes import Outcome, Verdict, classify
from fetchworker.outcomes.taxonomy import REFUSALS
from fetchworker.proxies import ProxyResult
from fetchworker.runtime import Runtime
from fetchworker.telemetry.attribution import bound, from_meta

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.contracts import Page

logger = logging.getLogger(__name__)

#: transport errors that another try may cure
RETRIED = (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
#: the meta key that counts tries which were not counted
FREE = "fw_free_tries"
#: so many tries may go uncounted while there are exits (an address that every proxy refuses must come to an end), and
#: while there are none
FEW_FREE, MANY_FREE = 5, 1000
#: meta keys of one call's own wishes: how many tries follow the first, and statuses that are as good as 200
RETRIES, ACCEPT = "fw_retries", "fw_accept"
_BAD = 400  # the first status that says so
_ABSENT = frozenset({Outcome.NOT_FOUND, Outcome.GONE})


class OutcomeMiddleware:
    """Classifies each answer once and acts on the verdict."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = Runtime.of(crawler)
        self._refusals = Refusals(self._runtime)
        self._pooled = PooledSessions(self._runtime)
        self._gate, self._steps = Gate(crawler), Steps.of(crawler)
        self._recorder = Recorder(self._runtime)
        self._extract = getattr(crawler.spidercls, "extract_tokens", None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response | Request:
        """Let ``ok`` pass.

        Raises:
            OutcomeError: the last try ended otherwise.
            BrokenChainError: the spider has to begin again.
        """
        result: Response | Request | None = None
        try:
            result = await self._judged(request, response)
        finally:
            await self._pooled.ended(request, result)
        return result

    async def _judged(self, request: Request, response: Response) -> Response | Request:
        runtime, wire = self._runtime, request.meta.get(WIRE)
        if request.meta.get(MEDIA):
            return await self._media(request, response, wire)
        page = page_of(response, request)
        verdict = classify(page, site=runtime.site, request_url=request.url)
        if wire is not None:
            wire.judge(verdict.outcome.value)
        _note(request, **({} if verdict.outcome is Outcome.OK else known(response, verdict)))
        if request.callback is not NO_CALLBACK:  # robots.txt is no answer that anybody asked for
            runtime.count(f"outcome/{runtime.site}/{verdict.outcome}")
        if verdict.outcome in REFUSALS and operation_of(request) == ROBOTS:  # who refuses it may well give the page
            self._pause(request, verdict, wire)
            raise failure_of(request, response, verdict, "", wire)
        try:
            through = await self._through(request, page, verdict, wire)
        except PageFailedError as exc:
            raise await self._recorder.failure(request, exc, response, verdict) from exc.__cause__
        if through is not None:
            return through
        blamed = self._refusals.learn(wire, page, verdict)
        self._pooled.learn(request, good=verdict.outcome is Outcome.OK or verdict.outcome in _ABSENT or not blamed)
        if verdict.outcome is Outcome.OK:
            await self._harvest(request, page, wire)
            return response
        if _answers(request, response, verdict):
            return response
        plan = self._plan(request, verdict, wire, blamed=blamed)
        plan = self._escalate(request, verdict, wire if blamed else None, plan)
        self._pause(request, verdict, wire)
        if plan.step == "retry":
            return await self._retry(request, plan, told(verdict), wire, verdict.evidence)
        error = failure_of(request, response, verdict, self._refusals.evidence(wire, page, verdict, request.url), wire)
        raise await self._recorder.failure(request, error, response, verdict)

    async def _through(self, request: Request, page: Page, verdict: Verdict, wire: Wire | None) -> Request | None:
        """The request once more, where the site's gate or a browser has opened the way."""
        through = await self._gate.passed(request, page, wire) if verdict.outcome is Outcome.CHALLENGE else None
        return through or await self._steps.through(request, page, verdict, wire)

    async def _harvest(self, request: Request, page: Page, wire: Wire | None) -> None:
        if self._extract is not None and wire is not None and request.meta.get("fw_harvest"):
            wire.session.tokens.update(self._extract(page))
            await self._runtime.keep(request.meta.get("fw_session"), wire.session)

    def _escalate(self, request: Request, verdict: Verdict, wire: Wire | None, plan: Plan) -> Plan:
        """After a block try again by a better tier, at once, where the budget has one and the identity may change."""
        exits = self._runtime.exits
        if wire is None or wire.proxy is None or RESULTS.get(verdict.outcome) is not ProxyResult.BLOCKED:
            return plan
        tier = exits.blocked(wire.proxy, verdict.evidence)
        country = request.meta.get(COUNTRY)
        if tier is not None and country is not None and not exits.serves(country, tier):
            return plan
        if tier is None or plan.step != "retry" or not (plan.rotate or not request.meta.get("fw_session")):
            return plan
        exits.escalated(tier)
        request.meta["fw_tier"] = tier
        return replace(plan, delay=0.0)

    async def _media(self, request: Request, response: Response, wire: Wire | None) -> Response | Request:
        """Media are no pages: nothing is learnt from them, and what to make of a status is the pipeline's to say."""
        config = self._runtime.config
        if wire is not None:
            wire.judge(Outcome.OK.value if response.status < _BAD else Outcome.ERROR.value)
        if wire is not None and wire.proxy is not None:
            self._runtime.exits.told(ProxyResult.OK)
        plan = plan_media(
            response.status, tries=tries_of(request), retries=config.retries, backoff=config.backoff,
            jitter=random.random(),  # noqa: S311  # spreads waits, guards nothing
        )  # fmt: skip
        return await self._retry(request, plan, f"media_{response.status}", wire) if plan.step == "retry" else response

    def _plan(self, request: Request, verdict: Verdict, wire: Wire | None, *, blamed: bool) -> Plan:
        runtime, config = self._runtime, self._runtime.config
        other_exit = runtime.pace.by_identity and wire is not None and wire.proxy is not None
        plan = plan_verdict(
            verdict,
            tries=tries_of(request),
            retries=request.meta.get(RETRIES, config.retries),
            backoff=config.backoff,
            rotates=blamed and config.on_block == "rotate",
            elsewhere=other_exit and runtime.exits.any_usable(),
            refreshed=bool(request.meta.get("fw_refreshed")) or not uses_tokens(request.meta),
            jitter=random.random(),  # noqa: S311  # spreads waits, guards nothing
        )
        return FAIL if plan.rotate and _is_held(request) else plan  # nothing goes on with another identity

    def _pause(self, request: Request, verdict: Verdict, wire: Wire | None) -> None:
        """Let others that come the same way wait as well, or all when the host itself cannot go on."""
        runtime, backoff = self._runtime, self._runtime.config.backoff
        seconds, whole_host = pause_of(verdict, backoff)
        if seconds:
            exit_ = None if whole_host or wire is None else wire.exit
            runtime.pace.pause(urlparse_cached(request).hostname or "", exit_, seconds)
            if (verdict.retry_after or 0) > backoff.retry_after_max:
                runtime.count(f"retry_after_capped/{runtime.site}")

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Retry transport errors, on another exit when the same one fails again."""
        result: Request | None = None
        try:
            result = await self._failed(request, exception)
        finally:
            await self._pooled.ended(request, result)
        return result

    async def _failed(self, request: Request, exception: Exception) -> Request | None:
        if not isinstance(exception, RETRIED) or request.meta.pop(FAILED, False):
            return None
        runtime, wire = self._runtime, request.meta.get(WIRE)
        runtime.count(f"error/{runtime.site}/{type(exception).__name__}")
        _note(request)
        auth = isinstance(exception, ProxyAuthError)
        media = bool(request.meta.get(MEDIA)) or operation_of(request) == ROBOTS  # neither is a page
        if wire is not None and wire.proxy is not None and _blames_proxy(exception, media=media):
            runtime.exits.report(wire.proxy, ProxyResult.AUTH_FAILED if auth else ProxyResult.TRANSPORT_FAILURE)
        if isinstance(exception, FetchworkerError) and wire is not None and wire.proxy is not None and wire.proxy.tier:
            exception.context.setdefault("tier", wire.proxy.tier)
        if isinstance(exception, TierSpentError):
            plan = Plan("retry", counted=False)  # at once: the next identity has an exit of another tier
        elif self._unspent(request, exception):
            plan = self._plan_unspent(request, media=media)
        elif isinstance(exception, ProxyExhaustedError):
            plan = self._plan_exhausted(request)
        else:
            plan = plan_error(
                tries=tries_of(request), retries=request.meta.get(RETRIES, runtime.config.retries),
                backoff=runtime.config.backoff, proxied=wire is not None and wire.proxy is not None and not media,
                auth=auth, jitter=random.random(),  # noqa: S311  # spreads waits, guards nothing
            )  # fmt: skip
        if plan.step != "retry":
            await self._recorder.failure(request, exception)
            return None
        step = self._steps.made(wire, exception)
        plan = replace(plan, rotate=plan.rotate and not _is_held(request), counted=plan.counted and not step)
        return await self._retry(request, plan, type(exception).__name__, wire)

    def _unspent(self, request: Request, exception: Exception) -> bool:
        """Whether the try counts for nothing: the site has seen nothing of it, and there is an exit to wait for."""
        exits = self._runtime.exits
        if not exits.needed or not isinstance(exception, ProxyAuthError | ProxyFailedError | ProxyExhaustedError):
            return False
        if exits.hopeless and self._runtime.private:
            return False
        return bool(request.meta.get(FREE, 0) < (FEW_FREE if exits.any_usable() else MANY_FREE))

    def _plan_unspent(self, request: Request, *, media: bool) -> Plan:
        """Wait where an exit is left, and take another one at the second time; else the wait is for any at all."""
        free = request.meta[FREE] = request.meta.get(FREE, 0) + 1
        if not self._runtime.exits.any_usable():
            return Plan("retry", counted=False)
        return Plan(
            "retry", wait(free, self._runtime.config.backoff, 0.0), rotate=free > 1 and not media, counted=False
        )

    def _plan_exhausted(self, request: Request) -> Plan:
        """Wait for the first proxy that ends its rest, when that is soon enough."""
        config, soon = self._runtime.config, self._runtime.exits.next_in(request.meta.get(COUNTRY))
        if soon is None or soon > config.backoff.max or tries_of(request) > request.meta.get(RETRIES, config.retries):
            return Plan("fail")
        return Plan("retry", max(soon, wait(1, config.backoff, 1.0)))

    async def _retry(
        self, request: Request, plan: Plan, why: str, wire: Wire | None, signs: Sequence[str] = ()
    ) -> Request:
        runtime = self._runtime
        runtime.count(f"retry/{runtime.site}/{why.partition(' ')[0]}")
        tier = f" by tier {request.meta['fw_tier']}" if "fw_tier" in request.meta else ""
        with bound(**from_meta(request.meta, runtime.site)):
            logger.info(
                "%s: %s; try %d in %.1f s%s", request.url, why, tries_of(request) + plan.counted, plan.delay, tier
            )
        await self._pooled.before_retry(request, wire, why, rotates=plan.rotate)
        if plan.delay:
            await runtime.waits.sleep(plan.delay)
        if plan.rotate:
            self._pooled.check_chain(request, why)
        return _next_try(request, plan, signs)


def _is_held(request: Request) -> bool:
    """Whether a request has its identity for good: it is leased, or is to stay what it is."""
    return bool(request.meta.get(LEASED) or request.meta.get(KEEPS))


def _blames_proxy(exception: Exception, *, media: bool) -> bool:
    """A torn body is the site's, a proxy that only times out is as good as dead; hosts of media are of all kinds."""
    if isinstance(exception, TierSpentError):
        return False
    if isinstance(exception, BrowserError) and (
        exception.layer == "browser_process" or exception.context.get("reason") == GOES_ON
    ):
        return False  # Chromium's fault, or the page's own
    if media:
        return isinstance(exception, ProxyFailedError | ProxyAuthError)
    return not isinstance(exception, ResponseDataLossError)


def _answers(request: Request, response: Response, verdict: Verdict) -> bool:
    """Whether what is not ``ok`` is as good to the one who asks."""
    if request.callback is NO_CALLBACK and verdict.outcome in _ABSENT:
        return True  # what asks for it (robots.txt, say) takes absence for an answer
    return response.status in request.meta.get(ACCEPT, ()) and verdict.outcome not in REFUSALS


def _note(request: Request, **known: Any) -> None:
    """How the last try ended, for who has put a mapping into the meta and gets no answer in time."""
    last: dict[str, Any] | None = request.meta.get(LAST)
    if last is not None:
        last.clear()
        last.update(known, attempts=tries_of(request))


def _next_try(request: Request, plan: Plan, signs: Sequence[str]) -> Request:
    """The same request once more; whose identity it gets is the session middleware's to say."""
    again = another_try(request, same_identity=bool(request.meta.get("fw_session")) and not plan.rotate)
    meta = again.meta
    meta["fw_tries"] = tries_of(request) + plan.counted
    if plan.refresh:
        meta["fw_refresh"], meta["fw_refreshed"] = list(signs), True
        meta["fw_tries"] = tries_of(request)
    return again
