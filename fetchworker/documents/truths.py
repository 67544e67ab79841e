"""Truths beside documents: what is told of them by hand, checked before anything is scored by it (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.documents import scoring
from fetchworker.documents.rules import INVOICE_FIELDS, RECEIPT_FIELDS, dates
from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_FIELDS = {"invoice": (*INVOICE_FIELDS, *scoring.ALIASES), "receipt": RECEIPT_FIELDS, "other": ()}
_CELLS = ("description", "quantity", "unit_price", "amount", "tax_rate")
_NUMBERS = frozenset({"quantity", "unit_price", "amount"})
_ROWS = "line_items"


def checked(truth: Any, name: str) -> dict[str, Any]:
    """A truth as it was given.

    Args:
        truth: what the file beside a document holds.
        name: of that file, for errors.

    Raises:
        ArgumentError: it is no truth; names the file, the key, and what should be there.
    """
    if not isinstance(truth, dict) or not isinstance(truth.get("fields"), dict):
        raise ArgumentError(f"{name}: a truth is an object with `fields`")
    for key, fault in _faults(truth):
        raise ArgumentError(f"{name}: {key}: {fault}")
    return truth


def _faults(truth: dict[str, Any]) -> Iterator[tuple[str, str]]:
    kind = truth.get("kind", "invoice")
    if kind not in _FIELDS:
        yield "kind", f"{kind!r} is none of {_list(_FIELDS)}"
        return
    hidden = truth.get("not_printed") or []
    if not isinstance(hidden, list) or any(name not in _FIELDS[kind] for name in hidden):
        yield "not_printed", f"a list of names of fields: {_list(_FIELDS[kind])}"
    for key, value in truth["fields"].items():
        if key == _ROWS:
            yield from _rows(value)
        elif key not in _FIELDS[kind]:
            yield f"fields.{key}", f"no field of the kind {kind}, which has {_list((*_FIELDS[kind], _ROWS))}"
        else:
            yield from _value(f"fields.{key}", scoring.ALIASES.get(key, key) if kind == "invoice" else key, value)


def _rows(rows: Any) -> Iterator[tuple[str, str]]:
    if rows is None:
        return
    if not isinstance(rows, list):
        yield f"fields.{_ROWS}", "a list of objects, one for each row"
        return
    for place, row in enumerate(rows):
        at = f"fields.{_ROWS}[{place}]"
        if not isinstance(row, dict):
            yield at, f"an object with {_list(_CELLS)}"
            continue
        for key, value in row.items():
            if key not in _CELLS:
                yield f"{at}.{key}", f"none of {_list(_CELLS)}"
            else:
                yield from _value(f"{at}.{key}", key, value)


def _value(at: str, name: str, value: Any) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if not isinstance(value, str):
        yield at, f"a string or null, not {type(value).__name__}: amounts are decimal strings"
    elif name in scoring.DAYS and not dates.find(value):
        yield at, f"{value!r} is no day (YYYY-MM-DD)"
    elif name in scoring.MONEY | _NUMBERS and scoring.amount(value) is None:
        yield at, f"{value!r} is no number (a decimal string)"


def _list(names: Collection[str] | Mapping[str, Any]) -> str:
    return ", ".join(names)
