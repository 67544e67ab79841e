"""Tells the empty shell of an application, which scripts fill in, from a page (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.outcomes._view import Content, content_of

if TYPE_CHECKING:
    from fetchworker.contracts import Page

#: bytes of a page that are looked at; a shell's scripts stand in files of their own
_MOST = 512 * 1024
#: characters of text that a shell may have beside its scripts: a title, "Loading…"
_TEXT = 200
_OK = 200

_SCRIPT = re.compile(rb"<script\b[^>]*>", re.IGNORECASE)
#: data that stands in a page is data, whatever puts it on show
_DATA = re.compile(rb"""<script\b[^>]*\btype=["']?application/(?:ld\+)?json""", re.IGNORECASE)
_UNSEEN = re.compile(
    rb"<(script|style|noscript|template|svg|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.IGNORECASE | re.DOTALL
)
#: an element that an application is put into, with nothing (or a turning wheel) in it
_ROOT = re.compile(
    rb"""<(?:div|main|app)\b[^>]*\bid=["']?(?:root|app|__next|__nuxt|react-root|main|application|mount)\b""",
    re.IGNORECASE,
)
_ASKS = re.compile(rb"<noscript\b[^>]*>[^<]*(?:<(?!/noscript)[^<]*)*?javascript", re.IGNORECASE)


def is_app_shell(page: Page) -> bool:
    """Whether an answer is HTML with next to no text, which asks for JavaScript or has a place that scripts fill."""
    body = page.body
    if page.status not in (None, _OK) or len(body) > _MOST or content_of(body) is not Content.HTML:
        return False
    if _SCRIPT.search(body) is None or _DATA.search(body) is not None:
        return False
    return (_ROOT.search(body) or _ASKS.search(body)) is not None and _text_of(body) <= _TEXT


def is_html(page: Page) -> bool:
    """Whether an answer is an HTML document."""
    return content_of(page.body) is Content.HTML and b"xml" not in page.body[:16]


def _text_of(body: bytes) -> int:
    """Characters of text that the page shows without its scripts."""
    text = _UNSEEN.sub(b" ", body).decode("utf-8", "replace")
    return sum(map(len, text.split()))
