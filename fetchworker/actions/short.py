"""Actions as one types them (pure): ``click:#more``, ``fill:#q=>shoes``, ``extract:title=h1::text``, or JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fetchworker.actions.models import TYPES
from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

_TO = "=>"
FORMS = (
    "goto:URL, click:SELECTOR, fill:SELECTOR=>TEXT, press:KEY, press:SELECTOR=>KEY, select:SELECTOR=>VALUE, "
    "wait_for:SELECTOR, wait_for:SECONDS, scroll, scroll:bottom, scroll:SELECTOR, extract:NAME=CSS, assert:SELECTOR, "
    "assert:SELECTOR=>TEXT, screenshot, screenshot:SELECTOR, pdf, html"
)


def parse_short(text: str) -> dict[str, Any]:
    """The JSON object that is meant.

    Raises:
        ArgumentError: it cannot be read.
    """
    if text.lstrip().startswith("{"):
        try:
            value = json.loads(text)
        except ValueError as exc:
            raise ArgumentError(f"--action: it is no JSON ({exc})") from None
        return dict(value)
    kind, colon, rest = text.partition(":")
    if kind not in TYPES:
        raise ArgumentError(f"--action: there is no {kind[:64]!r}; write one of {FORMS}, or a JSON object")
    if colon and not rest:
        raise ArgumentError(f"--action {kind}: something is expected behind the colon")
    return {"type": kind, **_FORMS.get(kind, _none)(rest)}


def _none(rest: str) -> dict[str, Any]:
    if rest:
        raise ArgumentError(f"--action: nothing is expected behind this type, not {rest[:64]!r}")
    return {}


def _pair(first: str, second: str) -> Callable[[str], dict[str, Any]]:
    def parse(rest: str) -> dict[str, Any]:
        left, arrow, right = rest.partition(_TO)
        if not arrow:
            raise ArgumentError(f"--action: {first.upper()}=>{second.upper()} is expected")
        return {first: left.strip(), second: right.strip()}

    return parse


def _press(rest: str) -> dict[str, Any]:
    return _pair("selector", "key")(rest) if _TO in rest else {"key": rest}


def _wait(rest: str) -> dict[str, Any]:
    try:
        return {"seconds": float(rest)}
    except ValueError:
        return {"selector": rest} if rest else {}


def _scroll(rest: str) -> dict[str, Any]:
    if rest in ("", "bottom", "top"):
        return {"to": rest or "bottom"}
    return {"by": int(rest)} if rest.lstrip("-").isdigit() else {"selector": rest}


def _extract(rest: str) -> dict[str, Any]:
    name, equals, what = rest.partition("=")
    if not equals:
        raise ArgumentError("--action extract: NAME=CSS is expected")
    kind = "xpath" if what.startswith(("/", "(")) else "css"
    if what.startswith("json_ld:"):
        kind, what = "json_ld", what.removeprefix("json_ld:")
    return {"fields": {name.strip(): {kind: what.strip()}}}


def _assert(rest: str) -> dict[str, Any]:
    return _pair("selector", "text")(rest) if _TO in rest else {"selector": rest}


_FORMS: dict[str, Callable[[str], dict[str, Any]]] = {
    "goto": lambda rest: {"url": rest},
    "click": lambda rest: {"selector": rest},
    "fill": _pair("selector", "text"),
    "press": _press,
    "select": _pair("selector", "value"),
    "wait_for": _wait,
    "scroll": _scroll,
    "extract": _extract,
    "assert": _assert,
    "screenshot": lambda rest: {"selector": rest} if rest else {},
}
