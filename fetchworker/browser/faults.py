"""Playwright's errors → ours (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.errors import BrowserError, PageFailedError, PageTimeoutError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.egress.filter_proxy import Refusal

_CODE = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_PORT = re.compile(r":\d+$")
_GONE = ("has been closed", "Target closed", "Connection closed", "Browser closed", "crashed")


def is_playwright_error(error: BaseException) -> bool:
    """Whether it is one of Playwright's own; asks without importing it."""
    return any(cls.__module__.startswith("playwright.") for cls in type(error).__mro__)


def translated(error: Exception, *, layer: str = "action") -> BrowserError | None:
    """Our error for one of Playwright's; None for what is none of its.

    Args:
        error: what was raised.
        layer: what was being done.
    """
    if not is_playwright_error(error):
        return None
    text = str(error).partition("\nCall log:")[0].strip()
    code = code_of(text)
    if code:
        return PageFailedError("navigation", text, code=code)
    if any(word in text for word in _GONE):
        return PageFailedError("browser_process", text, gone=True)
    if type(error).__name__ == "TimeoutError":
        return PageTimeoutError(layer, text) if layer == "navigation" else BrowserError(layer, text, timeout=True)
    return PageFailedError(layer, text) if layer == "navigation" else BrowserError(layer, text)


def code_of(text: str) -> str | None:
    """Chromium's code of a failure (``ERR_…``) in a text."""
    found = _CODE.search(text)
    return found[1] if found else None


def refusal_of(host: str, refusals: Iterable[Refusal]) -> Refusal | None:
    """What the filtering proxy said last about a host."""
    wanted = host.lower()
    named = [refusal for refusal in refusals if _PORT.sub("", refusal.target).lower() == wanted]
    return named[-1] if named else None
