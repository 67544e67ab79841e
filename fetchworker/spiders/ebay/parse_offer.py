"""What a listing asks: price, shipping, how it is sold and by whom.

The page's own texts come first: its JSON-LD may hold the converted price.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Seller
from fetchworker.reading.dates import utc
from fetchworker.reading.money import Money, amounts, money
from fetchworker.spiders.ebay import contract, words
from fetchworker.spiders.ebay.listing import spans
from fetchworker.spiders.ebay.nodes import each, first, shown, within
from fetchworker.spiders.ebay.parse_cards import shipping as shipping_cost
from fetchworker.spiders.ebay.parse_seller import username_in
from fetchworker.spiders.reading import addresses, html
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import dig, link, mapping, sequence, text

if TYPE_CHECKING:
    from fetchworker.spiders.ebay.listing import Listing
    from fetchworker.spiders.reading.elements import Node

_AVAILABILITY = {
    "instock": "in_stock", "limitedavailability": "in_stock", "onlineonly": "in_stock", "instoreonly": "in_stock",
    "outofstock": "out_of_stock", "soldout": "out_of_stock", "preorder": "preorder", "presale": "preorder",
    "discontinued": "ended",
}  # fmt: skip
_PARENTHESES = re.compile(r"\((?P<count>[\d.,]{1,12}\s?[KMB]?)\)")


def prices(listing: Listing) -> dict[str, Any]:
    """Price in the seller's currency, what the page makes of it in the visitor's, and a former price."""
    modelled, converted = _modelled(listing)
    told = money(listing.offer.get("price", listing.offer.get("lowPrice")), listing.offer.get("priceCurrency"))
    asked = _shown_amounts(listing, ".x-price-primary") or [found for found in (modelled, told) if found][:1]
    converted = next(iter(_shown_amounts(listing, ".x-price-approx__price", ".x-price-approx")), converted) or told
    values: dict[str, Any] = {"currency": asked[0].currency if asked else None, "list_price": _former(listing)}
    if len(asked) > 1 and asked[0].currency == asked[1].currency and asked[0] != asked[1]:
        values |= {"price_min": asked[0].value, "price_max": asked[1].value}
    elif asked:
        values["price"] = asked[0].value
    if converted and asked and converted.currency != asked[0].currency:
        values |= {"converted_price": converted.value, "converted_currency": converted.currency}
    return values


def _shown_amounts(listing: Listing, *queries: str) -> list[Money]:
    """The amounts that an element shows; those in brackets are prices for a unit (``EUR 24,00/kg``)."""
    return amounts(re.sub(r"\([^()]{0,80}\)", "", first(listing.page, *queries) or ""), dollar=listing.dollar)


def _modelled(listing: Listing) -> tuple[Money | None, Money | None]:
    """Asked and converted price of the buy box's own data; a price that was not converted is the asked one."""
    for model in ("binModel", "bidModel"):
        value = mapping(dig(listing.buy_box, model, "price", "value"))
        asked = money(value.get("convertedFromValue"), value.get("convertedFromCurrency"))
        price = money(value.get("value"), value.get("currency"))
        if price:
            return (asked, price) if asked else (price, None)
    return None, None


def _former(listing: Listing) -> str | None:
    struck = each(
        within(listing.page, ".x-price-section, .x-bin-price, .x-additional-info"), ".ux-textspans--STRIKETHROUGH"
    )
    return next((amount.value for text in struck for amount in amounts(text, dollar=listing.dollar)), None)


def shipping(listing: Listing) -> dict[str, Any]:
    """What shipping costs and where the item is."""
    row = listing.page.css(".ux-labels-values--shipping .ux-labels-values__values-content > div")
    told = _sentence(row[0]) if row else None
    place = first(listing.page, ".ux-labels-values--itemLocation .ux-labels-values__values")
    if place is None:
        rows = each(listing.page, ".ux-labels-values--shipping .ux-textspans, .d-shipping-minview .ux-textspans")
        place = next((found["place"] for text in rows if (found := words.LABELLED_LOCATION.match(text))), None)
    modelled = next(html.keyed(listing.source, "itemLocation"), None)
    if place is None and isinstance(modelled, dict):
        place = spans(dig(modelled, "values", 0))
    return {**(shipping_cost(told, listing.dollar) if told else {}), "location": place}


