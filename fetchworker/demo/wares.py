"""Invented shops and what they sell, the same for the same seed. None of them exists."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Literal

#: the demo's today
TODAY = date(2026, 11, 1)
_FIRST_NUMBER = 226_000_000_000
_GLAZES = ("blue", "green", "ochre", "white", "celadon", "tenmoku")
_ADJECTIVES = ("small", "large", "hand thrown", "salt fired", "ribbed", "footed")
#: how many of each are for sale, and how many were sold
_STOCK = {"vase": (150, 70), "teapot": (75, 20), "kiln": (12, 4)}
_PLACES = ("Portugal", "Norway", "Japan", "Ireland", "Chile")
_CONDITIONS = ("New", "Used", "Used", "Open box")
_NAMES = ("kiln_house", "ana-pots84", "wheel.and.ash", "slip*ware", "north_clay")
_PRAISE = ("Lovely glaze", "Heavier than it looks", "Holds water", "Arrived in one piece")
#: every so many-th listing is an auction, has a list price, variations, was paid for
_EVERY_AUCTION, _EVERY_REDUCED, _EVERY_VARIED, _EVERY_PROMOTED = 5, 4, 10, 7

ListingType = Literal["auction", "fixed", "both"]


@dataclass(frozen=True, slots=True)
class Shop:
    """Who sells."""

    name: str
    title: str
    place: str
    feedback: int
    positive: float
    sold: int
    followers: int


@dataclass(frozen=True, slots=True)
class Form:
    """A variation; ``price`` in cents."""

    number: str
    attributes: tuple[tuple[str, str], ...]
    price: int
    in_stock: bool


@dataclass(frozen=True, slots=True)
class Ware:
    """A listing; money in cents."""

    number: str
    title: str
    category: str
    price: int
    list_price: int | None
    shipping: int
    condition: str
    type: ListingType
    bids: int
    ends: datetime | None
    sold: date | None
    sold_count: int
    promoted: bool
    shop: Shop
    forms: tuple[Form, ...]
    praise: tuple[tuple[str, int, date], ...]


@dataclass(frozen=True)
class Market:
    """Everything there is."""

    shops: tuple[Shop, ...]
    wares: tuple[Ware, ...]

    @cached_property
    def by_number(self) -> dict[str, Ware]:
        """Listings by their number."""
        return {ware.number: ware for ware in self.wares}

    @cached_property
    def by_shop(self) -> dict[str, Shop]:
        """Shops by the name of their account."""
        return {shop.name: shop for shop in self.shops}

    def search(self, words: str, *, some: bool = False) -> list[Ware]:
        """Listings whose title has all the words, or some of them."""
        wanted = words.casefold().split()
        match = any if some else all
        return [ware for ware in self.wares if match(word in ware.title.casefold().split() for word in wanted)]


def make_market(seed: int = 0) -> Market:
    """Invent a market."""
    dice = random.Random(f"market-{seed}")  # noqa: S311 - nothing secret
    shops = tuple(_shop(name, dice) for name in _NAMES)
    wares: list[Ware] = []
    for category, (running, sold) in _STOCK.items():
        for number in range(running + sold):
            wares.append(_ware(len(wares), category, shops, dice, sold=number >= running))
    return Market(shops, tuple(wares))


def _shop(name: str, dice: random.Random) -> Shop:
    title = " ".join(
        part.capitalize() for part in name.replace("*", "_").replace("-", "_").replace(".", "_").split("_")
    )
    return Shop(name, title, dice.choice(_PLACES), dice.randint(3, 90_000), round(dice.uniform(96, 100), 1),
                dice.randint(10, 120_000), dice.randint(0, 15_000))  # fmt: skip


def _ware(place: int, category: str, shops: tuple[Shop, ...], dice: random.Random, *, sold: bool) -> Ware:
    number = str(_FIRST_NUMBER + place * 7919)
    auction = place % _EVERY_AUCTION == 0
    price = dice.randint(400, 250_000)
    varied = not auction and not sold and place % _EVERY_VARIED == 1
    day = TODAY - timedelta(days=dice.randint(1, 80))
    return Ware(
        number=number,
        title=f"{dice.choice(_ADJECTIVES)} {dice.choice(_GLAZES)} {category} no {place + 1}".capitalize(),
        category=f"{category.capitalize()}s",
        price=price,
        list_price=price + price // 3 if place % _EVERY_REDUCED == 1 and not auction else None,
        shipping=dice.choice((0, 495, 1250)),
        condition=dice.choice(_CONDITIONS),
        type=("both" if place % (2 * _EVERY_AUCTION) == 0 else "auction") if auction else "fixed",
        bids=dice.randint(0, 30) if auction else 0,
        ends=datetime(2026, 11, 2, tzinfo=UTC) + timedelta(hours=place) if auction and not sold else None,
        sold=day if sold else None,
        sold_count=0 if auction or sold else dice.randint(0, 2_500),
        promoted=place % _EVERY_PROMOTED == 0 and not sold,
        shop=dice.choice(shops),
        forms=tuple(_forms(number, price)) if varied else (),
        praise=tuple(
            (word, dice.randint(3, 5), day) for word in dice.sample(_PRAISE, dice.randint(0, 3))
        ),
    )  # fmt: skip


def _forms(number: str, price: int) -> list[Form]:
    kinds = [(glaze, size) for glaze in _GLAZES[:2] for size in ("S", "L")]
    return [
        Form(f"{int(number) + 400_000_000_000 + place}", (("Glaze", glaze.capitalize()), ("Size", size)),
             price + (size == "L") * 500, in_stock=place != 1)
        for place, (glaze, size) in enumerate(kinds)
    ]  # fmt: skip
