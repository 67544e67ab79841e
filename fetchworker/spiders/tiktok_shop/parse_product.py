"""A product out of either generation of the shop's object (pure).

``product_base`` is that of 2025 and of the app, ``product_model`` that of the pages of 2026.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.items import Product, Seller, Variant
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, mapping, sequence, text
from fetchworker.spiders.tiktok_shop import contract
from fetchworker.spiders.tiktok_shop.parse_values import (
    availability,
    blocks,
    pictures,
    price,
    rating,
    shown,
    span,
    stock,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.reading.money import Money
    from fetchworker.spiders.tiktok_shop.parse_page import Body

_PROMISED = "product_info.product_base | product_info.product_model"


@dataclass(frozen=True)
class Found:
    """The product's object and the record that it stands in (categories and shop are its siblings)."""

    info: Mapping[str, Any]
    beside: Mapping[str, Any] = field(default_factory=dict)


def found(body: Body) -> Found:
    """The product of a page or of an answer.

    Raises:
        ContractError: there is none; the site's own error number is told.
    """
    told: int | None = None
    for holder in _holders(body):
        info = mapping(holder.get("product_info"))
        if _is_product(info):
            return Found(info, holder)
        told = told or count(holder.get("error_code")) or count(info.get("error_code"))
    if _is_product(body.record):
        return Found(body.record)
    if told in contract.NOT_IN_REGION:
        raise ContractError("product_info.error_code", f"{told}: not sold where the visitor comes from")
    raise ContractError(_PROMISED if told is None else "product_info.error_code", f"{told}" if told else "")


def _holders(body: Body) -> list[Mapping[str, Any]]:
    """What may hold the product: components first, the page's global copy (which lags behind) last."""
    shared = mapping(dig(body.config, "global_data", "product_info"))
    return [*body.holding("product_info"), *([shared] if shared else []), *body.holding("error_code")]


def _is_product(info: Mapping[str, Any]) -> bool:
    return isinstance(info.get("product_base"), dict) or isinstance(info.get("product_model"), dict)


def product(body: Body) -> Product:
    """The product's item.

    Raises:
        ContractError: the page has no product, or one without number or name.
    """
    hit = found(body)
    made = _base(hit) if isinstance(hit.info.get("product_base"), dict) else _model(hit)
    values = made.__dict__
    if values["id"] is None or values["name"] is None:
        raise ContractError(f"{_PROMISED}: product_id, title | name")
    values["category_path"] = _categories(hit, body)
    values["brand"] = values["brand"] or _brand(values["attributes"])
    values["url"] = contract.product_url(values["id"])
    values["extra"] = {name: value for name, value in {**values["extra"], **body.visit()}.items() if value is not None}
    return made


def _categories(hit: Found, body: Body) -> list[str]:
    told = sequence(hit.beside.get("categories")) or sequence(
        dig(body.config, "global_data", "product_info", "categories")
    )
    levels = sorted((mapping(entry) for entry in told), key=lambda entry: count(entry.get("level")) or 0)
    return [name for entry in levels if (name := text(entry.get("category_name")))]


def _brand(attributes: Mapping[str, str]) -> str | None:
    return next((value for name, value in attributes.items() if name.strip().lower() in contract.BRAND), None)


# ── 2025, and what the app gets ──────────────────────────────────────────────────────────────────────────────────────


