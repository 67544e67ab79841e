"""The order in which signs count: where the answer came from says more than what stands in it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from fetchworker.outcomes import conditions as c

if TYPE_CHECKING:
    from fetchworker.outcomes._view import View
    from fetchworker.outcomes.signatures import Signature

#: a signature of this confidence or more decides alone
STRONG = 0.9


class Step(IntEnum):
    """The steps of the judgement; the fourth, between MARKER and PAGE, is whether the page has its data."""

    ADDRESS = 1
    """The URL at which the request ended."""
    ANSWER = 2
    """The status together with a header that the vendor sets."""
    MARKER = 3
    """What the vendor's technology forces a refusal to contain."""
    PAGE = 5
    """Weak signs together: a vendor's mark beside a refusing status, a page without its data, a short body."""


def step_of(signature: Signature, view: View) -> Step:
    """The step at which a signature that holds has its say."""
    return Step.PAGE if signature.confidence < STRONG else _step(signature.when, view)


def _step(condition: c.Condition, view: View) -> Step:
    match condition:
        case c.All(parts):
            return max(_step(part, view) for part in parts)
        case c.AnyOf(parts):
            return min((_step(part, view) for part in parts if part.holds(view)), default=Step.PAGE)
        case c.StatusIn() | c.HeaderMatches() | c.CookieSet():
            return Step.ANSWER
        case c.TitleMatches() | c.BodyHas() | c.BodyMatches() | c.JsonAt():
            return Step.MARKER
        case c.DataIs():
            return Step.PAGE
        case _:  # narrows, and says nothing by itself
            return Step.ADDRESS
