"""Texts and amounts out of a page's elements (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.spiders.reading.html import squeezed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parsel import Selector, SelectorList

#: elements for screen readers and switched-off copies: not what the page shows
_HIDDEN = "contains(concat(' ', normalize-space(@class), ' '), ' {} ')"
_SHOWN = (
    ".//text()[not(ancestor::*[self::script or self::style or self::button or "
    + " or ".join(_HIDDEN.format(name) for name in ("clipped", "hide", "LIGHT_HIGHLIGHT"))
    + "])]"
)


def shown(node: Selector | SelectorList[Selector] | None) -> str | None:
    """The text that an element shows; pieces of it are set apart."""
    return squeezed(" ".join(node.xpath(_SHOWN).getall())) if node else None


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
