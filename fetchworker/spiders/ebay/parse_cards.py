"""The cards of a result page: which of them are hits, and what each says.

Two layouts live side by side: ``s-card`` (from 2025-07) and ``s-item`` (before); both list a card's facts as rows
without a class for each meaning, which are told apart by their words.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from fetchworker.items import SearchResult
from fetchworker.reading.dates import day
from fetchworker.reading.money import Money, amounts
from fetchworker.spiders.ebay import contract, words
from fetchworker.spiders.ebay.nodes import each, first, shown
from fetchworker.spiders.reading import addresses
from fetchworker.spiders.reading.counts import count, first_count
from fetchworker.spiders.reading.values import link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.reading.elements import Node

#: ends the hits for all words; a ``div`` before the list when there is none
BOUNDARY = "srp-river-answer--REWRITE_START"
_ITEM_PATH = re.compile(r"/itm/(?:[^/?#]{1,200}/)?(?P<id>\d{6,15})(?:[/?#]|$)")
_HEX_ID = re.compile(r"item(?P<hex>[0-9a-f]{8,13})\Z")
_TICKET = re.compile(r"tkp[:\s](?P<code>[A-Za-z0-9+/_-]{4,400})")
#: a seller's row: ``name 98.7% positive (59.8K)`` (s-card), ``name (2,834) 100%`` (s-item, s-card in 2025)
_SELLER = re.compile(
    r"(?P<name>\S{1,64})\s+(?:(?P<share>[\d.,]{1,5})\s?%\s[^()%]{1,40}\((?P<count>[^()]{1,12})\)"
    r"|\((?P<count2>[^()]{1,12})\)\s+(?P<share2>[\d.,]{1,5})\s?%)"
)
_STARS = re.compile(r"\d[.,]\d|\d")
_SUBTITLE_MARKS = " ·|•"
_TIMES = ".s-card__time-left, .s-item__time-left"
_STRUCK = ".strikethrough, .STRIKETHROUGH, s, strike, del"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a layout keeps what, as CSS queries."""

    title: str
    price: str
    rows: str
    subtitle: str
    condition: str
    caption: str
    reviews: str
    reviews_count: str
    time_left: str
    time_end: str


CARD = Layout(
    ".s-card__title", ".s-card__price", ".s-card__attribute-row", ".s-card__subtitle", ".su-styled-text",
    ".s-card__caption", ".s-card__reviews .clipped, .x-star-rating .clipped", ".s-card__reviews-count",
    _TIMES, ".s-card__time-end, .s-item__time-end",
)  # fmt: skip
ITEM = Layout(
    ".s-item__title", ".s-item__price",
    ".s-item__detail, .s-item__seller-info-text", ".s-item__subtitle", ".SECONDARY_INFO",
    ".s-item__caption, .s-item__title--tag, .s-item__title--tagblock, .s-item__ended-date",
    ".s-item__reviews .clipped, .x-star-rating .clipped", ".s-item__reviews-count", ".s-item__time-left",
    ".s-item__time-end",
)  # fmt: skip
#: rows of ``s-item`` cards from before the details were wrapped
_LOOSE_ROWS = ", ".join(
    f".s-item__{name}"
    for name in ("bids", "purchase-options", "purchaseOptions", "purchase-options-with-icon", "shipping",
                 "logisticsCost", "location", "itemLocation", "hotness", "seller-info-text")
)  # fmt: skip


@dataclass(slots=True)
class _Facts:
    """What a card's rows say."""

    values: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    buy_now: bool = False
    offer: bool = False
    auction: bool = False

    def listing_type(self) -> str | None:
        """How the listing is sold; an auction may take offers, and is one all the same."""
        if self.auction:
            return "both" if self.buy_now else "auction"
        return "fixed" if self.buy_now or self.offer else None


def hits(page: Node) -> Iterator[tuple[Node, bool]]:
    """The listings of a result page in their order, each with whether it stands before the boundary.

    Carousels between the cards hold cards too: only the list's own children count.
    """
    exact = True
    for node in page.css(f".{BOUNDARY}, ul.srp-results > li"):
        names = node.classes()
        if BOUNDARY in names:
            exact = False
        elif names & {"s-card", "s-item"} and item_id(node) not in (None, contract.PLACEHOLDER_ID):
            yield node, exact


def item_id(card: Node) -> str | None:
    """A card's listing: by its attribute, its link, or the hexadecimal id of its element."""
    told = card.value("data-listingid")
    if told.isascii() and told.isdigit():
        return told
    for href in card.values("a", "href"):
        path = _ITEM_PATH.search(href)
        if path:
            return path["id"]
    coded = _HEX_ID.match(card.value("id"))
    return str(int(coded["hex"], 16)) if coded else None


