from __future__ import annotations

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.linkedin import parse
from fetchworker.spiders.linkedin.spider import LinkedinSpider

FIELD = '<input name="{}" value="{}" type="{}" {}>'


def test_a_card(site):
    found = site.parsed(
        "jobs", site.fragment(site.card(more='<span class="job-posting-benefits__text"> Hiring </span>'))
    )
    job, page = found.items
    assert (job.id, job.title, job.location, job.posted_at) == ("4400000001", "Potter", "Lisbon", "2026-10-30")
    assert (job.company.name, job.company.url) == ("Kiln & Reed", "https://pt.linkedin.com/company/kiln")
    assert job.url == "https://pt.linkedin.com/jobs/view/potter-at-kiln-4400000001"
    assert job.extra == {"age": "2 days ago", "benefits": ["Hiring"]}
    assert (job.salary_min, job.description, job.applicants, job.closed) == (None, None, None, None)
    assert (page.kind, page.results_count, page.total_results) == ("search_page", 1, None)


def test_cards_of_2024_are_links_and_need_no_link_to_the_company(site):
    card = site.card(4400000002, tag="a", linked=False, company="Läkemedel AB", title=" Keramiker &  drejare")
    job = site.parsed("jobs", site.fragment(card)).items[0]
    assert (job.id, job.title, job.company.name, job.company.url) == (
        "4400000002", "Keramiker & drejare", "Läkemedel AB", None,
    )  # fmt: skip
    assert job.url == "https://pt.linkedin.com/jobs/view/potter-at-kiln-4400000002"


def test_the_number_is_in_the_address_where_the_card_has_no_urn(site):
    card = site.card().replace("urn:li:jobPosting:", "urn:li:other:")
    assert site.parsed("jobs", site.fragment(card)).items[0].id == "4400000001"


def test_a_new_card_and_its_pay(site):
    pay = '<span class="job-search-card__salary-info"> $80,000.00 - $100,000.00 </span>'
    job = site.parsed("jobs", site.fragment(site.card(new=True, more=pay))).items[0]
    assert (job.salary_min, job.salary_max, job.currency) == ("80000.00", "100000.00", None)
    assert job.extra["new"] is True


def test_fragments_go_on_in_the_dollars_of_the_page(site):
    pay = '<span class="job-search-card__salary-info">$80,000.00</span>'
    whole = site.results(site.card(more=pay), head='<meta name="locale" content="en_CA">')
    first = site.parsed("jobs", whole, query="potter")
    assert first.items[0].currency == "CAD"
    call = site.call("jobs", query="potter", cursor=first.cursor, number=2, state=first.state)
    second = parse.jobs(site.page(site.fragment(site.card(4400000002, more=pay))), call)
    assert (second.items[0].currency, second.state["dollar"]) == ("CAD", "CAD")


def test_masked_texts_are_no_texts(site):
    job = site.parsed("jobs", site.fragment(site.card(title="***** ******", company="**** ** ****"))).items[0]
    assert (job.title, job.company.name, job.partial) == (None, None, "masked")
    assert job.id == "4400000001"


@pytest.mark.parametrize("day", ["", "soon", "2026-13-45"])
def test_a_day_that_is_none(site, day):
    assert site.parsed("jobs", site.fragment(site.card(day=day))).items[0].posted_at is None


@pytest.mark.parametrize(
    ("total", "count", "told", "at_least"),
    [("3670", "3,000+", 3670, None), ("", "153", 153, None), ("", "5,025,000+", 5025000, True),
     ("", "3.000+", 3000, True), ("", "12 000", 12000, None), ("x", "", None, None)],
)  # fmt: skip
def test_how_many_there_are(site, total, count, told, at_least):
    page = site.parsed("jobs", site.results(site.card(), total=total, count=count)).items[-1]
    assert (page.total_results, page.extra.get("total_is_at_least")) == (told, at_least)


def test_only_the_list_of_a_page_counts(site):
    other = f'<div class="recommended">{site.card(4400000077)}</div>'
    body = site.results(site.card(), site.card(4400000002)).replace("</body>", f"{other}</body>")
    assert [job.id for job in site.parsed("jobs", body).items[:-1]] == ["4400000001", "4400000002"]


def test_no_match_is_an_empty_result(site):
    body = site.document('<section class="core-section-container no-results"><h1>Nothing</h1></section>')
    found = site.parsed("jobs", body, query="zeppelin")
    (page,) = found.items
    assert (page.query, page.total_results, page.results_count, found.cursor) == ("zeppelin", 0, 0, None)
    assert page.url == "https://www.linkedin.com/jobs/search?keywords=zeppelin"


