"""Prices: numbers of products, texts of cards (pure). A price of 0 means that nobody offers the thing."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fetchworker.reading import money
from fetchworker.spiders.reading.values import dig, mapping, text


def number(value: Any) -> str | None:
    """A price as a decimal string with its cents."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:  # noqa: PLR2004  # beyond any price, and no infinity
        return None
    exact = Decimal(repr(value))
    cents = exact.quantize(Decimal("0.01"))
    return format(cents if cents == exact else exact, "f")


def shown(value: Any, currency: str | None) -> str | None:
    """The first amount in a text such as ``Now $4.07``."""
    found = amounts(value, currency)
    return found[0] if found else None


def amounts(value: Any, currency: str | None) -> list[str]:
    """All amounts of a text but zeros."""
    told = money.amounts(text(value), dollar=currency)
    return [amount.value for amount in told if Decimal(amount.value) > 0]


def price(info: Any, currency: str | None) -> tuple[str | None, str | None]:
    """The amount and the currency of a ``priceInfo``."""
    info = mapping(info)
    current = mapping(info.get("currentPrice"))
    own = text(current.get("currencyUnit"))
    code = own if own in money.CODES else currency
    told = (number(current.get("price")), shown(current.get("priceString"), code),
            shown(info.get("linePrice"), code), shown(info.get("linePriceDisplay"), code))  # fmt: skip
    found = next((amount for amount in told if amount), None)
    return found, code if found else None


def former(info: Any, currency: str | None) -> str | None:
    """What the thing cost before, or its list price."""
    for key in ("wasPrice", "listPrice"):
        told = dig(info, key)
        found = number(dig(told, "price")) or shown(dig(told, "priceString"), currency) or shown(told, currency)
        if found:
            return found
    return None


def span(info: Any, currency: str | None) -> tuple[str | None, str | None]:
    """The lowest and the highest price of the variants; a text with one amount speaks of other sellers' offers."""
    told = amounts(dig(info, "priceRangeString"), currency)
    if len(told) == 2:  # noqa: PLR2004  # "Options from $2.00 – $3.00"
        return told[0], told[1]
    low, high = number(dig(info, "priceRange", "minPrice")), number(dig(info, "priceRange", "maxPrice"))
    return (low, high) if low and high else (None, None)


def unit(info: Any) -> str | None:
    """The price of a measure, in the site's words."""
    told = dig(info, "unitPrice")
    return text(told) or text(dig(told, "priceString"))
