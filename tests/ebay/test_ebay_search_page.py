"""Pages of search results as wholes: totals, paging, whose shop, and pages that are none."""

from __future__ import annotations

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.ebay.spider import EbaySpider

from .test_ebay_search import only, summary

# ── the page ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("total", "number", "at_least"),
    [
        ("1,600,000+", 1_600_000, True),
        ("1.300+", 1300, True),
        ("4.800+", 4800, True),
        ("12", 12, False),
        ("0", 0, False),
    ],
)
def test_totals(site, total, number, at_least):
    told = summary(site.parsed("search", site.results(site.card(), total=total)))
    assert (told.total_results, told.extra.get("total_is_at_least", False)) == (number, at_least)
    assert told.query == "vase"


def test_a_heading_that_names_the_words_first(site):
    heading = '<span class="BOLD">vase</span> の検索結果 <span class="BOLD">1,234</span> 件'
    heading = f'<h1 class="srp-controls__count-heading">{heading}</h1>'
    told = summary(site.parsed("search", site.results(site.card(), total=None, before=heading)))
    assert (told.total_results, told.query) == (1234, "vase")


def test_no_total_is_unknown_not_zero(site):
    found = site.parsed("search", site.results(site.card(), total=None))
    assert summary(found).total_results is None
    assert found.items[0].exact is True


def test_paging(site):
    found = site.parsed("search", site.results(site.card(), pagination=site.pages(1, 2)))
    assert (found.cursor, summary(found).next_cursor, summary(found).page) == ("2", "2", 1)
    third = site.parsed(
        "search", site.results(site.card(), pagination=site.pages(3, 4)), cursor="3", number=3, seen=120
    )
    assert (third.cursor, summary(third).page, third.items[0].position) == ("4", 3, 121)


@pytest.mark.parametrize(("following", "disabled"), [(None, False), (7, True), (7, False), (6, False)])
def test_the_last_page_leads_nowhere(site, following, disabled):
    found = site.parsed(
        "search", site.results(site.card(), pagination=site.pages(7, following, disabled=disabled)), cursor="7"
    )
    assert found.cursor is None
    assert summary(found).page == 7


def test_nothing_found_is_an_empty_page(site):
    found = site.parsed("search", site.results(total="0"))
    assert [item.kind for item in found.items] == ["search_page"]
    empty = site.parsed("search", '<html><div class="srp-save-null-search">No exact matches found</div></html>')
    assert summary(empty).total_results == 0


@pytest.mark.parametrize(
    "body",
    [
        "<html><title>eBay Home</title><a href='https://www.ebay.com/itm/226000000001'>deal</a></html>",
        "{}",
        "<ul class='srp'>",
    ],
)
def test_other_pages_are_no_empty_results(site, body):
    with pytest.raises(ContractError, match=r"srp-results|no page"):
        site.parsed("search", body)


def test_the_shop_is_told_by_the_address_then_by_the_page(site):
    body = site.results(site.card(host="www.ebay.de"))
    assert only(site.parsed("search", body)).url.startswith("https://www.ebay.de/")
    assert only(site.parsed("search", body, url="https://www.ebay.fr/sch/i.html")).url.startswith(
        "https://www.ebay.fr/"
    )


def test_a_sellers_list_introduces_the_seller(site):
    card = '<div class="str-seller-card"><h1>Kiln House</h1></div>'
    found = site.parsed("search", site.results(site.card(), before=card), seller="kiln*house")
    assert [item.kind for item in found.items] == ["profile", "search_result", "search_page"]
    assert (found.items[0].username, found.items[0].url) == ("kiln*house", "https://www.ebay.com/usr/kiln*house")
    later = site.parsed("search", site.results(site.card(), before=card), seller="kiln*house", cursor="2", number=2)
    assert [item.kind for item in later.items] == ["search_result", "search_page"]


def test_a_page_cut_off_in_its_last_card_is_no_page(site):
    whole = site.results(site.card(), site.card(226000000002))
    cut = whole[: whole.rindex("Blue vase")]
    cut = cut[: cut.rindex("s-card__title") - 12]
    with pytest.raises(ContractError, match="cut off"):
        site.parsed("search", cut)


@pytest.mark.parametrize("behind", ["</li>", "</ul>", "</a>"])
def test_a_page_cut_off_between_two_cards_is_no_page(site, behind):
    whole = site.results(site.card(), site.card(226000000002), pagination=site.pages(1, 2))
    read = EbaySpider.operations["search"].read
    assert len(read(site.page(whole), site.call("search")).items) == 3
    cut = whole[: whole.index(behind) + len(behind)]
    with pytest.raises(ContractError, match="cut off"):
        read(site.page(cut), site.call("search"))
