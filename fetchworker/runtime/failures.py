"""The failure line of a request: what was asked, and how it ended (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest

from fetchworker.errors import FetchworkerError, OutcomeError
from fetchworker.telemetry.redaction import hide_userinfo, redact

if TYPE_CHECKING:
    from scrapy import Request


def failure_record(request: Request, error: BaseException, site: str, *, downloaded: bool) -> dict[str, Any]:
    """The fields of a failure line (docs/exports.md) but its evidence.

    Args:
        request: the last of its tries.
        error: what it ended with.
        site: the crawl's site.
        downloaded: whether there was an answer: what goes wrong behind one is a fault of ours.
    """
    meta = request.meta
    return {
        "request_id": meta.get("fw_request_id"),
        "site": site,
        "url": hide_userinfo(request.url),
        "method": request.method,
        **_call_of(meta),
        **_told(error, downloaded=downloaded),
        "attempts": meta.get("fw_tries", 1),
        "session": meta.get("fw_session"),
    }


def _call_of(meta: dict[str, Any]) -> dict[str, Any]:
    call = meta.get("fw_call") or {}
    strategy = meta.get("fw_strategy")
    return {
        "operation": call.get("operation"),
        "params": call.get("params"),
        "cursor": call.get("cursor"),
        "strategy": strategy[2] if strategy else None,
    }


def line_of(error: BaseException) -> str:
    """The type of an error and what it says, in one line."""
    told = _told(error, downloaded=False)
    return redact(f"{told['type']}: {' '.join(told['message'].split())}")


def _told(error: BaseException, *, downloaded: bool) -> dict[str, Any]:
    if isinstance(error, OutcomeError):
        return {"type": error.error_type, "message": error.message, **error.context}
    if isinstance(error, FetchworkerError):
        return {"type": error.type, "message": error.message, "outcome": None, **error.context}
    kind = "INTERNAL_ERROR" if downloaded else "FETCH_ERROR"
    if isinstance(error, IgnoreRequest) and "robots.txt" in str(error):  # others: too many redirects, too large
        kind = "ROBOTS_DENIED"
    return {"type": kind, "message": f"{type(error).__name__}: {error}", "outcome": None}
