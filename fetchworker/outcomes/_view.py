"""A response as signatures look at it: everything beyond the raw page is worked out once, when first asked for."""

from __future__ import annotations

import html
import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.outcomes._scan import marker_scanner, searchable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.contracts import Page
    from fetchworker.outcomes._scan import Scanner
    from fetchworker.outcomes.expected import Expectation

#: how much of a body is searched for markers, bytes
SCAN_LIMIT = 2 * 1024 * 1024
#: a JSON answer longer than this is data, not an error message, bytes
JSON_LIMIT = 64 * 1024
#: how far into a page its title may start, bytes
TITLE_WINDOW = 64 * 1024
#: longest URL, header value or title that patterns see, characters
TEXT_LIMIT = 2048

_LEADING_SPACE = b"\xef\xbb\xbf \t\r\n"
_JSON_GUARDS = (b"for (;;);", b"for(;;);", b"while(1);", b")]}'")
_PLAIN_BYTES = bytes([*b"\t\n\x0c\r\x1b", *range(0x20, 0x100)])
_REPLACEMENT = "\ufffd".encode()
_TITLE = re.compile(rb"<title[^>]*>([^<]*)", re.IGNORECASE)
_TITLE_STARTS = (b"<title", b"<TITLE", b"<Title")


class Content(StrEnum):
    """What the first bytes of a body say it is (content types lie)."""

    EMPTY = "empty"
    HTML = "html"
    JSON = "json"
    TEXT = "text"
    BINARY = "binary"


MARKUP = frozenset({Content.HTML, Content.TEXT})


def content_of(body: bytes) -> Content:
    """The kind of a body, from its own bytes."""
    head = body[:4096].lstrip(_LEADING_SPACE)
    if not head:
        return Content.EMPTY if len(body) <= 4096 else Content.TEXT  # noqa: PLR2004
    first = head[:1]
    if first == b"<":
        return Content.HTML
    if first in b"{[" or head.startswith(_JSON_GUARDS):
        return Content.JSON
    return Content.BINARY if looks_binary(head) else Content.TEXT


def looks_binary(head: bytes) -> bool:
    """Whether bytes are no text: control characters, or text that lost its bytes to U+FFFD."""
    sample = head[:512]
    controls = len(sample.translate(None, _PLAIN_BYTES))
    lost = sample.count(_REPLACEMENT) * len(_REPLACEMENT)
    return (controls + lost) * 20 > len(sample)


def _bounded(body: bytes) -> bytes:
    if len(body) <= SCAN_LIMIT:
        return body
    end = SCAN_LIMIT
    while end > SCAN_LIMIT - 4 and body[end] & 0xC0 == 0x80:  # noqa: PLR2004 - not inside a UTF-8 sequence
        end -= 1
    return body[:end]


def _decode_json(body: bytes) -> tuple[Any, ...]:
    """The documents of a JSON body: one, or one a line (streamed answers)."""
    text = body.lstrip(_LEADING_SPACE)
    for guard in _JSON_GUARDS:
        text = text.removeprefix(guard)
    try:
        return (orjson.loads(text),)
    except orjson.JSONDecodeError:
        pass
    documents = []
    for line in text.splitlines():
        try:
            documents.append(orjson.loads(line))
        except orjson.JSONDecodeError:
            continue
    return tuple(documents)


class View:
    """One response under judgement. ``requested`` is the URL that was asked for, before redirects."""

    __slots__ = ("_documents", "_found", "_has_data", "_haystack", "_title", "body", "content", "expected", "page",
                 "requested", "url")  # fmt: skip

    def __init__(self, page: Page, request_url: str | None = None, expected: Sequence[Expectation] = ()) -> None:
        self.page = page
        self.body = _bounded(page.body)
        self.content = content_of(page.body)
        self.url = (page.url or "")[:TEXT_LIMIT]
        self.requested = (request_url or "")[:TEXT_LIMIT] or self.url
        self.expected = expected
        self._has_data: bool | None = None
        self._haystack: bytes | str | None = None
        self._found: dict[Scanner, bool] = {}
        self._title: str | None = None
        self._documents: tuple[Any, ...] | None = None

    def matches(self, scanner: Scanner) -> bool:
        """Whether a pattern is in the body; rules ask for the same one more than once."""
        found = self._found.get(scanner)
        if found is None:
            found = self._found[scanner] = self._search(scanner)
        return found

    def has(self, marker: bytes) -> bool:
        """Whether the marker is in the body."""
        if not marker.isascii():
            return marker in self.body
        return self.matches(marker_scanner(marker.decode("ascii")))

    def _search(self, scanner: Scanner) -> bool:
        if self._haystack is None:
            self._haystack = searchable(self.body)
        if isinstance(self._haystack, str):
            return scanner.hits(self._haystack)
        text = scanner.text(self._haystack)
        if text is None:
            return False
        self._haystack = text
        return True

    @property
    def title(self) -> str:
        """The page's title, entities resolved; empty when it has none."""
        if self._title is None:
            self._title = self._find_title()
        return self._title

    @property
    def documents(self) -> tuple[Any, ...]:
        """The decoded JSON documents; none when the body is no JSON or too long for an error message."""
        if self._documents is None:
            short = self.content is Content.JSON and len(self.page.body) <= JSON_LIMIT
            self._documents = _decode_json(self.page.body) if short else ()
        return self._documents

    @property
    def has_data(self) -> bool:
        """Whether the page carries data that the site says its pages carry."""
        if self._has_data is None:
            self._has_data = any(expectation.met_by(self) for expectation in self.expected)
        return self._has_data

    @property
    def lacks_data(self) -> bool:
        """Whether the answer claims to be a page that carries data, and has none."""
        claims = self.page.status is None or 200 <= self.page.status < 300  # noqa: PLR2004
        return claims and any(expectation.due_in(self) for expectation in self.expected) and not self.has_data

    def header(self, name: str) -> Sequence[str]:
        return self.page.headers.get(name, ())

    def cookie_names(self) -> list[str]:
        """Names of the cookies that the response sets."""
        return [value.partition("=")[0].strip() for value in self.header("set-cookie")]

    def _find_title(self) -> str:
        if self.content not in MARKUP:
            return ""
        found = (self.body.find(start, 0, TITLE_WINDOW) for start in _TITLE_STARTS)
        start = next((at for at in found if at >= 0), -1)
        match = _TITLE.match(self.body, start, start + TEXT_LIMIT) if start >= 0 else None
        if match is None:
            return ""
        return " ".join(html.unescape(match[1].decode("utf-8", "replace")).split())
