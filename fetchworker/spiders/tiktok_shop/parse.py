"""From a page or an answer to items, one pure function per operation.

Each raises :class:`~fetchworker.errors.ContractError` when it lacks what the operation promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Page as PageItem
from fetchworker.items import SearchPage, plain
from fetchworker.spiders.tiktok_shop import contract, parse_product, parse_reviews, parse_search
from fetchworker.spiders.tiktok_shop.parse_page import body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fetchworker.items import Item

#: pages repeat some of what earlier ones gave; so many ids are remembered for that
_REMEMBERED = 200
#: the product's page, and the first page of all reviews, which may hold the same: later ones bring others or none
_FIRST_LEGS = 2


def product(page: Page, call: Call[Any]) -> Parsed:
    """The product and the reviews on its page."""
    found = body(page)
    made = parse_product.product(found)
    _check(made.id, call)
    shown = parse_reviews.reviews(found, made.id, made.url)
    return Parsed([made, *(shown.items if shown else ())])


def reviews(page: Page, call: Call[Any]) -> Parsed:
    """Reviews: those that the product's page shows, or a page of all."""
    found = body(page)
    on_page = call.cursor is None and _has_product(found)
    asked, judged = getattr(call.params, "product", None), None
    if on_page:
        made = parse_product.product(found)
        _check(made.id, call)
        asked, judged = made.id, made.reviews_count
    url = contract.product_url(asked) if asked else None
    listed = parse_reviews.reviews(found, asked, url)
    if listed is None and on_page:  # a page need not show any
        listed = parse_reviews.Reviews((), judged, more=bool(judged))
    if listed is None:
        raise ContractError("product_reviews | product_info.product_detail_review")
    items, given = _fresh(listed.items, call)
    cursor = _next_reviews(call, listed, on_page=on_page)
    if not items and call.page > _FIRST_LEGS:
        cursor = None
    end = PageItem.draft(next_cursor=cursor, total=listed.total, exhausted=cursor is None, url=url)
    return Parsed([*items, end], cursor, {"given": given})


def search(page: Page, call: Call[Any]) -> Parsed:
    """One page of hits."""
    found = body(page)
    listed = parse_search.hits(found)
    if listed is None:
        raise ContractError(f"components_map[{contract.SEARCH_COMPONENT}] | data.products")
    made = [parse_search.result(card, 0) for card in parse_search.cards(listed)]
    results, given = _fresh(made, call)
    for position, result in enumerate(results, call.seen + 1):
        result.__dict__["position"] = position
    after = parse_search.following(listed)
    cursor = _dumped(after) if after and results else None
    related = parse_search.related(found)
    words, region = getattr(call.params, "query", None), getattr(call.params, "region", contract.REGION)
    summary = SearchPage.draft(
        query=words,
        url=contract.search_url(words, region) if words else None,
        page=call.page,
        next_cursor=cursor,
        results_count=len(results),
        extra={**found.visit(), **({"related": related} if related else {})},
    )
    return Parsed([*results, summary], cursor, {"given": given})


def _check(number: str | None, call: Call[Any]) -> None:
    asked = getattr(call.params, "product", None)
    if asked and number != asked:
        raise ContractError("product_info.product_id", f"the page is of another product: {number}")


def _has_product(found: Any) -> bool:
    return any(True for _ in found.holding("product_info")) or "product_base" in found.record


def _next_reviews(call: Call[Any], listed: parse_reviews.Reviews, *, on_page: bool) -> str | None:
    """The number of the next page; the interface counts from 1 whatever the product's page has shown."""
    if on_page:
        return "1" if listed.more else None
    return str(int(call.cursor or "1") + 1) if listed.more and listed.items else None


def _fresh(items: Iterable[Any], call: Call[Any]) -> tuple[list[Item], list[str]]:
    """What earlier pages did not give, and the ids that the next one has to know."""
    known: list[str] = list(call.state.get("given", ()))
    seen, fresh = set(known), []
    for item in items:
        if item.id not in seen:
            seen.add(item.id)
            known.append(item.id)
            fresh.append(item)
    return fresh, known[-_REMEMBERED:]


def _dumped(after: Mapping[str, Any]) -> str:
    return orjson.dumps(plain(after), option=orjson.OPT_SORT_KEYS).decode()