def _base(hit: Found) -> Product:
    info, base = hit.info, mapping(hit.info.get("product_base"))
    prices = mapping(base.get("price"))
    currency = prices.get("currency") or dig(info, "skus", 0, "price", "real_price", "currency")
    variants = [_base_variant(mapping(sku)) for sku in sequence(info.get("skus"))]
    low, high = (price(prices.get(f"{end}_sku_price"), currency) for end in ("min", "max"))
    lowest, highest = span(variants)
    reviews = mapping(info.get("product_detail_review"))
    judged = count(reviews.get("review_count"))
    return Product.draft(
        id=ident(info.get("product_id")),
        name=shown(base.get("title")),
        brand=text(dig(base, "brand", "name")),
        currency=_currency(low, high, currency, variants),
        price=_chosen(variants, info.get("default_sku_id")) or (low.value if low and low == high else None),
        price_min=low.value if low else lowest,
        price_max=high.value if high else highest,
        list_price=_value(price(prices.get("min_sku_original_price"), currency)),
        availability=availability(variants),
        description=blocks(base.get("desc_detail")),
        images=pictures(base.get("images")),
        rating=rating(reviews.get("product_rating"), judged),
        reviews_count=judged,
        sold_count=count(base.get("sold_count")),
        seller=_base_seller(mapping(info.get("seller"))),
        location=text(dig(info, "seller", "seller_location")),
        variants=variants,
        attributes=_pairs(base.get("specifications"), "name", "value"),
        extra=_base_extra(hit),
        **_base_shipping(mapping(info.get("logistic"))),
    )


def _base_variant(sku: Mapping[str, Any]) -> Variant:
    told = mapping(dig(sku, "price", "real_price"))
    found = price(told.get("price_val") or dig(sku, "price_v2", 0, "min_price", "sale_price_decimal"),
                  told.get("currency"))  # fmt: skip
    return Variant.draft(
        id=ident(sku.get("sku_id")),
        sku=text(sku.get("seller_sku")),
        attributes=_pairs(sku.get("sku_sale_props"), "prop_name", "prop_value"),
        price=_value(found),
        currency=found.currency if found else None,
        availability=stock(sku.get("stock")),
    )


def _base_seller(seller: Mapping[str, Any]) -> Seller | None:
    if not seller:
        return None
    return Seller.draft(
        id=ident(seller.get("seller_id")),
        name=shown(seller.get("name")),
        url=link(seller.get("shop_link")) or link(seller.get("link")),
        rating=rating(seller.get("rating_value") or seller.get("rating"), None),
    )


def _base_shipping(logistic: Mapping[str, Any]) -> dict[str, Any]:
    fee = mapping(logistic.get("shipping_fee"))
    amount = price(fee.get("price_val"), fee.get("currency"))
    free = logistic.get("free_shipping") is True
    return {
        "shipping": text(logistic.get("delivery_name")),
        "shipping_price": "0" if free else _value(amount),
        "shipping_currency": amount.currency if amount else None,
    }


def _base_extra(hit: Found) -> dict[str, Any]:
    info = hit.info
    return {
        "status": count(info.get("status")),
        "default_sku_id": ident(info.get("default_sku_id")),
        "lead_time": text(dig(info, "logistic", "lead_time")),
        "shop_products": count(dig(info, "seller", "product_count")),
        "shop_sold_count": count(dig(info, "seller", "sales_info", "count")),
    }


# ── 2026 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _model(hit: Found) -> Product:
    info, model = hit.info, mapping(hit.info.get("product_model"))
    offered = mapping(dig(info, "promotion_model", "promotion_product_price"))
    least = mapping(offered.get("min_price"))
    low = price(least.get("sale_price_decimal"), least.get("currency_name"))
    each = mapping(offered.get("skus_price"))
    variants = [_model_variant(mapping(sku), each) for sku in sequence(model.get("skus"))]
    lowest, highest = span(variants)
    judged = count(dig(info, "review_model", "product_review_count"))
    shipping = _model_shipping(info, low.currency if low else None)
    return Product.draft(
        id=ident(model.get("product_id")),
        name=shown(model.get("name")),
        brand=text(dig(model, "brand", "brand_name")) or text(dig(info, "brand_model", "brand_name")),
        currency=_currency(low, None, least.get("currency_name"), variants),
        price=_chosen(variants, least.get("sku_id")) or _value(low),
        price_min=lowest or _value(low),
        price_max=highest,
        list_price=_value(price(least.get("origin_price_decimal"), least.get("currency_name"))),
        availability=availability(variants),
        description=blocks(model.get("description")),
        images=pictures(model.get("images")),
        rating=rating(dig(info, "review_model", "product_overall_score"), judged or 0),
        reviews_count=judged,
        sold_count=count(model.get("sold_count")),
        seller=_model_seller(hit, model),
        variants=variants,
        attributes=_properties(model.get("product_properties")),
        extra=_model_extra(hit, least),
        **shipping,
    )