def result(card: Node, position: int, *, exact: bool, domain: str, dollar: str | None) -> SearchResult:
    """What a card says; ``dollar`` is what a bare ``$`` means on its page."""
    layout = CARD if "s-card" in card.classes() else ITEM
    query = addresses.query(next((href for href in card.values("a", "href") if "/itm/" in href), None))
    number, facts = item_id(card) or "", _rows(card, layout, dollar)
    ended, caption = _captions(card, layout)
    variation = query.get("var", "")
    condition = _condition(card, layout)
    return SearchResult.draft(
        **{**_prices(card, layout, dollar), **facts.values},
        position=position,
        exact=exact,
        id=number,
        name=first(card, layout.title),
        url=contract.item_url(domain, number, variation if variation.strip("0") else None),
        condition=condition,
        image_url=_image(card),
        rating=_rating(card, layout),
        reviews_count=first_count(first(card, layout.reviews_count)),
        sponsored=sponsored(query.get("itmprp", "")),
        listing_type=facts.listing_type(),
        sold_at=ended.get("sold_at"),
        extra=_told(
            **facts.extra,
            epid=query.get("epid"),
            ended_at=ended.get("ended_at"),
            caption=caption,
            subtitle=_subtitle(card, layout, condition),
            time_left=first(card, layout.time_left),
            time_end=first(card, layout.time_end),
        ),
    )


def _told(**values: Any) -> dict[str, Any]:
    """What is known of these."""
    return {name: value for name, value in values.items() if value not in (None, [], "")}


