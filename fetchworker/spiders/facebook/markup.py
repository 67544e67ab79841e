"""Reading the HTML of the older sites without building a tree of it (pure).

Everything is bounded: a page of unfinished tags must not cost the square of its length.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

_BREAK = re.compile(r"<br\s*/?>|</p>\s{0,20}(?=<(?:p|div)\b)|</div>\s{0,20}(?=<(?:div|p)\b)", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,20000}>")
_MORE = re.compile(r'<span class="text_exposed_hide">')
_SPACES = re.compile(r"[ \t\u00a0]{2,}")
_ESCAPED = re.compile(r"\\([0-9a-f]{1,6}) ?", re.IGNORECASE)
_LONGEST = 60_000
_MOST_TAGS = 3_000


def inner(markup: str, start: int, tag: str) -> str:
    """What an element holds; ``start`` is behind its opening tag. Cut off where the markup, or our patience, ends."""
    depth, end = 1, min(len(markup), start + _LONGEST)
    for number, match in enumerate(re.compile(rf"<(/?){tag}\b").finditer(markup, start, end)):
        depth += -1 if match[1] else 1
        if depth == 0:
            return markup[start : match.start()]
        if number > _MOST_TAGS:
            break
    return markup[start:end]


def words(markup: str) -> str | None:
    """The text of some markup: paragraphs and breaks as lines, "See more" left out."""
    shown = _without_more(markup)
    shown = _BREAK.sub("\n", shown)
    shown = html.unescape(_TAG.sub("", shown))
    lines = [_SPACES.sub(" ", line).strip() for line in shown.split("\n")]
    return "\n".join(lines).strip() or None


def _without_more(markup: str) -> str:
    """Markup without the spans that are hidden once a text is whole."""
    kept, position = "", 0
    for match in _MORE.finditer(markup):
        if match.start() < position:
            continue
        kept += markup[position : match.start()]
        position = match.end() + len(inner(markup, match.end(), "span")) + len("</span>")
    return kept + markup[position:]


def data(attribute: str) -> dict[str, Any]:
    """The JSON of an attribute, empty when it is none."""
    try:
        found = orjson.loads(html.unescape(attribute))
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def address(escaped: str) -> str:
    r"""An address out of a style attribute: ``https\3a //host/a\3d b``."""

    def character(match: re.Match[str]) -> str:
        code = int(match[1], 16)
        return chr(code) if 0 < code < 0xD800 else ""  # noqa: PLR2004  # surrogates and beyond are in no address

    return _ESCAPED.sub(character, html.unescape(escaped))


def between(markup: str, marks: list[int]) -> Iterator[str]:
    """The pieces of markup that begin at the marks."""
    ends = [*marks[1:], len(markup)] if marks else []
    for start, end in zip(marks, ends, strict=True):
        yield markup[start:end]
