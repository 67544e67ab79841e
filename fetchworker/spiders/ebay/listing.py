"""A listing's page, and the three places where it keeps its facts.

What the page shows, the data modules in its scripts (``BUY_BOX``, ``SELLER_CARD_ATF``, …), which a page saved from a
browser may have lost, and JSON-LD. Item numbers stand all over a page's data (those of similar listings), so the
listing's own is taken from its canonical address alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.spiders.ebay import dollars
from fetchworker.spiders.ebay.nodes import first
from fetchworker.spiders.reading import html
from fetchworker.spiders.reading.values import dig, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.reading.elements import Node

_ITEM_PATH = re.compile(r"/itm/(?:[^/?#]{1,200}/)?(?P<id>\d{9,15})(?:[/?#]|$)")


@dataclass(frozen=True)
class Listing:
    """A listing's page."""

    source: str
    page: Node
    domain: str

    @cached_property
    def dollar(self) -> str | None:
        """What a bare ``$`` means on it, None when it does not say."""
        return dollars.dollar(self.source)

    def module(self, name: str) -> Mapping[str, Any]:
        """A data module of the page, empty when it has none."""
        return next((value for value in html.keyed(self.source, name) if isinstance(value, dict) and value), {})

    @cached_property
    def product_ld(self) -> Mapping[str, Any]:
        """The page's JSON-LD ``Product``."""
        kinds = ("Product", "ProductGroup")
        return next((value for kind in kinds for value in self._ld if kind in _types(value)), {})

    @cached_property
    def offer(self) -> Mapping[str, Any]:
        """The first offer of the JSON-LD product."""
        told = self.product_ld.get("offers")
        return mapping(told[0] if isinstance(told, list) and told else told)

    @cached_property
    def breadcrumbs(self) -> Mapping[str, Any]:
        """The page's JSON-LD ``BreadcrumbList``."""
        return next((value for value in self._ld if "BreadcrumbList" in _types(value)), {})

    @cached_property
    def buy_box(self) -> Mapping[str, Any]:
        """Price and buttons."""
        return self.module("BUY_BOX")

    @cached_property
    def meta(self) -> Mapping[str, str]:
        """Meta tags."""
        return html.meta(self.source)

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The item's own properties, under the page's labels."""
        return dict(_attributes(self))

    @cached_property
    def _ld(self) -> list[dict[str, Any]]:
        return html.json_ld(self.source)


def number_of(listing: Listing) -> str:
    """The listing's number.

    Raises:
        ContractError: the page is no listing.
    """
    for address in (listing.meta.get("canonical"), listing.meta.get("og:url")):
        path = _ITEM_PATH.search(address or "")
        if path:
            return path["id"]
    shown_number = first(listing.page, ".ux-layout-section--itemId .ux-textspans--BOLD")
    if shown_number and re.fullmatch(r"\d{9,15}", shown_number):
        return shown_number
    raise ContractError("link[rel=canonical] /itm/<number>")


def spans(value: Any) -> str | None:
    """The text of a module's value: its ``textSpans``, or those of the text that it unfolds to."""
    if not isinstance(value, dict):
        return None
    spans = sequence(value.get("textSpans")) or sequence(dig(value, "textualDisplays", 0, "textSpans"))
    return html.squeezed(" ".join(part for span in spans if (part := text(dig(span, "text")))))


def _types(value: Mapping[str, Any]) -> list[str]:
    told = value.get("@type")
    return told if isinstance(told, list) else [str(told)]


def _attributes(listing: Listing) -> Iterator[tuple[str, str]]:
    rows = mapping(dig(listing.module("ABOUT_THIS_ITEM"), "sections", "features", "dataItems"))
    for key, row in rows.items():
        label, value = spans(dig(row, "labels", 0)), spans(dig(row, "values", 0))
        if key != "condition" and label and value:
            yield label.rstrip(": "), value
    if rows:
        return
    for row in listing.page.css(".ux-layout-section--features .ux-labels-values"):
        label, value = first(row, ".ux-labels-values__labels"), first(row, ".ux-labels-values__values")
        if "ux-labels-values--condition" not in row.value("class") and label and value:
            yield label.rstrip(": "), value
