"""Walmart, whole: `scrapy crawl` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

import pytest

from fetchworker.demo.walmart import REMOVED, WALLED

pytestmark = pytest.mark.slow


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "walmart", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def of(items, kind):
    return [item for item in items if item["kind"] == kind]


def test_a_search_is_paged_to_its_end(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=vase")
    assert done.returncode == 0, done.stderr
    results, pages = of(items, "search_result"), of(items, "search_page")
    assert [(page["page"], page["next_cursor"]) for page in pages] == [(1, "2"), (2, "3"), (3, "4"), (4, None)]
    assert {page["total_results"] for page in pages} == {150}
    assert len({result["id"] for result in results}) == len(results) == 150
    assert [result["position"] for result in results] == list(range(1, 151))
    assert {(result["currency"], result["availability"]) for result in results} == {("USD", "in_stock")}
    assert [result["sponsored"] for result in results].count(True) == 3
    assert (pages[0]["store_id"], results[0]["url"].startswith("https://www.walmart.com/ip/")) == ("77", True)
    referers = [dict(map(tuple, record["headers"])).get("referer") for record in calm.log("request")]
    assert referers[-1] == "https://www.walmart.com/search?q=vase&page=3"


def test_a_search_in_canada_with_filters_a_cursor_and_a_limit(project, calm):
    project.use(calm)
    arguments = ("query=vase", "domain=ca", "sort=price_low", "price_min=100", "limit=5", "cursor=2")
    _, items = crawl(project, *arguments)
    results = of(items, "search_result")
    assert len(results) == 5
    assert {result["currency"] for result in results} == {"CAD"}
    assert all(result["url"].startswith("https://www.walmart.ca/en/ip/") for result in results)
    assert items[-1]["page"] == 2
    (record,) = calm.log("request")
    assert record["path"] == "/en/search?q=vase&sort=price_low&min_price=100&page=2"


def test_a_search_that_finds_nothing_is_no_failure(project, calm):
    project.use(calm)
    done, (page,) = crawl(project, "query=zinc samovar")
    assert (done.returncode, page["kind"], page["total_results"]) == (0, "search_page", 0)
    assert project.records("failures") == []


def test_a_listing_by_its_address(project, calm):
    project.use(calm)
    _, found = crawl(project, "query=vase", "limit=40")
    number = next(item["id"] for item in of(found, "search_result") if item["price_max"])
    done, items = crawl(project, f"url=https://www.walmart.com/ip/a-vase/{number}?from=/search", output="item.jsonl")
    assert done.returncode == 0, done.stderr
    product, *reviews = items
    assert (product["kind"], product["id"], product["currency"]) == ("product", number, "USD")
    assert {form["attributes"]["Size"] for form in product["variants"]} == {"S", "L"}
    assert {form["availability"] for form in product["variants"]} == {"in_stock", "out_of_stock"}
    assert float(product["price_min"]) == float(product["price"]) < float(product["price_max"])
    assert [review["product_id"] for review in reviews] == [number] * 10
    _, again = crawl(project, f"item={number}", output="again.jsonl")
    assert [item["item_id"] for item in again] == [item["item_id"] for item in items]


def test_reviews_are_paged_to_their_end_under_the_dialog(project, calm):
    project.use(calm)
    _, found = crawl(project, "query=vase", "limit=1")
    done, items = crawl(project, "operation=reviews", f"item={found[0]['id']}", output="reviews.jsonl")
    assert done.returncode == 0, done.stderr
    reviews, pages = of(items, "review"), of(items, "page")
    assert len({review["id"] for review in reviews}) == 25
    assert [page["next_cursor"] for page in pages] == ["2", "3", None]
    assert [page["exhausted"] for page in pages] == [False, False, True]
    assert {review["verified_purchase"] for review in reviews} == {True, False}
    assert reviews[0]["created_at"] == "2026-11-01"
    _, some = crawl(project, "operation=reviews", f"item={found[0]['id']}", "limit=12", output="some.jsonl")
    assert len(of(some, "review")) == 12


def test_a_block_costs_an_identity_and_no_result(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl(project, "query=teapot")
    assert done.returncode == 0, done.stderr
    assert len(of(items, "search_result")) == 75
    assert [record["what"] for record in hostile.log("behaviour")].count("challenge") >= 1
    assert "challenge" in done.stderr
    assert project.records("failures") == []


@pytest.mark.parametrize("number", ["999999999999", REMOVED])
def test_a_listing_that_is_not_there(project, calm, number):
    project.use(calm)
    done, items = crawl(project, f"item={number}")
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", "not_found", 1)


def test_a_listing_behind_a_log_in(project, calm):
    project.use(calm)
    project.sites(retries=1)
    done, items = crawl(project, f"item={WALLED}")
    assert (done.returncode, items) == (1, [])
    (failure,) = project.records("failures")
    assert (failure["outcome"], failure["attempts"]) == ("login_wall", 2)
