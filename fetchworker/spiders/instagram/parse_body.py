"""From a body's bytes to the JSON documents in it, whichever generation of the site sent them.

A body is one JSON document, several of them one after another, or a page whose scripts hold them: ``sharedData`` and
``additionalDataLoaded`` (2018-2021), ``contextJSON`` of embeds (2022 on), results of Relay queries (2022 on). Deferred
chunks of a result are put back at their path.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.errors import ContractError
from fetchworker.spiders.metafamily import relay
from fetchworker.spiders.metafamily.relay import Document, embedded

__all__ = ["Body", "Document", "read"]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.contracts import Page

_ASSIGNED = (
    re.compile(r"window\._sharedData\s*=\s*(?=\{)"),
    re.compile(r"""__additionalDataLoaded\(\s*(?:"[^"]{0,300}+"|'[^']{0,300}+')\s*,\s*(?=\{)"""),
)
_CONTEXT = re.compile(r'"contextJSON"\s*:\s*(?=")')
# every repetition is bounded: a page of unfinished tags must not cost the square of its length
_META = re.compile(r"""<meta\b((?:[^<>"']++|"[^"]{0,12000}+"|'[^']{0,12000}+'){0,80}+)>""")
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*+)"|'([^']*+)')""")
_CANONICAL = re.compile(r"""<link\b[^<>]{0,300}?\brel=["']canonical["'][^<>]{0,300}?\bhref=["']([^"']{1,2000})""")
_MOST_META = 200
_LONGEST_META = 10_000


@dataclass(frozen=True, slots=True)
class Body:
    """Documents in the order of the page; ``html`` is the text of a page, None for a JSON answer."""

    documents: tuple[Document, ...]
    html: str | None

    def meta(self) -> dict[str, str]:
        """The page's meta tags by property or name; the canonical link as ``canonical``."""
        return _meta(self.html) if self.html is not None else {}


def read(page: Page) -> Body:
    """Decode a body.

    Raises:
        ContractError: an answer that begins like JSON and cannot be read to its end, or an empty body.
    """
    if not page.body.removeprefix(b"\xef\xbb\xbf").strip():
        raise ContractError("body", "the body is empty")
    if relay.is_json(page.body):
        return Body(tuple(relay.answers(page.body)), None)
    text = page.body.removeprefix(b"\xef\xbb\xbf").strip().decode(errors="replace")
    queried = (document for result in relay.results(text) for document in result.documents)
    return Body((*_assigned(text), *_context(text), *queried), text)


def _assigned(text: str) -> Iterator[Document]:
    for pattern in _ASSIGNED:
        yield from (value for _, value in embedded(pattern, text) if isinstance(value, dict))


def _context(text: str) -> Iterator[Document]:
    for _, value in embedded(_CONTEXT, text):
        inner = relay.decoded(value, 0)[0] if isinstance(value, str) else None
        if isinstance(inner, dict):
            yield inner


def _meta(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, match in enumerate(_META.finditer(text)):
        if number >= _MOST_META:
            break
        values = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(match.group(1))}
        key = values.get("property") or values.get("name")
        if key and "content" in values:
            found.setdefault(key, html.unescape(values["content"][:_LONGEST_META]))
    canonical = _CANONICAL.search(text)
    if canonical:
        found["canonical"] = html.unescape(canonical.group(1))
    return found
