"""A listing: what it is, as its page says it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.items import Product
from fetchworker.spiders.ebay import contract, parse_offer, parse_variants, words
from fetchworker.spiders.ebay.listing import Listing, number_of
from fetchworker.spiders.ebay.nodes import each, first
from fetchworker.spiders.reading import addresses, html
from fetchworker.spiders.reading.counts import count
from fetchworker.spiders.reading.values import dig, link, mapping, measure, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GTINS = ("gtin13", "gtin12", "gtin14", "gtin8", "gtin", "isbn")
_UNCLIPPED = ".//text()[not(ancestor::*[@class='clipped'])]"
_PICTURE = re.compile(r"/g/(?P<id>[^/]{1,40})/")


def product(listing: Listing) -> Product:
    """The listing.

    Raises:
        ContractError: the page is no listing.
    """
    number, title = number_of(listing), _title(listing)
    if title is None:
        raise ContractError("h1.x-item-title__mainTitle | Product.name")
    ld = listing.product_ld
    variants = parse_variants.variants(listing.source, listing.dollar)
    prices = parse_offer.prices(listing)
    rating = mapping(ld.get("aggregateRating"))
    values = {
        **prices,
        **parse_offer.shipping(listing),
        **parse_offer.selling(listing),
        "price_min": prices.get("price_min") or parse_variants.lowest(variants, prices.get("currency")),
        "price_max": prices.get("price_max") or parse_variants.highest(variants, prices.get("currency")),
    }
    return Product.draft(
        id=number,
        sku=text(ld.get("sku")),
        gtin=_gtin(listing),
        name=title,
        brand=_brand(listing),
        availability=parse_offer.availability(listing),
        condition=parse_offer.condition(listing),
        description=html.squeezed(text(ld.get("description"))),
        images=_images(listing),
        category_path=_categories(listing),
        rating=_float(rating.get("ratingValue")),
        reviews_count=count(str(rating.get("reviewCount") or rating.get("ratingCount") or "")),
        seller=parse_offer.seller(listing),
        variants=variants,
        attributes=listing.attributes,
        url=contract.item_url(listing.domain, number),
        extra=_extra(listing, ld),
        **values,
    )


def _title(listing: Listing) -> str | None:
    for query in (".x-item-title__mainTitle .ux-textspans--BOLD", ".x-item-title__mainTitle", "#itemTitle"):
        told = "".join(piece for node in listing.page.css(query) for piece in node.root.xpath(_UNCLIPPED))
        if html.squeezed(told):
            return html.squeezed(told)
    return html.squeezed(text(listing.product_ld.get("name")))


def _images(listing: Listing) -> list[str]:
    """Each picture once, in its largest form."""
    found: dict[str, str] = {}
    for address in _addresses(listing):
        found.setdefault(_picture(address), address)
    return list(found.values())


def _addresses(listing: Listing) -> Iterator[str]:
    """Addresses of pictures, larger forms before smaller ones."""
    told = [
        link(dig(medium, "image", size, "URL"))
        for medium in sequence(listing.module("PICTURE").get("mediaList"))
        for size in ("zoomImg", "originalImg")
    ]
    images = listing.page.css(".ux-image-carousel img")
    told += [link(image.value(name)) for image in images for name in ("data-zoom-src", "data-src", "src")]
    ld = listing.product_ld.get("image")
    told += [link(address) for address in (ld if isinstance(ld, list) else [ld])]
    return (address for address in told if address and addresses.host(address).endswith("ebayimg.com"))


def _picture(address: str) -> str:
    match = _PICTURE.search(address)
    return match["id"] if match else address


def _categories(listing: Listing) -> list[str]:
    """From the widest category to the listing's own; the shop itself is none."""
    entries = sequence(listing.breadcrumbs.get("itemListElement"))
    names = [html.squeezed(text(dig(entry, "name")) or text(dig(entry, "item", "name"))) for entry in entries]
    found = [name for name in names if name and name.lower() != "ebay"]
    return found or list(dict.fromkeys(each(listing.page, ".seo-breadcrumb-text")))


def _brand(listing: Listing) -> str | None:
    told = listing.product_ld.get("brand")
    return text(told) or text(dig(told, "name")) or _attribute(listing, words.BRAND)


def _gtin(listing: Listing) -> str | None:
    told = [text(listing.product_ld.get(name)) for name in _GTINS] + [_attribute(listing, words.GTIN)]
    return next((number for number in told if number and re.fullmatch(r"\d{8,14}", number)), None)


def _attribute(listing: Listing, label: re.Pattern[str]) -> str | None:
    return next((value for name, value in listing.attributes.items() if label.search(name)), None)


def _extra(listing: Listing, ld: Mapping[str, Any]) -> dict[str, Any]:
    frame = link(listing.page.first_value("iframe#desc_ifr", "src"))
    told = {
        "mpn": text(ld.get("mpn")) or _attribute(listing, words.PART_NUMBER),
        "description_url": frame,
        "category_id": addresses.query(frame).get("category"),
        "buy_now_price": parse_offer.buy_now_price(listing),
        "status_message": first(listing.page, ".d-statusmessage"),
        "time_left": first(listing.page, ".ux-timer__text", ".ux-timer"),
        "quantity": first(listing.page, ".x-quantity__availability", ".d-quantity__availability"),
        "item_condition": text(listing.offer.get("itemCondition")),
    }
    return {name: value for name, value in told.items() if value}


def _float(value: Any) -> float | None:
    try:
        return measure(float(str(value).replace(",", ".")))
    except ValueError:
        return None
