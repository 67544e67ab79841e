"""What cards and products share (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.spiders.reading.values import dig, mapping, sequence, text
from fetchworker.spiders.walmart import contract

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: tuple[Any, ...] = (None, "", [], {})
_HIGHEST_RATING = 5


def kept(told: Mapping[str, Any]) -> dict[str, Any]:
    """What says something."""
    return {name: value for name, value in told.items() if value not in _NOTHING}


def availability(product: Mapping[str, Any]) -> str | None:
    """Whether it can be had; ``unknown`` for a word that is not known."""
    told = text(dig(product, "availabilityStatusV2", "value")) or text(product.get("availabilityStatus"))
    if told and dig(product, "preOrder", "isPreOrder") is True:
        return "preorder"
    return contract.AVAILABILITY.get(told, "unknown") if told else None


def rating(value: Any, reviews: int | None) -> float | None:
    """Stars; without a review there are none, whatever the number says."""
    if isinstance(value, bool) or not isinstance(value, int | float) or reviews == 0:
        return None
    return float(value) if 0 < value <= _HIGHEST_RATING else None


def badges(product: Mapping[str, Any]) -> list[str]:
    """The texts of the labels on a thing, such as ``Best seller``."""
    flags = (text(mapping(flag).get("text")) for flag in sequence(dig(product, "badges", "flags")))
    return [told for told in flags if told]
