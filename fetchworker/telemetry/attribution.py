"""Whose work is this? The fields that every log line of a request carries, kept in a context variable.

A coroutine that works for one request wraps its work in :class:`bound`; whatever is logged inside, by us or by a
library, carries the fields, and a task started inside inherits them::

    with bound(request_id=rid, site="instagram", session=session.name):
        await download(request)

Scrapy calls the parts of its chain from different contexts, so nothing bound in one middleware method is seen in the
next: bind where the work is done.
"""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: the names, in the order in which log lines have them
FIELDS = ("request_id", "trace_id", "session", "site", "operation", "crawl_id")

_NOTHING: dict[str, str] = {}  # never written to
_current: ContextVar[dict[str, str]] = ContextVar("fetchworker_attribution", default=_NOTHING)
_process: dict[str, str] = {}


class bound:  # noqa: N801  # used like a function
    """Add fields for the time of a ``with`` block; None leaves a field as it is. Costs about a microsecond."""

    __slots__ = ("_fields", "_token")

    def __init__(
        self,
        *,
        request_id: str | None = None,
        trace_id: str | None = None,
        session: str | None = None,
        site: str | None = None,
        operation: str | None = None,
        crawl_id: str | None = None,
    ) -> None:
        fields = self._fields = _current.get().copy()
        # spelled out, as a loop takes three times as long
        if request_id is not None:
            fields["request_id"] = request_id
        if trace_id is not None:
            fields["trace_id"] = trace_id
        if session is not None:
            fields["session"] = session
        if site is not None:
            fields["site"] = site
        if operation is not None:
            fields["operation"] = operation
        if crawl_id is not None:
            fields["crawl_id"] = crawl_id

    def __enter__(self) -> None:
        self._token = _current.set(self._fields)

    def __exit__(self, *_: object) -> None:
        with suppress(ValueError):  # as in unbind
            _current.reset(self._token)


def bind(fields: Mapping[str, str]) -> Token[dict[str, str]]:
    """Add fields until :func:`unbind` gets the token; for work that does not fit a ``with`` block."""
    return _current.set({**_current.get(), **fields})


def unbind(token: Token[dict[str, str]]) -> None:
    """Put the fields back to what they were at :func:`bind`; in another context than that of ``bind`` do nothing."""
    with suppress(ValueError):
        _current.reset(token)


def set_process(**fields: str | None) -> None:
    """Set fields that hold for the whole process (``crawl_id``, ``trace_id``); None takes a field away.

    Raises:
        TypeError: a name that is not one of :data:`FIELDS`.
    """
    unknown = fields.keys() - set(FIELDS)
    if unknown:
        raise TypeError(f"no such field: {', '.join(sorted(unknown))}; known: {', '.join(FIELDS)}")
    for name, value in fields.items():
        if value is None:
            _process.pop(name, None)
        else:
            _process[name] = value


def current() -> dict[str, str]:
    """The fields that hold here and now, in order."""
    return ordered({**_process, **_current.get()})


def process() -> dict[str, str]:
    """The fields that hold for the whole process."""
    return ordered(_process)


def ordered(fields: Mapping[str, str]) -> dict[str, str]:
    """The known fields of a mapping in the order of :data:`FIELDS`."""
    return {name: fields[name] for name in FIELDS if name in fields}


def from_meta(meta: Mapping[str, Any], site: str | None = None) -> dict[str, str]:
    """The fields that a Scrapy request's ``meta`` tells, ready for :func:`bind`."""
    call = meta.get("fw_call")
    found = {
        "request_id": meta.get("fw_request_id"),
        "trace_id": meta.get("fw_trace_id"),
        "session": meta.get("fw_session"),
        "site": site,
        "operation": call.get("operation") if isinstance(call, dict) else None,
    }
    return {name: str(value) for name, value in found.items() if value}
