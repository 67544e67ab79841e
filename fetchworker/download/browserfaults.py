"""Errors of a visit, told by what the filtering proxy has refused and by what the page's events say (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.browser.faults import code_of, refusal_of
from fetchworker.egress import REASONS
from fetchworker.errors import PageDeniedError, PageFailedError, PageSizeError, ProxyAuthError, ProxyFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.download.browserseen import Lost
    from fetchworker.egress.filter_proxy import Refusal

#: why a visit has failed whose page went from one to the next
GOES_ON = "navigations"
_HOST = re.compile(r"https?://(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]*)", re.IGNORECASE)
_BY_PROXY = "upstream"


def refused_since(refusals: Iterable[Refusal], last: Refusal | None) -> list[Refusal]:
    """Those that came after one; all of them where it is remembered no longer."""
    found: list[Refusal] = []
    for refusal in refusals:
        found = [] if refusal is last else [*found, refusal]
    return found


def refusal_error(url: str, refusals: Sequence[Refusal]) -> Exception | None:
    """What the filtering proxy has said about the host of an address as an error; None where it has said nothing."""
    host = _HOST.match(url)
    refusal = refusal_of(host[1], refusals) if host else None
    if refusal is None:
        return None
    reason, target = refusal.reason, refusal.target
    if reason in REASONS:
        found_by = refusal.layer or "url"
        return PageDeniedError(f"{target} may not be reached ({REASONS[reason]})", found_by=found_by, reason=reason)
    if reason == "upstream_auth":
        return ProxyAuthError(
            "the proxy refused the credentials: correct its entry in the proxy list", outcome="proxy_auth"
        )
    if reason.startswith(_BY_PROXY):
        return ProxyFailedError(f"the proxy did not open the way to {target} ({reason})", outcome="proxy_refused")
    if reason == "byte_cap":
        return PageSizeError("size", "the page, with what belongs to it, has more bytes than it may have")
    return PageFailedError("navigation", f"{target} cannot be reached ({reason})", reason=reason)


def lost_error(lost: Lost, refusals: Sequence[Refusal]) -> Exception:
    """What it means that a page has gone to an address that could not be had."""
    told, code = f"the page went on to {lost.url.partition('?')[0]}, which it could not have", code_of(lost.text)
    return refusal_error(lost.url, refusals) or PageFailedError(
        "navigation", f"{told}: {lost.text}" if lost.text else told, **({"code": code} if code else {})
    )


def exit_error(url: str, refusals: Sequence[Refusal]) -> Exception | None:
    """What the exit has refused of a page's own host, which will not be what it might have become."""
    return refusal_error(url, [refusal for refusal in refusals if refusal.reason.startswith(_BY_PROXY)])


def endless_error(most: int) -> PageFailedError:
    """What it means that a page has gone on and on."""
    told = f"the page went on more than {most} times (FETCHWORKER_BROWSER_NAVIGATIONS)"
    return PageFailedError("navigation", told, reason=GOES_ON)
