"""Texts and amounts out of a page's elements (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from fetchworker.spiders.reading.html import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parsel import Selector, SelectorList

#: elements for screen readers, switched-off copies, and the flag "New listing": not what the page says of the thing
_HIDDEN = frozenset({"clipped", "hide", "LIGHT_HIGHLIGHT"})
_SILENT = frozenset({"script", "style", "button", "template"})


def shown(node: Selector | SelectorList[Selector] | None) -> str | None:
    """The text that an element shows; pieces of it are set apart."""
    nodes = [] if node is None else [node] if hasattr(node, "root") else list(node)
    return squeezed(" ".join(piece for each_node in nodes for piece in _pieces(each_node.root)))


def _pieces(root: etree._Element) -> Iterator[str]:
    """The texts inside an element, hidden parts left out; comments stand between many of them."""
    walk = etree.iterwalk(root, events=("start", "end", "comment"))
    for event, element in walk:
        if event == "start":
            if element.tag in _SILENT or not _HIDDEN.isdisjoint(element.get("class", "").split()):
                walk.skip_subtree()
            elif element.text:
                yield element.text
        elif element is not root and element.tail:
            yield element.tail


def first(node: Selector | SelectorList[Selector], *queries: str) -> str | None:
    """The shown text of the first element that has one, by CSS queries in order of preference."""
    for query in queries:
        for found in node.css(query):
            text = shown(found)
            if text:
                return text
    return None


def each(node: Selector | SelectorList[Selector], query: str) -> Iterator[str]:
    """The shown texts of all elements that have one."""
    return (text for text in map(shown, node.css(query)) if text)


def classes(node: Selector) -> frozenset[str]:
    """The element's classes."""
    return frozenset(node.attrib.get("class", "").split())
