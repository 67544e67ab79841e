"""A seller: the card above a seller's lists and on the seller's page (``.str-seller-card``).

No saved page of it was at hand: the places are those that several public scrapers read in 2023 to 2026.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from fetchworker.items import Profile
from fetchworker.reading.dates import day
from fetchworker.spiders.ebay import contract, words
from fetchworker.spiders.ebay.nodes import each, first, shown
from fetchworker.spiders.reading import addresses
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.reading.elements import Node

_NAME = re.compile(
    r"/(?:usr|str)/(?P<name>[^/?#]{1,80})|[?&]_ssn=(?P<ssn>[^&#]{1,80})|/sch/(?P<sch>[^/?#]{1,80})/m\.html"
)
_PARENTHESES = re.compile(r"\((?P<count>[\d.,]+\s?[KMB]?)\)")


def card(page: Node, domain: str, *, name: str | None) -> Profile | None:
    """The seller that a page introduces, None when it introduces none."""
    found = next(iter(page.css(".str-seller-card")), None)
    if found is None:
        return None
    links = found.values("a", "href")
    username = name or next((told for href in links if (told := username_in(href))), None)
    about = list(each(page, ".str-about-description__seller-info *"))
    return Profile.draft(
        id=username,
        username=username,
        name=first(found, ".str-seller-card__store-name h1", ".str-seller-card__store-name", "h1"),
        biography=first(page, ".str-about-description__text", ".str-billboard__description"),
        avatar_url=link(found.first_value("img", "src")) or link(page.first_value(".str-header__logo--img", "src")),
        location=_labelled(about, words.PLACE),
        url=contract.seller_url(domain, username) if username else None,
        extra=_since(about),
        **_numbers(found),
    )


def name_of(meta: Mapping[str, str], url: str | None) -> str | None:
    """The seller's name in the page's addresses."""
    addresses = (url, meta.get("canonical"), meta.get("og:url"))
    return next((name for address in addresses if (name := username_in(address))), None)


def username_in(url: str | None) -> str | None:
    """The seller's name in an address."""
    parts = addresses.split(url)
    match = _NAME.search(f"{parts.path}?{parts.query}")
    return unquote(next(filter(None, match.groups()))) if match else None


def _numbers(card: Node) -> dict[str, Any]:
    """Rating, feedback, sales and followers; each stands with its label in an element of its own."""
    values: dict[str, Any] = {}
    texts = list(each(card, ".str-seller-card__stats-content > *, .str-seller-card__stats > *"))
    for text in texts or [shown(card) or ""]:
        share, score = words.POSITIVE.search(text), _PARENTHESES.search(text)
        if share:
            values.setdefault("rating", float(share["share"].replace(",", ".")))
        if score:
            values.setdefault("feedback_count", first_count(score["count"]))
        if words.FOLLOWERS.search(text) and not share:
            values.setdefault("followers", first_count(text))
        elif words.SOLD.search(text) and not share:
            values.setdefault("sold_count", first_count(text))
    return values


def _labelled(texts: list[str], pattern: re.Pattern[str]) -> str | None:
    return next((match["place"].strip() for text in texts if (match := pattern.match(text))), None)


def _since(texts: list[str]) -> dict[str, Any]:
    since = next((text for text in texts if words.SINCE.search(text)), None)
    return {"member_since": day(since) or since} if since else {}
