"""What is told of an answer that is no data (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.errors import OutcomeError

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from fetchworker.download.wire import Wire
    from fetchworker.outcomes import Verdict


def tries_of(request: Request) -> int:
    """Tries made, the present one included."""
    tries: int = request.meta.get("fw_tries", 1)
    return tries


def told(verdict: Verdict) -> str:
    """A verdict in one line."""
    return f"{verdict.outcome.value} ({verdict.vendor or 'the site'}: {', '.join(verdict.evidence)})"


def failure_of(
    request: Request, response: Response, verdict: Verdict, evidence: str, wire: Wire | None
) -> OutcomeError:
    """The error of a request whose last answer was this one."""
    about = known(response, verdict)
    del about["outcome"]
    tier = {"tier": wire.proxy.tier} if wire is not None and wire.proxy is not None and wire.proxy.tier else {}
    return OutcomeError(
        verdict.outcome.value,
        f"{told(verdict)} after {tries_of(request)} tries: {request.url}",
        **about,
        confidence=verdict.confidence,
        attempts=tries_of(request),
        snippet=evidence,
        **tier,
    )


def known(response: Response, verdict: Verdict) -> dict[str, Any]:
    """What is told of an answer that is not ``ok``."""
    about: dict[str, Any] = {"outcome": verdict.outcome.value, "vendor": verdict.vendor}
    about |= {"evidence": list(verdict.evidence), "status": response.status}
    return {**about, "retry_after": verdict.retry_after} if verdict.retry_after else about
