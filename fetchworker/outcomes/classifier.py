"""Judge a response: what is it, before any parser sees it?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fetchworker.outcomes._http import OK, retry_after, verdict_from_status
from fetchworker.outcomes._rules import rules_for
from fetchworker.outcomes._steps import step_of
from fetchworker.outcomes._view import View
from fetchworker.outcomes.taxonomy import REFUSALS, Outcome, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.contracts import Page
    from fetchworker.outcomes.signatures import Signature

#: how sure it is that a page with a refusal beside its data is the page that was asked for
_SOFT_CONFIDENCE = 0.7


def classify(page: Page, *, site: str | None = None, request_url: str | None = None) -> Verdict:
    """The verdict on a response; every response gets one, whatever its bytes.

    Signs count in the order of :class:`~fetchworker.outcomes._steps.Step`, within a step by their confidence, and only
    with more of it than the status has by itself. A page with its data is never a refusal. URL, status and headers may
    be missing: the body is judged by itself then.

    Args:
        page: the response.
        site: the site whose own rules count too, and whose pages are known by their data.
        request_url: what was asked for, before redirects (tells a home page from a redirect to it).

    Raises:
        ConfigError: at the first call, when a signature file is broken.
    """
    rules = rules_for(site)
    view = View(page, request_url, rules.expected)
    matching = rules.matching(view)
    by_status = verdict_from_status(page.status)
    verdict = _decide(by_status, matching, view) if matching else by_status
    if verdict.outcome in REFUSALS:
        verdict = _beside_data(verdict, by_status, matching, view)
    if verdict.outcome is Outcome.OK:
        return verdict
    wait = retry_after(page)
    return verdict if wait is None else replace(verdict, retry_after=wait)


def _decide(by_status: Verdict, matching: Sequence[Signature], view: View) -> Verdict:
    ranked = [(step_of(signature, view), -signature.confidence, place) for place, signature in enumerate(matching)]
    if not ranked:
        return by_status
    best = matching[min(ranked)[2]]
    if by_status.outcome is not Outcome.OK and by_status.confidence > best.confidence:
        return by_status
    agreeing = (s.evidence for s in matching if s is not best and s.outcome is best.outcome)
    return Verdict(best.outcome, best.vendor, (best.evidence, *agreeing), best.confidence)


def _beside_data(refusal: Verdict, by_status: Verdict, matching: Sequence[Signature], view: View) -> Verdict:
    """The verdict without the refusals that the page's data contradicts; the refusal itself when nothing does."""
    kept = [s for s in matching if s.outcome not in REFUSALS or not (view.has_data or _soft(s, view))]
    if view.has_data and by_status.outcome in REFUSALS:
        by_status = OK
    verdict = _decide(by_status, kept, view)
    if verdict.outcome is not Outcome.OK:
        return verdict
    trust = 1 - refusal.confidence / 2
    return Verdict(Outcome.OK, refusal.vendor, refusal.evidence, _SOFT_CONFIDENCE, trust=trust)


def _soft(signature: Signature, view: View) -> bool:
    return signature.soft_if is not None and signature.soft_if.holds(view)
