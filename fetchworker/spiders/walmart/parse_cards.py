"""The cards of a search (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.items import SearchResult
from fetchworker.spiders.reading.html import text_of
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text
from fetchworker.spiders.walmart import contract, prices
from fetchworker.spiders.walmart.facts import availability, badges, kept, rating

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from fetchworker.spiders.walmart.state import State

_PRODUCT = "Product"
_ITEM_KEYS = ("items", "itemsV2")


def stacks(result: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The groups of hits that a page shows."""
    return [mapping(stack) for stack in sequence(result.get("itemStacks"))]


def any_cards(result: Mapping[str, Any]) -> bool:
    """Whether a page shows any hit."""
    return any(True for stack in stacks(result) for _ in _cards(stack))


def results(state: State, *, first: int, seen: Iterable[str]) -> list[SearchResult]:
    """The hits, each once: what is advertised stands in the list a second time, and again on later pages.

    Args:
        state: the page.
        first: the position of the first hit.
        seen: ids that earlier pages gave.
    """
    found: dict[str, SearchResult] = {}
    known = set(seen)
    groups = stacks(state.search)
    for stack in groups:
        for card in _cards(stack):
            number = ident(card.get("usItemId"))
            if number is None:
                raise ContractError("searchResult.itemStacks[].items[].usItemId")
            if number in found:
                _merge(found[number], card)
            elif number not in known:
                result = _result(card, number, stack, state, several=len(groups) > 1)
                result.position = first + len(found)
                found[number] = result
    return list(found.values())


def _cards(stack: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    entries = next((found for key in _ITEM_KEYS if (found := sequence(stack.get(key)))), ())
    return (entry for entry in map(mapping, entries) if entry.get("__typename", _PRODUCT) == _PRODUCT and entry)


def _merge(result: SearchResult, card: Mapping[str, Any]) -> None:
    """Note that a thing stands in the list both as an advertisement and by itself."""
    if flag(card.get("isSponsoredFlag")) is not result.sponsored:
        result.sponsored = True
        result.extra["also_unsponsored"] = True


def _result(
    card: Mapping[str, Any], number: str, stack: Mapping[str, Any], state: State, *, several: bool
) -> SearchResult:
    info = mapping(card.get("priceInfo"))
    amount, currency = prices.price(info, state.currency)
    own = prices.number(card.get("price"))
    low, high = prices.span(info, state.currency)
    name = text_of(text(card.get("name")))
    if name is None:
        raise ContractError("searchResult.itemStacks[].items[].name")
    return SearchResult.draft(
        exact=_exact(stack),
        id=number,
        name=name,
        price=own or amount,
        price_min=low,
        price_max=high,
        currency=(currency or state.currency) if own or amount or low else None,
        list_price=prices.former(info, state.currency),
        image_url=link(dig(card, "imageInfo", "thumbnailUrl")),
        condition=text(dig(card, "preownedCondition")) or text(dig(card, "conditionV2")),
        seller=text_of(text(card.get("sellerName"))),
        rating=rating(card.get("averageRating"), count(card.get("numberOfReviews"))),
        reviews_count=count(card.get("numberOfReviews")),
        sponsored=flag(card.get("isSponsoredFlag")),
        shipping=text(info.get("shipPrice")),
        shipping_price=prices.shown(info.get("shipPrice"), state.currency) or prices.number(info.get("shippingFee")),
        shipping_currency=state.currency if text(info.get("shipPrice")) or info.get("shippingFee") else None,
        availability=availability(card),
        url=contract.absolute(state.domain, text(card.get("canonicalUrl"))),
        extra=_extra(card, stack, several=several),
    )


def _exact(stack: Mapping[str, Any]) -> bool | None:
    """False for a group that the site found by other words; the others do not say."""
    meta = mapping(stack.get("meta"))
    used, asked = text(meta.get("queryUsedForSearchResults")), text(meta.get("query"))
    other = used is not None and asked is not None and used.casefold() != asked.casefold()
    return False if other or meta.get("isPartialResult") is True else None


def _extra(card: Mapping[str, Any], stack: Mapping[str, Any], *, several: bool) -> dict[str, Any]:
    info = mapping(card.get("priceInfo"))
    return kept({
        "product_id": ident(card.get("id")),
        "offer_id": text(card.get("offerId")),
        "seller_id": text(card.get("sellerId")),
        "unit_price": prices.unit(info),
        "options": text(info.get("priceRangeString")),
        "member_price": text(info.get("memberPriceString")),
        "category_path_id": text(dig(card, "category", "categoryPathId")),
        "badges": badges(card),
        "group": text(stack.get("title")) if several else None,
    })  # fmt: skip
