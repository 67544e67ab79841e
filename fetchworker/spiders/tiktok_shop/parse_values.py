"""Values that both generations of the shop's objects write alike (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.reading import money
from fetchworker.spiders.reading.html import parsed
from fetchworker.spiders.reading.values import count, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fetchworker.items import Variant
    from fetchworker.reading.money import Money

_MASKED = re.compile(r"[*\s]+\Z")
_NUMBER = re.compile(r"\d[\d.,'\u2019 \u00a0\u202f]{0,30}\Z")


def shown(value: Any) -> str | None:
    """Text; what is all asterisks is no text."""
    found = text(value)
    return None if found is None or _MASKED.match(found) else found.strip()


def price(value: Any, currency: Any) -> Money | None:
    """An amount: a decimal of the site's (``24.17``), or a number as a locale writes it (``12.500`` dong)."""
    code = currency.upper() if isinstance(currency, str) else ""
    if not isinstance(value, str) or code not in money.CODES:
        return money.money(value, currency)
    found = money.decimal(value.strip(), code) if _NUMBER.match(value.strip()) else None
    return money.Money(found, code) if found is not None else None


def rating(value: Any, reviews: int | None) -> float | None:
    """Stars; of a product that nobody has judged there are none, though the site writes 0."""
    try:
        found = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else 0.0
    except ValueError:
        return None
    return found if 0 < found <= 5 and reviews != 0 else None  # noqa: PLR2004  # stars


def picture(value: Any) -> str | None:
    """The first address of a picture."""
    if isinstance(value, str):
        return link(value)
    return next((found for entry in sequence(mapping(value).get("url_list")) if (found := link(entry))), None)


def pictures(value: Any) -> list[str]:
    """The pictures of a list, each once."""
    return list(dict.fromkeys(found for entry in sequence(value) if (found := picture(entry))))


def blocks(value: Any) -> str | None:
    """The text of a description, which the site writes as a JSON text of blocks (texts, pictures, lists)."""
    found = text(value)
    if found is None or not found.lstrip().startswith("["):
        return found
    told = [_block(mapping(block)) for block in sequence(parsed(found))]
    return "\n".join(part for part in told if part) or None


def _block(block: Mapping[str, Any]) -> str | None:
    if block.get("type") == "ul":
        return "\n".join(found for entry in sequence(block.get("content")) if (found := text(entry)))
    return text(block.get("text"))


def stock(value: Any) -> str | None:
    """Availability by the number of pieces."""
    pieces = count(value)
    return None if pieces is None else "in_stock" if pieces else "out_of_stock"


def availability(variants: Iterable[Variant]) -> str | None:
    """That of a product: in stock when one of its forms is."""
    told = {variant.availability for variant in variants} - {None}
    return next((word for word in ("in_stock", "preorder", "out_of_stock") if word in told), None)


def span(variants: Iterable[Variant]) -> tuple[str | None, str | None]:
    """The lowest and the highest price of the forms."""
    amounts = sorted((found for variant in variants if (found := variant.price)), key=float)
    return (amounts[0], amounts[-1]) if amounts else (None, None)
