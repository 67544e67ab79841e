"""A listing (pure)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.items import Product, Seller, Variant
from fetchworker.spiders.reading.html import text_of
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, sequence, text
from fetchworker.spiders.walmart import contract, prices
from fetchworker.spiders.walmart.facts import availability, badges, kept, rating

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.walmart.state import State

_GTIN = re.compile(r"\d{8,14}\Z")


def product(state: State) -> Product:
    """The listing.

    Raises:
        ContractError: the page is no listing, or one without an id or a name.
    """
    raw = mapping(state.data.get("product"))
    number, name = ident(raw.get("usItemId")), text_of(text(raw.get("name")))
    if number is None:
        raise ContractError("initialData.data.product.usItemId")
    if name is None:
        raise ContractError("initialData.data.product.name")
    variants = list(_variants(raw, state))
    return Product.draft(
        id=number,
        sku=ident(raw.get("id")),
        gtin=next((code for code in map(text, (raw.get("upc"), raw.get("gtin"))) if code and _GTIN.match(code)), None),
        name=name,
        page_title=state.title,
        brand=text(raw.get("brand")),
        availability=availability(raw),
        condition=text(raw.get("conditionType")),
        description=_description(state, raw),
        images=_images(raw),
        category_path=[told for entry in sequence(dig(raw, "category", "path")) if (told := text(dig(entry, "name")))],
        rating=rating(raw.get("averageRating"), count(raw.get("numberOfReviews"))),
        reviews_count=count(raw.get("numberOfReviews")),
        seller=_seller(raw),
        variants=variants,
        attributes=dict(_attributes(state)),
        url=contract.absolute(state.domain, text(raw.get("canonicalUrl"))) or contract.item_url(state.domain, number),
        extra=_extra(state, raw),
        **_prices(raw, variants, state),
        **_shipping(raw, state),
    )


def _prices(raw: Mapping[str, Any], variants: list[Variant], state: State) -> dict[str, Any]:
    info = raw.get("priceInfo")
    amount, currency = prices.price(info, state.currency)
    low, high = prices.span(info, state.currency)
    told = sorted((form.price for form in variants if form.price), key=Decimal)
    return {
        "price": amount,
        "currency": currency or (state.currency if low or told else None),
        "list_price": prices.former(info, currency),
        "price_min": low or (told[0] if told else None),
        "price_max": high or (told[-1] if told else None),
    }


def _shipping(raw: Mapping[str, Any], state: State) -> dict[str, Any]:
    """How it comes, in the site's words, and what that costs where the page says so."""
    label = next(iter(sequence(raw.get("fulfillmentLabel"))), None)
    option = next((mapping(o) for o in sequence(raw.get("fulfillmentOptions")) if dig(o, "type") == "SHIPPING"), {})
    amount = prices.number(dig(option, "speedDetails", "fulfillmentPrice", "price"))
    amount = amount or prices.number(dig(raw, "shippingOption", "shipPrice", "price"))
    if amount is None and dig(option, "speedDetails", "freeFulfillment") is True:
        amount = "0"
    return {
        "shipping": text(dig(label, "message")),
        "shipping_price": amount,
        "shipping_currency": state.currency if amount else None,
    }


def _description(state: State, raw: Mapping[str, Any]) -> str | None:
    short = text_of(text(raw.get("shortDescription"))) or text_of(text(dig(state.data, "idml", "shortDescription")))
    long = text_of(text(dig(state.data, "idml", "longDescription")))
    return "\n".join(dict.fromkeys(part for part in (short, long) if part)) or None


def _images(raw: Mapping[str, Any]) -> list[str]:
    found = [link(dig(image, "url")) for image in sequence(dig(raw, "imageInfo", "allImages"))]
    found = found or [link(dig(raw, "imageInfo", "thumbnailUrl"))]
    return list(dict.fromkeys(address for address in found if address))


def _seller(raw: Mapping[str, Any]) -> Seller | None:
    """Who sells, by the name that is shown; the legal one is beside it."""
    name = text(raw.get("sellerDisplayName")) or text(raw.get("sellerName"))
    if name is None and not text(raw.get("sellerId")):
        return None
    reviews = count(raw.get("sellerReviewCount"))
    return Seller.draft(
        id=text(raw.get("sellerId")),
        name=name,
        url=link(raw.get("sellerStoreFrontURL")),
        rating=rating(raw.get("sellerAverageRating"), reviews),
        feedback_count=reviews,
    )


def _variants(raw: Mapping[str, Any], state: State) -> Iterator[Variant]:
    names = dict(_choices(raw))
    for key, entry in mapping(raw.get("variantsMap")).items():
        form = mapping(entry)
        amount, currency = prices.price(form.get("priceInfo"), state.currency)
        chosen = (names.get(str(choice)) for choice in sequence(form.get("variants")))
        if form:
            yield Variant.draft(
                id=ident(form.get("usItemId")),
                sku=ident(form.get("id")) or key,
                attributes=dict(pair for pair in chosen if pair),
                price=amount,
                currency=currency,
                availability=availability(form),
            )


def _choices(raw: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """What the ids of a variant's choices mean: ``actual_color-blue`` → Color, Blue."""
    for criterion in sequence(raw.get("variantCriteria")):
        label = text(dig(criterion, "name")) or text(dig(criterion, "id"))
        for choice in sequence(dig(criterion, "variantList")):
            number, name = text(dig(choice, "id")), text(dig(choice, "name"))
            if label and number and name:
                yield number, (label, name)


def _attributes(state: State) -> Iterator[tuple[str, str]]:
    for row in sequence(dig(state.data, "idml", "specifications")):
        name, value = text(dig(row, "name")), text_of(text(dig(row, "value")))
        if name and value:
            yield name, value


def _extra(state: State, raw: Mapping[str, Any]) -> dict[str, Any]:
    reviews = mapping(state.data.get("reviews"))
    legal, shown = text(raw.get("sellerName")), text(raw.get("sellerDisplayName"))
    group = count(reviews.get("totalReviewCount"))
    return kept({
        "primary_us_item_id": ident(raw.get("primaryUsItemId")),
        "offer_id": text(raw.get("offerId")),
        "model": text(raw.get("model")),
        "manufacturer_product_id": text(raw.get("manufacturerProductId")),
        "type": text(raw.get("type")),
        "seller_legal_name": legal if legal != shown else None,
        "seller_type": text(raw.get("sellerType")),
        "unit_price": prices.unit(raw.get("priceInfo")),
        "badges": badges(raw),
        "order_limit": count(raw.get("orderLimit")),
        "return_policy": text(dig(raw, "returnPolicy", "returnPolicyText")),
        "group_rating": rating(reviews.get("averageOverallRating"), group),
        "group_reviews_count": group,
        "replaced_by": ident(dig(raw, "redirect", "replacedByItemId")),
        "store_id": state.store,
        "postal_code": text(dig(raw, "location", "postalCode")),
        **state.visitor,
    })  # fmt: skip
