"""What to do about a verdict or an error (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fetchworker.outcomes import Outcome, Verdict

if TYPE_CHECKING:
    from fetchworker.sites import Backoff

Step = Literal["deliver", "retry", "fail"]

#: outcomes that a better identity may turn into data
_IDENTITY = frozenset({Outcome.BLOCKED, Outcome.CHALLENGE, Outcome.LOGIN_WALL, Outcome.RATE_LIMITED})
#: statuses that pass
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Plan:
    """The next step of a try that ended.

    ``delay`` is in seconds. ``rotate``: the identity is dropped and a new one minted under the same session id.
    ``refresh``: harvested tokens are dropped and read anew. ``counted``: whether the try that ended counts as one.
    """

    step: Step
    delay: float = 0.0
    rotate: bool = False
    refresh: bool = False
    counted: bool = True


DELIVER = Plan("deliver")
FAIL = Plan("fail")


def plan_verdict(
    verdict: Verdict,
    *,
    tries: int,
    retries: int,
    backoff: Backoff,
    rotates: bool,
    refreshed: bool,
    jitter: float,
    elsewhere: bool = False,
) -> Plan:
    """Decide on an answer.

    Args:
        verdict: the classifier's.
        tries: how many tries were made, this one included.
        retries: how many tries the site may have after the first.
        backoff: the site's waiting times.
        rotates: whether a blocked identity may be replaced.
        refreshed: whether stale tokens were refreshed for this request before.
        jitter: 0 to 1, spreads the waits of many requests.
        elsewhere: whether a new identity would come by another exit whom the site did not ask to wait.
    """
    outcome = verdict.outcome
    if outcome is Outcome.OK:
        return DELIVER
    if outcome is Outcome.STALE_CONTRACT:
        return FAIL if refreshed else Plan("retry", refresh=True)
    if tries > retries or outcome not in _IDENTITY | {Outcome.TRANSIENT}:
        return FAIL
    rotate = rotates and outcome in _IDENTITY
    if verdict.retry_after and not (rotate and elsewhere):
        delay = min(verdict.retry_after, backoff.retry_after_max)
    else:  # also where the site says 0: it has just refused, and tries without a pause would be spent in a moment
        delay = wait(tries, backoff, jitter)
    return Plan("retry", delay, rotate=rotate)


def pause_of(verdict: Verdict, backoff: Backoff) -> tuple[float, bool]:
    """Seconds that other requests to the host have to wait because of an answer, and whether all of them have to.

    Too many requests is said to a visitor; a host that is down or overloaded says so to everybody.
    """
    whole_host = verdict.outcome is Outcome.TRANSIENT
    if verdict.retry_after and (whole_host or verdict.outcome in _IDENTITY):
        return min(verdict.retry_after, backoff.retry_after_max), whole_host
    return (backoff.first, False) if verdict.outcome is Outcome.RATE_LIMITED else (0.0, False)


def plan_media(status: int, *, tries: int, retries: int, backoff: Backoff, jitter: float) -> Plan:
    """Decide on the answer to a request for a picture or a film: it is no page, and blames no identity."""
    if status in _PASSING and tries <= retries:
        return Plan("retry", wait(tries, backoff, jitter))
    return DELIVER


def plan_error(*, tries: int, retries: int, backoff: Backoff, proxied: bool, auth: bool, jitter: float) -> Plan:
    """Decide on a transport error: the first retry keeps the identity, later ones take another exit."""
    if tries > retries:
        return FAIL
    return Plan("retry", 0.0 if auth else wait(tries, backoff, jitter), rotate=proxied and (auth or tries > 1))


def wait(tries: int, backoff: Backoff, jitter: float) -> float:
    """Seconds before the next try: grows by the factor, never above the maximum, up to a quarter shorter by jitter."""
    grown = min(backoff.max, backoff.first * backoff.factor ** (tries - 1))
    return float(grown * (1 - 0.25 * jitter))
