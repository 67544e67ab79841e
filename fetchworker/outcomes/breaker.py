"""When a rule condemns everything at once, the rule is more likely wrong than everything blocked (pure but its clock).

A site that changes its pages can make a good rule match all of them. Acting on such verdicts would put every proxy to
rest and every identity away, so a rule that condemns nearly all exits of late is *suspect*: its verdicts stand (no page
is delivered for it), and nothing is punished for them.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.outcomes._rules import signature_of
from fetchworker.outcomes.taxonomy import REFUSALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.outcomes.taxonomy import Verdict


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a rule is suspect, and when no longer.

    Each exit counts with its last answer, if that is among the last ``answers`` and not older than ``window`` seconds.
    A rule becomes suspect when it condemns ``least`` exits or more, and more than ``share`` of all; it is trusted again
    when it condemns no more than ``calm`` of them.
    """

    answers: int = 200
    window: float = 600.0
    share: float = 0.8
    least: int = 5
    calm: float = 0.4


@dataclass(frozen=True, slots=True)
class Change:
    """A rule became suspect, or is trusted again: it condemns so many of the exits that were tried."""

    rule: str
    suspect: bool
    condemned: int
    tried: int


class RuleBreaker:
    """Watches over the rules of one site.

    Args:
        policy: the numbers.
        clock: seconds, never going back.
    """

    def __init__(self, policy: BreakerPolicy | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._policy = policy or BreakerPolicy()
        self._clock = clock
        self._last: OrderedDict[str, tuple[float, str | None]] = OrderedDict()  # oldest first
        self._condemned: Counter[str] = Counter()
        self._suspect: set[str] = set()

    def record(self, who: str, rule: str | None) -> list[Change]:
        """Tell how an answer was judged.

        Args:
            who: the exit that got it, or the identity where there are no exits.
            rule: the signature that condemned it, None for an answer that no signature condemned.

        Returns:
            What changed by it, mostly nothing.
        """
        now = self._clock()
        self._forget(who)
        self._last[who] = (now, rule)
        if rule is not None:
            self._condemned[rule] += 1
        self._forget_old(now)
        if rule is None and not self._suspect:
            return []
        return [change for name in sorted({*self._suspect, *filter(None, (rule,))}) if (change := self._look(name))]

    def suspects(self, rule: str) -> bool:
        """Whether a rule is suspect."""
        return rule in self._suspect

    def _look(self, rule: str) -> Change | None:
        condemned, tried, policy = self._condemned[rule], len(self._last), self._policy
        if rule in self._suspect:
            turned = condemned <= policy.calm * tried
        else:
            turned = condemned >= policy.least and condemned > policy.share * tried
        if not turned:
            return None
        self._suspect ^= {rule}
        return Change(rule, rule in self._suspect, condemned, tried)

    def _forget_old(self, now: float) -> None:
        while self._last:
            who, (at, _) = next(iter(self._last.items()))
            if len(self._last) <= self._policy.answers and now - at <= self._policy.window:
                break
            self._forget(who)

    def _forget(self, who: str) -> None:
        _, rule = self._last.pop(who, (0.0, None))
        if rule is not None:
            self._condemned[rule] -= 1
            if not self._condemned[rule]:
                del self._condemned[rule]


def rule_of(verdict: Verdict) -> str | None:
    """The signature that condemned an answer; None where the status alone did, or nothing."""
    if verdict.outcome not in REFUSALS:
        return None
    signature = signature_of(verdict)
    return signature.evidence if signature else None
