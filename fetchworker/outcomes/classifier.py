"""Judge a response: what is it, before any parser sees it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fetchworker.outcomes._http import retry_after, verdict_from_status
from fetchworker.outcomes._rules import rules_for
from fetchworker.outcomes._view import View
from fetchworker.outcomes.taxonomy import Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.contracts import Page
    from fetchworker.outcomes.signatures import Signature


def classify(page: Page, *, site: str | None = None, request_url: str | None = None) -> Verdict:
    """The verdict on a response; every response gets one, whatever its bytes.

    The matching signature with the highest confidence decides, unless the status alone says it with more. URL,
    status and headers may be missing: the body is judged by itself then.

    Args:
        page: the response.
        site: the site whose own rules count too.
        request_url: what was asked for, before redirects (tells a home page from a redirect to it).

    Raises:
        ConfigError: at the first call, when a signature file is broken.
    """
    view = View(page, request_url)
    matching = rules_for(site).matching(view)
    verdict = _decide(verdict_from_status(page.status), matching)
    if verdict.outcome is Outcome.OK:
        return verdict
    wait = retry_after(page)
    return verdict if wait is None else replace(verdict, retry_after=wait)


def _decide(by_status: Verdict, matching: Sequence[Signature]) -> Verdict:
    best = max(matching, key=lambda signature: signature.confidence, default=None)
    if best is None or (by_status.outcome is not Outcome.OK and by_status.confidence > best.confidence):
        return by_status
    agreeing = (s.evidence for s in matching if s is not best and s.outcome is best.outcome)
    return Verdict(best.outcome, best.vendor, (best.evidence, *agreeing), best.confidence)
