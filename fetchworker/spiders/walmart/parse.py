"""From a page, or an answer of the site's interface, to items: one pure function per operation.

Each raises :class:`~fetchworker.errors.ContractError` when the body lacks what the operation promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Page as PageItem
from fetchworker.items import SearchPage
from fetchworker.spiders.reading.values import count, dig, ident, mapping, sequence, text
from fetchworker.spiders.walmart import contract, parse_cards, parse_product, parse_reviews
from fetchworker.spiders.walmart.facts import kept, rating
from fetchworker.spiders.walmart.state import state_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.spiders.walmart.state import State

#: what ``partial`` says of reviews that come from the listing's own page, which shows the first ten
FIRST_REVIEWS = "first_reviews"
_SEEN = "seen_ids"


def search(page: Page, call: Call[Any]) -> Parsed:
    """One page of results."""
    state = state_of(page)
    found = state.search
    total = count(found.get("aggregatedCount"))
    if "itemStacks" not in found or (total is None and not parse_cards.stacks(found)):
        raise ContractError("initialData.searchResult.itemStacks")
    seen = [str(number) for number in sequence(call.state.get(_SEEN))]
    results = parse_cards.results(state, first=call.seen + 1, seen=seen)
    if not results and sequence(dig(found, "errorResponse", "errors")):
        raise ContractError("initialData.searchResult", "the site's search failed")
    number = _page_number(found, call)
    following = _next(found, number, any_shown=parse_cards.any_cards(found))
    summary = SearchPage.draft(
        query=getattr(call.params, "query", None) or text(dig(found, "paginationV2", "pageProperties", "query")),
        total_results=total,
        page=number,
        next_cursor=following,
        results_count=len(results),
        store_id=state.store or _only(dig(found, "paginationV2", "pageProperties", "stores")),
        extra=_search_extra(state, found),
    )
    return Parsed([*results, summary], following, {_SEEN: [*seen, *(str(result.id) for result in results)]})


def product(page: Page, call: Call[Any]) -> Parsed:
    """The listing and the reviews on its page."""
    state = state_of(page)
    found = parse_product.product(state)
    asked = getattr(call.params, "item", None)
    if asked and asked not in (found.id, found.sku):
        raise ContractError("initialData.data.product.usItemId", f"the page is of another listing: {found.id}")
    return Parsed([found, *parse_reviews.reviews(mapping(state.data.get("reviews")), found.id, found.url)])


def reviews(page: Page, call: Call[Any]) -> Parsed:
    """One page of a listing's reviews."""
    state = state_of(page)
    block = state.data.get("reviews")
    if not isinstance(block, dict) or not ("customerReviews" in block or "totalReviewCount" in block):
        raise ContractError("initialData.data.reviews")
    shown = ident(dig(state.data, "product", "usItemId"))
    asked = getattr(call.params, "item", None)
    if asked and shown and asked not in (shown, ident(dig(state.data, "product", "id"))):
        raise ContractError("initialData.data.product.usItemId", f"the page is of another listing: {shown}")
    number = asked or shown
    url = contract.item_url(state.domain, number) if number else None
    found = parse_reviews.reviews(block, number, url)
    following = None if state.of_listing else _next_reviews(block, call, len(found))
    total = count(block.get("totalReviewCount"))
    more = state.of_listing and total is not None and len(found) < total
    summary = PageItem.draft(
        total=total,
        next_cursor=following,
        exhausted=following is None and not more,
        partial=FIRST_REVIEWS if more else None,
        url=url,
        extra=_ratings(block),
    )
    return Parsed([*found, summary], following)


def _page_number(found: Mapping[str, Any], call: Call[Any]) -> int:
    told = count(dig(found, "paginationV2", "pageProperties", "page"))
    asked = int(call.cursor) if call.cursor and call.cursor.isascii() and call.cursor.isdigit() else call.page
    return told or asked


def _next(found: Mapping[str, Any], number: int, *, any_shown: bool) -> str | None:
    last = min(count(dig(found, "paginationV2", "maxPage")) or 0, contract.LAST_PAGE)
    return str(number + 1) if any_shown and number < last else None


def _only(value: Any) -> str | None:
    """The branch, where a page names one and not several."""
    told = ident(value)
    return told if told and told.isdigit() else None


def _search_extra(state: State, found: Mapping[str, Any]) -> dict[str, Any]:
    return kept({
        "corrected_query": text(dig(found, "spelling", "correctedTerm")),
        "last_page": count(dig(found, "paginationV2", "maxPage")),
        "sort": text(dig(found, "paginationV2", "pageProperties", "sort")),
        "postal_code": text(dig(state.initial, "pageMetadata", "location", "postalCode")),
        **state.visitor,
    })  # fmt: skip


def _next_reviews(block: Mapping[str, Any], call: Call[Any], shown: int) -> str | None:
    """The next page: as the page says, else as long as fewer came than have a text."""
    number = int(call.cursor) if call.cursor and call.cursor.isascii() and call.cursor.isdigit() else 1
    pagination = mapping(block.get("pagination"))
    if pagination:
        told = count(dig(pagination, "next", "num"))
        return str(told) if shown and told is not None and told > number else None
    written = count(block.get("reviewsWithTextCount"))
    return str(number + 1) if shown and written is not None and number * shown < written else None


def _ratings(block: Mapping[str, Any]) -> dict[str, Any]:
    """The average, and how many reviews gave how many stars."""
    words = ("One", "Two", "Three", "Four", "Five")
    stars = {
        str(n): told for n, w in enumerate(words, 1) if (told := count(block.get(f"ratingValue{w}Count"))) is not None
    }
    return kept({
        "rating": rating(block.get("averageOverallRating"), count(block.get("totalReviewCount"))),
        "ratings": stars,
        "reviews_with_text": count(block.get("reviewsWithTextCount")),
    })  # fmt: skip