def sponsored(ticket: str) -> bool | None:
    """Whether a card was paid for, by its link's ``itmprp``; the word on the page is on every card, mostly hidden."""
    code = _TICKET.search(ticket)
    if code is None:
        return None
    padded = code["code"].replace("-", "+").replace("_", "/")[: len(code["code"]) // 4 * 4]
    try:
        told = base64.b64decode(padded)
    except (binascii.Error, ValueError):
        return None
    # a length (doubled) stands before each name
    if told.startswith(b"\x06ORG"):
        return False
    return True if told[1:3] == b"PL" else None


def _prices(card: Node, layout: Layout, dollar: str | None) -> dict[str, Any]:
    """The price, or its range; a price that is struck through alone was not paid (``Best offer accepted``)."""
    shown_prices = card.css(layout.price)
    struck = [amount for text in each(shown_prices, _STRUCK) for amount in amounts(text, dollar=dollar)]
    told = amounts(" ".join(text for node in shown_prices if (text := shown(node))), dollar=dollar)
    found = [amount for amount in told if amount not in struck]
    former = struck or [amount for text in _former(card, layout) for amount in amounts(text, dollar=dollar)]
    values: dict[str, Any] = {"list_price": former[0].value if former else None}
    if found or former:
        values["currency"] = (found or former)[0].currency
    if len(found) > 1 and found[0].currency == found[1].currency and found[0] != found[1]:
        values |= {"price_min": found[0].value, "price_max": found[1].value}
    elif found:
        values["price"] = found[0].value
    return values


def _former(card: Node, layout: Layout) -> Iterator[str]:
    """Texts of former prices: struck through, or in a row that says so."""
    for node in card.css(_STRUCK):
        text = shown(node)
        if text:
            yield text
    for text in each(card, f"{layout.rows}, .s-item__trending-price, .s-item__discount"):
        if words.LIST_PRICE.search(text):
            yield text


def _rows(card: Node, layout: Layout, dollar: str | None) -> _Facts:
    facts = _Facts()
    loose = layout is ITEM and not card.css(".s-item__detail")
    for node in card.css(_LOOSE_ROWS if loose else layout.rows):
        text = shown(node)
        if text:
            _row(text, facts, dollar, bids=_bids(node, text))
    if layout is ITEM:
        _by_class(card, facts, dollar)
    return facts


def _bids(row: Node, text: str) -> int | None:
    """The bids that a row counts: by its word, or as the number before the time left."""
    told = words.BIDS.match(text)
    if told is None and row.css(_TIMES):
        before = next((node for node in islice(row.children(), 1) if "__time" not in node.value("class")), None)
        number = shown(before) or ""
        return first_count(number) if number[:1].isdigit() else None
    return first_count(told["count"]) if told else None


def _row(text: str, facts: _Facts, dollar: str | None, *, bids: int | None) -> None:
    values, extra = facts.values, facts.extra
    seller = _SELLER.match(text)
    if bids is not None:
        facts.auction = True
        values.setdefault("bids", bids)
    elif seller and "seller" not in values:
        values["seller"] = seller["name"]
        extra["seller_rating"] = _share(seller["share"] or seller["share2"])
        extra["seller_feedback_count"] = count(seller["count"] or seller["count2"])
    elif words.FIXED.search(text):
        facts.buy_now = True
    elif words.OFFER_ACCEPTED.search(text):
        facts.offer = extra["best_offer_accepted"] = True
    elif words.BEST_OFFER.search(text):
        facts.offer = extra["best_offer"] = True
    elif "shipping" not in values and is_shipping(text):
        values |= shipping(text, dollar)
    else:
        _counted(text, facts)


def _by_class(card: Node, facts: _Facts, dollar: str | None) -> None:
    """What ``s-item`` cards say by their classes, for languages whose words are not known."""
    values = facts.values
    cost, place = first(card, ".s-item__shipping", ".s-item__logisticsCost"), first(card, ".s-item__location")
    bids = first(card, ".s-item__bids")
    if cost and "shipping" not in values:
        values |= shipping(cost, dollar)
    if place:
        values.setdefault("location", place)
    if bids:
        facts.auction = True
        values.setdefault("bids", first_count(bids))
    facts.buy_now = facts.buy_now or (not facts.offer and bool(card.css("[class*=s-item__purchase]")))


def _counted(text: str, facts: _Facts) -> None:
    sold, watchers, place = words.SOLD_COUNT.search(text), words.WATCHERS.search(text), words.LOCATION.match(text)
    if sold:
        facts.values.setdefault("sold_count", first_count(sold["count"]))
    elif watchers:
        facts.extra.setdefault("watchers", first_count(watchers["count"]))
    elif place:
        facts.values.setdefault("location", place["place"].strip())


def is_shipping(text: str) -> bool:
    """Whether a text tells what shipping costs."""
    named = words.SHIPPING.search(text) is not None and words.RETURN.search(text) is None
    if named and words.FREE.search(text):
        return True
    return (named or text.startswith("+")) and bool(amounts(text))


def shipping(text: str, dollar: str | None) -> dict[str, Any]:
    """What shipping costs, as the site says it and as an amount."""
    cost: Money | None = next(iter(amounts(text, dollar=dollar)), None)
    free = cost is None and words.FREE.search(text) is not None
    return {
        "shipping": text,
        "shipping_price": cost.value if cost else "0" if free else None,
        "shipping_currency": cost.currency if cost else None,
    }


def _captions(card: Node, layout: Layout) -> tuple[dict[str, str], str | None]:
    """The day that a card says its listing was sold or ended on, and what else it is headed with."""
    captions = [(caption, day(caption)) for caption in each(card, layout.caption)]
    other = next((caption for caption, when in captions if when is None), None)
    for caption, when in captions:
        if when is not None:
            ended = words.ENDED.search(caption) and not words.SOLD.search(caption)
            return {"ended_at" if ended else "sold_at": when}, other
    return {}, other


def _condition(card: Node, layout: Layout) -> str | None:
    """The condition stands first in the last line under the title; a seller's own words may stand before it."""
    for line in reversed(card.css(layout.subtitle)):
        text = next(each(line, layout.condition), None)
        if text:
            return text.strip(_SUBTITLE_MARKS)
    return None


def _subtitle(card: Node, layout: Layout, condition: str | None) -> list[str]:
    """What else stands under the title."""
    lines = [text for line in each(card, layout.subtitle) for text in re.split(r"\s[·|•]\s", line)]
    cleaned = (text.strip(_SUBTITLE_MARKS) for text in lines)
    return [text for text in cleaned if text and text != condition]


def _rating(card: Node, layout: Layout) -> float | None:
    stars = _STARS.search(" ".join(piece for node in card.css(layout.reviews) for piece in node.texts()))
    return float(stars[0].replace(",", ".")) if stars else None


def _share(text: str | None) -> float | None:
    share = words.POSITIVE.match(f"{text}%") if text else None
    return float(share["share"].replace(",", ".")) if share else None


def _image(card: Node) -> str | None:
    """The card's picture in the larger of the two sizes given; waiting pictures are none."""
    for image in card.css("img"):
        for name in ("data-defer-load", "data-src", "src"):
            address = link(image.value(name))
            if address and addresses.host(address).endswith("ebayimg.com"):
                return address
    return None
