"""Hits of a search, and what the next page of them needs (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import SearchResult
from fetchworker.spiders.reading import addresses
from fetchworker.spiders.reading.values import count, dig, flag, ident, mapping, sequence, text
from fetchworker.spiders.tiktok_shop import contract
from fetchworker.spiders.tiktok_shop.parse_values import picture, price, rating, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.tiktok_shop.parse_page import Body


def hits(body: Body) -> Mapping[str, Any] | None:
    """The list of hits: that component of a page, or the answer itself; None when there is neither."""
    found = body.named(contract.SEARCH_COMPONENT)
    if found is None and isinstance(body.record.get("products"), list):
        return body.record
    return found


def cards(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The cards of products in their order."""
    return [card for card in map(mapping, sequence(found.get("products"))) if ident(card.get("product_id"))]


def following(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The parameters of the next page, None on the last one."""
    more = mapping(found.get("load_more_params"))
    return more if more and flag(found.get("has_more")) is not False and cards(found) else None


def related(body: Body) -> list[str]:
    """Words that the page proposes."""
    links = sequence(mapping(body.named(contract.RELATED_COMPONENT)).get("related_links"))
    return [name for entry in links if (name := text(dig(entry, "name")))]


def result(card: Mapping[str, Any], position: int) -> SearchResult:
    """One hit."""
    told = mapping(card.get("product_price_info"))
    currency = told.get("currency_name")
    amount = price(told.get("sale_price_decimal"), currency) or price(told.get("sale_price_format"), currency)
    before = price(told.get("origin_price_decimal"), currency) or price(told.get("origin_price_format"), currency)
    starts = text(told.get("price_prefix")) is not None  # "From": the cheapest of several forms
    judged = count(dig(card, "rate_info", "review_count"))
    judged = count(card.get("review_count")) if judged is None else judged
    number = ident(card.get("product_id"))
    return SearchResult.draft(
        position=position,
        id=number,
        name=shown(card.get("title")),
        price=amount.value if amount and not starts else None,
        price_min=amount.value if amount and starts else None,
        currency=amount.currency if amount else None,
        list_price=before.value if before else None,
        image_url=picture(card.get("image")) or picture(next(iter(sequence(card.get("images"))), None)),
        seller=shown(dig(card, "seller_info", "shop_name")) or shown(dig(card, "seller", "name")),
        rating=rating(dig(card, "rate_info", "score") or card.get("product_rating"), judged),
        reviews_count=judged,
        sold_count=_sold(card),
        url=_url(card, number),
        extra=_extra(card, told),
    )


def _sold(card: Mapping[str, Any]) -> int | None:
    told = count(dig(card, "sold_info", "sold_count"))
    return count(card.get("sold_count")) if told is None else told


def _url(card: Mapping[str, Any], number: str | None) -> str | None:
    told = card.get("seo_url")
    path = text(told) if isinstance(told, str) else text(dig(told, "canonical_url"))
    if path and (address := addresses.joined(contract.SHOP, path)):
        return address
    return contract.product_url(number) if number else None


def _extra(card: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        "seller_id": ident(dig(card, "seller_info", "seller_id")) or ident(dig(card, "seller", "seller_id")),
        "brand": text(dig(card, "brand_info", "brand_name")),
        "discount": text(told.get("discount_format")),
    }
    return {name: value for name, value in found.items() if value is not None}
