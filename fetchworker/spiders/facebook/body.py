"""From a body's bytes to what parsers read: results of queries, or HTML of the older sites (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.spiders.metafamily import relay
from fetchworker.spiders.metafamily.relay import Document, Result
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from fetchworker.contracts import Page

__all__ = ["Body", "Document", "Result", "entity", "fill", "read", "walk"]

#: objects looked at in one walk; more than any page has
_MOST_OBJECTS = 400_000
#: meta tags and the canonical link stand in the head
_HEAD = 120_000
#: how deep facts of one object are put together
_DEEPEST = 3


@dataclass(frozen=True)
class Body:
    """``results`` of queries in the page's order; ``markup`` is HTML: the page, or what an ajax answer brings."""

    results: Sequence[Result]
    markup: str
    page: bool

    @cached_property
    def documents(self) -> list[Document]:
        """The results' documents."""
        return [document for result in self.results for document in result.documents]

    @cached_property
    def meta(self) -> dict[str, str]:
        """The page's meta tags by property or name, the canonical link as ``canonical``; empty for an answer."""
        return html.meta(self.markup[:_HEAD]) if self.page else {}

    @cached_property
    def links(self) -> list[dict[str, Any]]:
        """JSON-LD of the page."""
        return html.json_ld(self.markup) if "ld+json" in self.markup else []


def read(page: Page) -> Body:
    """Decode a body.

    Raises:
        ContractError: the body is empty, or an answer that begins like JSON and cannot be read to its end.
    """
    if not page.body.strip():
        raise ContractError("body", "the body is empty")
    if relay.is_json(page.body):
        found = relay.answers(page.body)
        return Body([Result("", found)], "\n".join(_brought(found)), page=False)
    markup = html.decoded(page)
    return Body(relay.results(markup), markup, page=True)


def _brought(documents: Sequence[Document]) -> Iterator[str]:
    """HTML and scripts in an answer of the mobile site (``payload.actions``)."""
    for document in documents:
        for action in sequence(mapping(document.get("payload")).get("actions")):
            for part in (text(mapping(action).get("html")), text(mapping(action).get("code"))):
                if part is not None:
                    yield part


def entity(documents: Sequence[Document], number: str, kind: str, *, without: Container[str] = ()) -> Document:
    """The facts of all objects with this number and of this kind put together; what comes first in the page counts."""
    merged: Document = {}
    for document in documents:
        for one in walk(document, without=without):
            if one.get("id") == number and one.get("__typename") in (None, kind):
                fill(merged, one)
    return merged


def fill(known: Document, more: Document, depth: int = 0) -> None:
    """Put into ``known`` what only ``more`` has, objects inside of it too; ``more`` itself is left as it is."""
    for key, value in more.items():
        old = known.get(key)
        if old is None:
            known[key] = value
        elif depth < _DEEPEST and isinstance(old, dict) and isinstance(value, dict):
            inner = dict(old)
            fill(inner, value, depth + 1)
            known[key] = inner


def walk(value: Any, *, without: Container[str] = ()) -> Iterator[Document]:
    """Every object in nested JSON, outer ones first, in the page's order; branches under ``without`` are left out."""
    stack = [value]
    for _ in range(_MOST_OBJECTS):
        if not stack:
            return
        found = stack.pop()
        if isinstance(found, dict):
            yield found
            inner = [part for key, part in found.items() if isinstance(part, dict | list) and key not in without]
        else:
            inner = [part for part in found if isinstance(part, dict | list)] if isinstance(found, list) else []
        stack.extend(reversed(inner))
