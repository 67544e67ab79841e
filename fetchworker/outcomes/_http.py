"""What HTTP itself says: the verdict on a response that no signature knows, and Retry-After."""

from __future__ import annotations

import re
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from fetchworker.outcomes.taxonomy import Outcome, Verdict

if TYPE_CHECKING:
    from fetchworker.contracts import Page

#: a longer wait than this is reported as this, seconds
LONGEST_WAIT = 365 * 86400.0

_SECONDS = re.compile(r"[0-9]{1,300}(\.[0-9]{1,9})?")  # whole numbers by the standard, fractions in the wild

OK = Verdict(Outcome.OK)
_OK_UNSEEN = Verdict(Outcome.OK, confidence=0.8)  # a body without its status


def _says(outcome: Outcome, slug: str, confidence: float) -> Verdict:
    return Verdict(outcome, None, (slug,), confidence)


_BY_STATUS = {
    401: _says(Outcome.BLOCKED, "http_401", 0.5),
    403: _says(Outcome.BLOCKED, "http_403", 0.5),
    404: _says(Outcome.NOT_FOUND, "http_404", 0.8),
    407: _says(Outcome.ERROR, "proxy_auth", 0.9),  # the proxy's answer, not the site's
    408: _says(Outcome.TRANSIENT, "http_408", 0.8),
    410: _says(Outcome.GONE, "http_410", 0.9),
    418: _says(Outcome.BLOCKED, "http_418", 0.6),  # no origin means it: sites that refuse robots use it (douban)
    425: _says(Outcome.TRANSIENT, "http_425", 0.8),
    429: _says(Outcome.RATE_LIMITED, "http_429", 0.8),
    451: _says(Outcome.BLOCKED, "http_451", 0.6),  # withheld from this place by law: another exit may see it
    999: _says(Outcome.BLOCKED, "ip_reputation", 0.95),  # LinkedIn's own; nothing else uses it
}


def verdict_from_status(status: int | None) -> Verdict:
    """The verdict on a status alone. None (a body without its status) is ``ok`` until a signature says otherwise."""
    if status is None:
        return _OK_UNSEEN
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    if 200 <= status < 400:  # noqa: PLR2004
        return OK
    if 500 <= status < 600:  # noqa: PLR2004
        return _says(Outcome.TRANSIENT, f"http_{status}", 0.7)
    return _says(Outcome.ERROR, f"http_{status}", 0.6)


def retry_after(page: Page) -> float | None:
    """Seconds that the response asks to wait, by its Retry-After header; a date counts from the response's own Date."""
    return wait_asked(page.header("retry-after"), page.header("date"))


def wait_asked(retry_after: str | None, date: str | None) -> float | None:
    """Seconds that a response with these two headers asks to wait, None when it does not."""
    return None if retry_after is None else parse_retry_after(retry_after, now=_date(date) or time.time())


def parse_retry_after(value: str, *, now: float) -> float | None:
    """Seconds from ``now`` (a Unix time) for either form of Retry-After, None for a value that is neither."""
    value = value.strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), LONGEST_WAIT)
    moment = _date(value)
    return None if moment is None else min(max(0.0, moment - now), LONGEST_WAIT)


def _date(value: str | None) -> float | None:
    if not value:
        return None
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
