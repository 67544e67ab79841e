"""A body of the family's sites as its JSON documents, whichever way they were sent (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.spiders.metafamily import relay
from fetchworker.spiders.reading import html as reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fetchworker.contracts import Page
    from fetchworker.spiders.metafamily.relay import Document

#: more objects than any answer has outside of what a walk leaves out; keeps hostile answers cheap
_MOST_NODES = 40_000


@dataclass(frozen=True, slots=True)
class Body:
    """Documents in their order; ``html`` is the text of a page, None for an answer."""

    documents: Sequence[Document]
    html: str | None

    def meta(self) -> dict[str, str]:
        """The page's meta tags by property or name; the canonical link as ``canonical``."""
        return reading.meta(self.html) if self.html is not None else {}


def read(page: Page) -> Body:
    """Decode a body; an answer may itself be a block of a page (``{"require":[…]}``).

    Raises:
        ContractError: an answer that begins like JSON and cannot be read to its end, or an empty body.
    """
    if not page.body.strip():
        raise ContractError("body", "the body is empty")
    if not relay.is_json(page.body):
        text = reading.decoded(page)
        return Body(_preloaded(text), text)
    documents = relay.answers(page.body)
    if any("require" in document for document in documents):
        documents = [*documents, *_preloaded(page.body.decode(errors="replace"))]
    return Body(documents, None)


def _preloaded(text: str) -> list[Document]:
    return [document for result in relay.results(text) for document in result.documents]


def walk(documents: Sequence[Document], closed: frozenset[str] = frozenset()) -> Iterator[tuple[str, Document]]:
    """The objects of documents in their order, each with the key it stands under (of lists: the list's).

    Args:
        documents: where to begin.
        closed: what stands inside an object that has one of these keys is left out.
    """
    stack: list[tuple[str, Any]] = [("", document) for document in reversed(documents)]
    for _ in range(_MOST_NODES):
        if not stack:
            return
        key, value = stack.pop()
        if isinstance(value, list):
            stack.extend((key, entry) for entry in reversed(value) if isinstance(entry, dict | list))
            continue
        yield key, value
        if closed.isdisjoint(value):
            inner = [(name, entry) for name, entry in value.items() if isinstance(entry, dict | list)]
            stack.extend(reversed(inner))