class TestPaging:
    def test_it_goes_on_behind_the_cards_received(self, site):
        cards = [site.card(4400000000 + n) for n in range(1, 11)]
        found = site.parsed("jobs", site.fragment(*cards, cards[0]), query="potter", cursor="20", number=3)
        assert (found.cursor, found.items[-1].next_cursor, len(found.items)) == ("31", "31", 11)
        assert found.items[-1].page == 3

    def test_old_ones_are_left_out_and_a_page_of_them_is_the_last(self, site):
        body = site.fragment(site.card(4400000001), site.card(4400000002))
        state = {"before": ["4400000001"]}
        found = site.parsed("jobs", body, query="potter", cursor="10", number=2, state=state)
        assert [item.id for item in found.items[:-1]] == ["4400000002"]
        state = {"before": ["4400000001", "4400000002"]}
        found = site.parsed("jobs", body, query="potter", cursor="10", number=2, state=state)
        assert (len(found.items), found.cursor, found.capped) == (1, None, False)

    @pytest.mark.parametrize("body", ["", "<!DOCTYPE html>\n  <!---->\n", "   "])
    def test_the_empty_fragment_is_the_end(self, site, body):
        found = site.parsed("jobs", body, query="potter", cursor="40", number=5)
        assert (found.cursor, found.capped, found.items[-1].results_count) == (None, False, 0)

    def test_an_empty_fragment_before_the_known_total_is_the_sites_end_and_not_the_searchs(self, site):
        first = site.parsed("jobs", site.results(site.card(), total="80"), query="potter")
        assert first.state["total"] == 80
        found = site.parsed("jobs", "", query="potter", cursor="25", number=2, state=first.state)
        assert (found.cursor, found.capped) == (None, True)
        found = site.parsed("jobs", "", query="potter", cursor="80", number=2, state=first.state)
        assert (found.cursor, found.capped) == (None, False)

    def test_a_crawl_that_goes_on_may_meet_the_end_at_once(self, site):
        assert site.parsed("jobs", "<!DOCTYPE html>", query="potter", cursor="40").items[-1].results_count == 0

    @pytest.mark.parametrize("body", ["", "<!DOCTYPE html>"])
    def test_an_empty_first_fragment_says_nothing(self, site, body):
        with pytest.raises(ContractError, match="first cards"):
            site.parsed("jobs", body, query="potter")

    def test_the_site_stops_at_a_thousand(self, site):
        found = site.parsed("jobs", site.fragment(site.card()), query="potter", cursor="999", number=90)
        assert (found.cursor, found.capped) == (None, True)

    def test_a_search_by_its_words_goes_on_with_what_the_form_holds(self, site):
        form = (
            FIELD.format("keywords", "Studio Potter", "hidden", "") + FIELD.format("geoId", "100364837", "hidden", "")
            + FIELD.format("f_TPR", "r604800", "radio", "checked") + FIELD.format("f_JT", "F", "checkbox", "")
            + FIELD.format("trk", "x", "hidden", "")
        )  # fmt: skip
        url = "https://www.linkedin.com/jobs/studio-potter-jobs-lisbon"
        found = site.parsed("jobs", site.results(site.card(), form=form), url=url)
        assert found.state["query"] == {"keywords": "Studio Potter", "geoId": "100364837", "f_TPR": "r604800"}
        assert (found.cursor, found.items[-1].query) == ("1", "Studio Potter")

    def test_without_a_form_there_is_no_going_on(self, site):
        assert site.parsed("jobs", site.results(site.card())).cursor is None


@pytest.mark.parametrize(
    "body",
    ["nothing", "<html><head><title>x</title></head><body><p>Welcome</p></body></html>", "<p>something else</p>",
     '<li><div class="base-search-card"><h3 class="base-search-card__title">A person</h3></div></li>'],
)  # fmt: skip
@pytest.mark.parametrize("number", [1, 2])
def test_other_pages_are_no_list(site, body, number):
    with pytest.raises(ContractError):
        site.parsed("jobs", body, query="potter", number=number, cursor="10" if number > 1 else None)


def test_a_jobs_page_is_no_list(site):
    with pytest.raises(ContractError):
        site.parsed("jobs", site.document(site.job(), key="d_jobs_guest_details"))


def test_a_list_cut_off_in_its_last_card_is_no_list(site):
    whole = site.fragment(site.card(), site.card(4400000002))
    cut = whole[: whole.rindex("base-search-card__title") - 12]
    with pytest.raises(ContractError, match="cut off"):
        site.parsed("jobs", cut)


@pytest.mark.parametrize("behind", ["</h3>", "</h4>", " days ago", '<time class="job-search-card__listd', "</div>"])
def test_a_fragment_that_ends_inside_a_card_is_no_list(site, behind):
    whole = site.fragment(site.card(), site.card(4400000002))
    with pytest.raises(ContractError, match="cut off"):
        site.parsed("jobs", whole[: whole.rindex(behind) + len(behind)])


def test_a_fragment_that_ends_between_two_cards_costs_none(site):
    whole = site.fragment(site.card(), site.card(4400000002))
    cut = whole[: whole.rindex("<li>")]
    found = site.parsed("jobs", cut, query="potter", cursor="10", number=2)
    assert [item.id for item in found.items[:-1]] == ["4400000001"]
    assert found.cursor == "11"  # the next request begins with the card that is missing


@pytest.mark.parametrize("behind", ["</li>", "</ul>", "</code>"])
def test_a_page_that_ends_between_two_cards_is_no_list(site, behind):
    whole = site.results(site.card(), site.card(4400000002), total="2")
    cut = whole[: whole.index(behind) + len(behind)]
    assert LinkedinSpider.operations["jobs"].read(site.page(whole), site.call("jobs")).items[0].id == "4400000001"
    with pytest.raises(ContractError, match="cut off"):
        LinkedinSpider.operations["jobs"].read(site.page(cut), site.call("jobs"))
