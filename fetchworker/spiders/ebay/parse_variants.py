"""The variations of a listing, out of its scripts.

``MSKU`` (from 2022) joins three tables: ``selectMenus`` (the axes), ``menuItemMap`` (every choice of every axis in one
map, each with the variations it fits) and ``variationsMap`` (prices and stock). Before, ``itemVariationsMap`` held the
choices with each variation. The bare word MSKU is on pages without variations too.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fetchworker.items import Variant
from fetchworker.reading.money import Money, amount, money
from fetchworker.spiders.reading.html import keyed
from fetchworker.spiders.reading.values import dig, flag, ident, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def variants(source: str, dollar: str | None) -> list[Variant]:
    """The variations in the page's order, none for a listing without; ``dollar`` is what ``$`` means there."""
    modern = _table(source, "variationsMap")
    if modern:
        choices = _choices(source)
        return [_modern(number, mapping(raw), choices.get(number, {})) for number, raw in modern.items()]
    older = _table(source, "itemVariationsMap")
    names = _names(source) if older else {}
    return [_older(number, mapping(raw), names, dollar) for number, raw in older.items()]


def lowest(found: Sequence[Variant], currency: str | None) -> str | None:
    """The lowest of the variations' prices in a currency."""
    return min(_prices(found, currency), key=Decimal, default=None)


def highest(found: Sequence[Variant], currency: str | None) -> str | None:
    """The highest of the variations' prices in a currency."""
    return max(_prices(found, currency), key=Decimal, default=None)


def _prices(found: Sequence[Variant], currency: str | None) -> list[str]:
    return [variant.price for variant in found if variant.price and variant.currency == currency]


def _table(source: str, key: str) -> Mapping[str, Any]:
    return next((value for value in keyed(source, key) if isinstance(value, dict) and value), {})


def _axes(source: str) -> dict[str, str]:
    """Which axis (``Size``) a choice belongs to, by the choice's number."""
    menus = [menu for key in ("selectMenus", "menuModels") for value in keyed(source, key) for menu in sequence(value)]
    return {
        str(choice): label
        for menu in menus
        if (label := text(dig(menu, "displayLabel")) or text(dig(menu, "displayName")) or text(dig(menu, "name")))
        for choice in sequence(dig(menu, "menuItemValueIds"))
    }


def _choices(source: str) -> dict[str, dict[str, str]]:
    """The choices that make each variation."""
    axes, found = _axes(source), dict[str, dict[str, str]]()
    for key, choice in _table(source, "menuItemMap").items():
        name = text(dig(choice, "displayName")) or text(dig(choice, "valueName"))
        axis = axes.get(str(dig(choice, "valueId") if dig(choice, "valueId") is not None else key))
        for number in sequence(dig(choice, "matchingVariationIds")):
            if name and axis:
                found.setdefault(str(number), {})[axis] = name
    return found


def _modern(number: str, raw: Mapping[str, Any], attributes: dict[str, str]) -> Variant:
    value = mapping(dig(raw, "binModel", "price", "value"))
    price = money(value.get("convertedFromValue"), value.get("convertedFromCurrency"))
    price = price or money(value.get("value"), value.get("currency"))
    gone = flag(dig(raw, "quantity", "outOfStock"))
    gone = flag(raw.get("outOfStock")) if gone is None else gone
    return _variant(number, raw, attributes, price, gone)


def _names(source: str) -> dict[str, str]:
    """Names of the choices by their number."""
    table = _table(source, "menuItemMap")
    named = {key: text(dig(choice, "displayName")) or text(dig(choice, "valueName")) for key, choice in table.items()}
    return {key: name for key, name in named.items() if name}


def _older(number: str, raw: Mapping[str, Any], names: Mapping[str, str], dollar: str | None) -> Variant:
    traits = mapping(raw.get("traitValuesMap"))
    attributes = {axis: names.get(str(choice)) or text(choice) for axis, choice in traits.items()}
    value = mapping(raw.get("priceAmountValue"))
    price = money(value.get("value"), value.get("currency")) or amount(text(raw.get("price")), dollar=dollar)
    stocked = flag(raw.get("inStock"))
    gone = flag(raw.get("outOfStock")) if stocked is None else not stocked
    return _variant(number, raw, {axis: name for axis, name in attributes.items() if name}, price, gone)


def _variant(
    number: str, raw: Mapping[str, Any], attributes: dict[str, str], price: Money | None, gone: bool | None
) -> Variant:
    return Variant.draft(
        id=number,
        sku=ident(raw.get("sku")),
        attributes=attributes,
        price=price.value if price else None,
        currency=price.currency if price else None,
        availability=None if gone is None else "out_of_stock" if gone else "in_stock",
    )
