"""What is for sale, what buyers say of it, and searches for it."""

from __future__ import annotations

from typing import Literal

from fetchworker.items.base import Availability, Count, Currency, Date, Item, ListingType, Money, Part, Time


class Seller(Part):
    """Who sells; ``rating`` as the site gives it: a share of good ratings in per cent, or stars."""

    id: str | None = None
    name: str | None = None
    url: str | None = None
    rating: float | None = None
    feedback_count: Count | None = None


class Variant(Part):
    """One form of a product (a size, a colour)."""

    id: str | None = None
    sku: str | None = None
    attributes: dict[str, str] = {}
    price: Money | None = None
    currency: Currency | None = None
    availability: Availability | None = None


class Product(Item):
    """Something for sale.

    ``price`` is what the seller asks, in the seller's ``currency``; ``converted_price`` is what the site makes of it in
    the visitor's. ``price_min`` and ``price_max`` span the variants. ``shipping`` is the site's text,
    ``shipping_price`` the amount in it (``0`` when it is free). ``page_title`` is the title of the page, which may name
    another variant.
    """

    kind: Literal["product"] = "product"
    id: str | None = None
    sku: str | None = None
    gtin: str | None = None
    name: str | None = None
    page_title: str | None = None
    brand: str | None = None
    price: Money | None = None
    currency: Currency | None = None
    list_price: Money | None = None
    price_min: Money | None = None
    price_max: Money | None = None
    converted_price: Money | None = None
    converted_currency: Currency | None = None
    availability: Availability | None = None
    condition: str | None = None
    description: str | None = None
    images: list[str] = []
    category_path: list[str] = []
    rating: float | None = None
    reviews_count: Count | None = None
    sold_count: Count | None = None
    seller: Seller | None = None
    shipping: str | None = None
    shipping_price: Money | None = None
    shipping_currency: Currency | None = None
    location: str | None = None
    variants: list[Variant] = []
    attributes: dict[str, str] = {}
    listing_type: ListingType | None = None
    bids: Count | None = None
    ends_at: Time | None = None


class Review(Item):
    """What a buyer says of a product; ``created_at`` is the day alone where the site tells no time."""

    kind: Literal["review"] = "review"
    id: str | None = None
    product_id: str | None = None
    rating: float | None = None
    title: str | None = None
    text: str | None = None
    created_at: Time | Date | None = None
    author: str | None = None
    verified_purchase: bool | None = None
    helpful_count: Count | None = None
    images: list[str] = []


class SearchResult(Item):
    """One hit of a search, at its ``position`` (from 1).

    ``exact`` is false for what the site lists beyond the hits for the words asked for. ``sold_at`` is the day alone
    where the site tells no time.
    """

    kind: Literal["search_result"] = "search_result"
    position: Count | None = None
    exact: bool | None = None
    id: str | None = None
    name: str | None = None
    price: Money | None = None
    price_min: Money | None = None
    price_max: Money | None = None
    currency: Currency | None = None
    list_price: Money | None = None
    image_url: str | None = None
    condition: str | None = None
    seller: str | None = None
    rating: float | None = None
    reviews_count: Count | None = None
    sold_count: Count | None = None
    sponsored: bool | None = None
    shipping: str | None = None
    shipping_price: Money | None = None
    shipping_currency: Currency | None = None
    sold_at: Time | Date | None = None
    location: str | None = None
    listing_type: ListingType | None = None
    bids: Count | None = None
    availability: Availability | None = None


class SearchPage(Item):
    """One per page of a search, after its results; ``exact_count`` of its ``results_count`` are exact hits.

    ``store_id`` is the branch of the shop whose stock and prices the page shows.
    """

    kind: Literal["search_page"] = "search_page"
    query: str | None = None
    total_results: Count | None = None
    page: Count | None = None
    next_cursor: str | None = None
    results_count: Count | None = None
    exact_count: Count | None = None
    store_id: str | None = None
