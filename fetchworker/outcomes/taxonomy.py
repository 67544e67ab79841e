"""What a response can turn out to be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The verdicts; only ``ok`` pages reach a parser."""

    OK = "ok"
    BLOCKED = "blocked"
    """Refused by an anti-bot system: another identity may be served."""
    RATE_LIMITED = "rate_limited"
    """Too many requests from this identity: wait."""
    LOGIN_WALL = "login_wall"
    """The site wants an account (or a consent) before it shows the page."""
    CHALLENGE = "challenge"
    """A script or a captcha stands before the page: needs a browser."""
    NOT_FOUND = "not_found"
    GONE = "gone"
    PRIVATE = "private"
    """It exists, and its owner shows it to chosen people only."""
    STALE_CONTRACT = "stale_contract"
    """An operation id or token that the site no longer takes: harvest a new one, keep the identity."""
    TRANSIENT = "transient"
    """The site's own passing fault: try again."""
    ERROR = "error"
    """None of these: a fault of the request or a body that cannot be read."""


#: outcomes that say: not to you. A page that holds its data is none of these, whatever stands around the data
REFUSALS = frozenset({Outcome.BLOCKED, Outcome.CHALLENGE, Outcome.RATE_LIMITED, Outcome.LOGIN_WALL})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement on one response.

    ``evidence`` holds the slugs of the rules that say so, the deciding one first (none for a plain ``ok``);
    ``confidence`` goes from 0 to 1; ``retry_after`` is what the site asked for, in seconds from now.

    ``trust``, from 0 to 1, is how freely the site still serves this identity: 1, unless a refusal came beside the data
    (a *soft block*: ``ok``, and ``evidence`` names the refusal).
    """

    outcome: Outcome
    vendor: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float = 1.0
    retry_after: float | None = None
    trust: float = 1.0

    @property
    def soft(self) -> bool:
        """Whether the page has its data and shows a refusal beside it."""
        return self.outcome is Outcome.OK and bool(self.evidence)
