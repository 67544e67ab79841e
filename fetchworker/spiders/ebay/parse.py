"""From a page to items, one pure function per operation.

Each reads a page by what it holds, whichever shop and layout it comes from, and raises
:class:`~fetchworker.errors.ContractError` when it lacks what the operation promises: the home page in place of results
is no empty result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Product, SearchPage
from fetchworker.spiders.ebay import contract, dollars, parse_cards, parse_item, parse_reviews, parse_seller
from fetchworker.spiders.ebay.listing import Listing
from fetchworker.spiders.ebay.nodes import first, shown
from fetchworker.spiders.reading import elements, html
from fetchworker.spiders.reading.counts import count
from fetchworker.spiders.reading.values import link

if TYPE_CHECKING:
    from fetchworker.items import Item

#: what every result page has, the empty one too
_HEADING = ".srp-controls__count-heading"
_NOTHING_FOUND = ".srp-save-null-search, .srp-save-null-search__heading"
_TOTAL = re.compile(r"(?<![\w.,])\d[\d.,'\u00a0\u202f ]*")


def search(page: Page, call: Call[Any]) -> Parsed:
    """One page of results; the seller when it is one seller's list."""
    source = html.decoded(page)
    document = _document(source)
    cards = list(parse_cards.hits(document))
    if not cards and not document.css(f"{_HEADING}, {_NOTHING_FOUND}"):
        raise ContractError("ul.srp-results | .srp-controls__count-heading")
    domain = _domain(page, document)
    total, at_least = _total(document)
    dollar = dollars.dollar(source) if cards else None
    results = [
        parse_cards.result(card, position, exact=exact and total != 0, domain=domain, dollar=dollar)
        for position, (card, exact) in enumerate(cards, call.seen + 1)
    ]
    if results and results[-1].name is None:
        raise ContractError(".s-card__title | .s-item__title", "the page is cut off in its last card")
    number = _page_number(document, call)
    following = _next(document, number)
    summary = SearchPage.draft(
        query=_query(document, call),
        total_results=total,
        page=number,
        next_cursor=following,
        results_count=len(results),
        exact_count=sum(result.exact is True for result in results),
        extra={"total_is_at_least": True} if at_least else {},
    )
    card = parse_seller.card(document, domain, name=getattr(call.params, "seller", None))
    items: list[Item] = [*([card] if card and call.page == 1 else []), *results, summary]
    return Parsed(items, following)


def item(page: Page, call: Call[Any]) -> Parsed:
    """The listing and the reviews on its page."""
    source = html.decoded(page)
    document = _document(source)
    listing = Listing(source, document, _domain(page, document))
    found = parse_item.product(listing)
    asked = getattr(call.params, "item", None)
    if asked and found.id != asked:
        raise ContractError("link[rel=canonical]", f"the page is of another listing: {found.id}")
    return Parsed([found, *parse_reviews.reviews(listing, found.id or "", found.url)])


def description(page: Page, call: Call[Any]) -> Parsed:
    """The seller's own text of a listing."""
    document = _document(html.decoded(page))
    body = document.css("#ds_div") or document.css("body")
    text = " ".join(filter(None, map(shown, body)))
    if not text:
        raise ContractError("#ds_div | body")
    number = getattr(call.params, "item", None)
    pictures = [address for node in body for told in node.values("img", "src") if (address := link(told))]
    url = contract.item_url(contract.DOMAIN, number) if number else None
    return Parsed([Product.draft(id=number, description=text, images=pictures, url=url)])


def seller(page: Page, call: Call[Any]) -> Parsed:
    """A seller's name, ratings and numbers."""
    source = html.decoded(page)
    document = _document(source)
    name = getattr(call.params, "seller", None) or parse_seller.name_of(html.meta(source), page.url)
    found = parse_seller.card(document, _domain(page, document), name=name)
    if found is None:
        raise ContractError(".str-seller-card")
    return Parsed([found])


def _document(text: str) -> elements.Node:
    if "<" not in text:
        raise ContractError("body", "the body is no page")
    return elements.document(text)


def _domain(page: Page, document: elements.Node) -> str:
    """The shop: by the page's own links, for a saved page may have lost its address."""
    canonical = document.first_value("link[rel=canonical]", "href")
    links = document.values('ul.srp-results a[href*="/itm/"], a.pagination__item', "href")[:20]
    for url in (page.url, canonical, *links):
        domain = contract.domain_of(url)
        if domain is not None:
            return domain
    return contract.DOMAIN


def _total(document: elements.Node) -> tuple[int | None, bool]:
    """How many results there are, and whether that is a lower bound (``1,600,000+``)."""
    heading = next(iter(document.css(_HEADING)), None)
    if heading is None:
        return (0, False) if document.css(_NOTHING_FOUND) else (None, False)
    bold = (count(text) for node in heading.css(".BOLD") if (text := shown(node)))
    told = next((number for number in bold if number is not None), None)
    text = shown(heading) or ""
    if told is None:
        plain = _TOTAL.search(text)
        told = count(plain[0].strip()) if plain else None
    return told, re.search(r"\d\s?\+", text) is not None


def _query(document: elements.Node, call: Call[Any]) -> str | None:
    """The words: as asked for, else as the page repeats them."""
    asked = getattr(call.params, "query", None)
    box = document.first_value('input[name="_nkw"]', "value")
    bold = [text for node in document.css(f"{_HEADING} .BOLD") if (text := shown(node)) and count(text) is None]
    return asked or html.squeezed(box) or (bold[-1] if bold else None)


def _page_number(document: elements.Node, call: Call[Any]) -> int:
    told = first(document, ".pagination__item[aria-current]")
    if told and told.isascii() and told.isdigit():
        return int(told)
    return int(call.cursor) if call.cursor and call.cursor.isascii() and call.cursor.isdigit() else call.page


def _next(document: elements.Node, number: int) -> str | None:
    """The next page's number; the last page's arrow leads to itself, or nowhere."""
    for arrow in document.css("a.pagination__next"):
        following = contract.page_of(link(arrow.value("href")))
        if arrow.value("aria-disabled") != "true" and following and int(following) > number:
            return following
    return None