def _sentence(row: Node) -> str | None:
    """The row's own words, without links, buttons and hints."""
    spans = [shown(span) for span in row.css(".ux-textspans") if not span.inside("button", "a")]
    return html.squeezed(" ".join(part for part in spans if part).removesuffix(" .")) or shown(row)


def selling(listing: Listing) -> dict[str, Any]:
    page = listing.page
    bids = first(page, ".x-bid-count", '[data-testid="x-bid-count"]')
    quantity = " ".join(each(page, ".x-quantity__availability, .d-quantity__availability, #qtyAvailability"))
    sold = words.SOLD_COUNT.search(quantity)
    kind = _listing_type(listing, bids=bids is not None)
    timed = html.keyed(listing.source, "endTime") if kind in ("auction", "both") else ()
    ends = (utc(dig(value, "value")) for value in timed)
    return {
        "listing_type": kind,
        "bids": first_count(bids),
        "sold_count": first_count(sold["count"]) if sold else None,
        "ends_at": next((end for end in ends if end), None),
    }


def _listing_type(listing: Listing, *, bids: bool) -> str | None:
    auction = bids or bool(listing.page.css(".x-bid-price, .x-bid-action") or listing.buy_box.get("bidModel"))
    fixed = bool(listing.page.css(".x-bin-price, .x-bin-action, .x-atc-action") or listing.buy_box.get("binModel"))
    return {(True, True): "both", (True, False): "auction", (False, True): "fixed"}.get((auction, fixed))


def availability(listing: Listing) -> str | None:
    note = " ".join(each(listing.page, ".d-statusmessage, [data-testid=d-statusmessage]"))
    if words.OVER.search(note):
        return "ended"
    word = str(listing.offer.get("availability") or "").rpartition("/")[2].lower()
    return _AVAILABILITY.get(word)


def condition(listing: Listing) -> str | None:
    shown_condition = first(listing.page, ".x-item-condition-text .ux-textspans", ".x-item-condition-text")
    return shown_condition or spans(dig(listing.module("CONDITION"), "displayValue", "text"))


def seller(listing: Listing) -> Seller | None:
    """Who sells. The name shown may be a shop's; the id is the account's."""
    card = listing.page.css(".x-sellercard-atf")
    info = within(card, ".x-sellercard-atf__info__about-seller") or card
    module = next(iter(sequence(listing.module("SELLER_CARD_ATF").get("sections"))), None)
    name = first(info, "a .ux-textspans", "a") or spans(dig(module, "sellerName"))
    links = [address for node in info for address in node.values("a", "href")]
    address = link(next(iter(links), None)) or link(dig(module, "sellerName", "action", "URL"))
    frame = addresses.query(listing.page.first_value("iframe#desc_ifr", "src"))
    account = text(dig(module, "sellerName", "action", "params", "_ssn")) or frame.get("seller")
    account = account or (username_in(address) if address and "/str/" not in address else None)
    numbers = " ".join(piece for node in card for piece in node.texts())
    share, score = words.POSITIVE.search(numbers), _PARENTHESES.search(numbers)
    if not name and not account:
        return None
    return Seller.draft(
        id=account,
        name=name,
        url=_seller_address(address, account, listing.domain),
        rating=float(share["share"].replace(",", ".")) if share else None,
        feedback_count=first_count(score["count"]) if score else None,
    )


def _seller_address(address: str | None, account: str | None, domain: str) -> str | None:
    """A shop's own address, else that of the account."""
    own = address.partition("?")[0] if address and re.search(r"/(?:str|usr)/", address) else None
    return own or (contract.seller_url(domain, account) if account else None)


def buy_now_price(listing: Listing) -> dict[str, str | None] | None:
    """An auction's other price."""
    found = _shown_amounts(listing, ".x-bin-price .x-price-primary") if listing.page.css(".x-bid-price") else []
    return {"price": found[0].value, "currency": found[0].currency} if found else None
