"""Texts and amounts out of a page's elements (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from fetchworker.spiders.reading.elements import Node
from fetchworker.spiders.reading.html import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: elements for screen readers, switched-off copies, and the flag "New listing": not what the page says of the thing
_HIDDEN = frozenset({"clipped", "hide", "LIGHT_HIGHLIGHT"})
_SILENT = frozenset({"script", "style", "button", "template"})


def shown(node: Node | None) -> str | None:
    """The text that an element shows; pieces of it are set apart."""
    return None if node is None else node.remembered(_text)


def _text(root: etree._Element) -> str | None:
    if not len(root):
        return None if _is_hidden(root) else squeezed(root.text)
    return squeezed(" ".join(_pieces(root)))


def _is_hidden(element: etree._Element) -> bool:
    return element.tag in _SILENT or not _HIDDEN.isdisjoint(element.get("class", "").split())


def _pieces(root: etree._Element) -> Iterator[str]:
    """The texts inside an element, hidden parts left out; comments stand between many of them."""
    walk = etree.iterwalk(root, events=("start", "end", "comment"))
    for event, element in walk:
        if event == "start":
            if _is_hidden(element):
                walk.skip_subtree()
            elif element.text:
                yield element.text
        elif element is not root and element.tail:
            yield element.tail


def first(node: Node | Sequence[Node], *queries: str) -> str | None:
    """The shown text of the first element that has one, by CSS queries in order of preference."""
    return next((text for query in queries for text in each(node, query)), None)


def each(node: Node | Sequence[Node], query: str) -> Iterator[str]:
    """The shown texts of all elements that have one."""
    return (text for text in map(shown, within(node, query)) if text)


def within(node: Node | Sequence[Node], query: str) -> list[Node]:
    """The elements that a query finds in an element, or in each of some."""
    return [inner for outer in ([node] if isinstance(node, Node) else node) for inner in outer.css(query)]