def _model_variant(sku: Mapping[str, Any], prices: Mapping[str, Any]) -> Variant:
    number = ident(sku.get("sku_id"))
    told = mapping(prices.get(number or ""))
    found = price(told.get("sale_price_decimal"), told.get("currency_name"))
    pieces = stock(dig(sku, "sku_quantity", "available_quantity"))
    return Variant.draft(
        id=number,
        sku=text(sku.get("seller_sku")) or text(sku.get("sku_name")),
        attributes=_pairs(sku.get("property_pairs"), "sku_property_name", "sku_property_value_name"),
        price=_value(found),
        currency=found.currency if found else None,
        availability="preorder" if pieces == "in_stock" and flag(sku.get("is_pre_order")) else pieces,
    )


def _model_seller(hit: Found, model: Mapping[str, Any]) -> Seller | None:
    shop, seller = mapping(hit.beside.get("shop_info")), mapping(hit.info.get("seller_model"))
    number = ident(model.get("seller_id")) or ident(shop.get("seller_id")) or ident(seller.get("seller_id"))
    name = shown(seller.get("shop_name")) or shown(shop.get("shop_name"))
    if number is None and name is None:
        return None
    address = link(shop.get("shop_link")) or link(dig(shop, "seo_url", "canonical_url"))
    return Seller.draft(
        id=number,
        name=name,
        url=address,
        rating=rating(shop.get("shop_rating"), None),
        feedback_count=count(shop.get("review_count")),
    )


def _model_shipping(info: Mapping[str, Any], currency: str | None) -> dict[str, Any]:
    """The fee, which stands behind a key that differs from product to product (a parcel's number)."""
    for parcel in mapping(dig(info, "logistic_model", "pkg_of_service")).values():
        service = mapping(parcel)
        for holder in (service, *map(mapping, sequence(service.get("reachable_item_list")))):
            amount = price(holder.get("shipping_fee"), currency)
            if amount is not None:
                name = text(service.get("delivery_name")) or text(service.get("service_name"))
                return {"shipping": name, "shipping_price": amount.value, "shipping_currency": amount.currency}
    return {}


def _model_extra(hit: Found, least: Mapping[str, Any]) -> dict[str, Any]:
    shop = mapping(hit.beside.get("shop_info"))
    return {
        "saving": text(least.get("reduce_price_format")),
        "shop_sold_count": count(shop.get("sold_count")),
        "shop_products": count(shop.get("on_sell_product_count")),
        "shop_followers": count(shop.get("followers_count")),
    }


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _value(amount: Money | None) -> str | None:
    return amount.value if amount else None


def _currency(low: Money | None, high: Money | None, told: Any, variants: list[Variant]) -> str | None:
    """The page's currency: that of its prices, else what it names."""
    for amount in (low, high):
        if amount is not None:
            return amount.currency
    named = price("0", told)
    return named.currency if named else next((each.currency for each in variants if each.currency), None)


def _chosen(variants: list[Variant], number: Any) -> str | None:
    """The price of the form that the page opens with; of the only price, when all forms cost the same."""
    wanted = ident(number)
    amounts = {variant.price for variant in variants}
    if len(amounts) == 1:
        return next(iter(amounts))
    return next((variant.price for variant in variants if wanted and variant.id == wanted), None)


def _pairs(value: Any, name: str, told: str) -> dict[str, str]:
    entries = (mapping(entry) for entry in sequence(value))
    pairs = ((text(entry.get(name)), text(entry.get(told))) for entry in entries)
    return {key: found for key, found in pairs if key and found}


def _properties(value: Any) -> dict[str, str]:
    """Properties of 2026, which may have several values."""
    found: dict[str, str] = {}
    for entry in map(mapping, sequence(value)):
        name = text(entry.get("property_name"))
        told = [text(dig(each, "property_value_name")) for each in sequence(entry.get("property_values"))]
        if name and any(told):
            found[name] = ", ".join(word for word in told if word)
    return found
