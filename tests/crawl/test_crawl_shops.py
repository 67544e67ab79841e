"""eBay and Linktree, whole: `scrapy crawl` against the local sites, through proxies, to lines on disk."""

from __future__ import annotations

from collections import Counter

import pytest

pytestmark = pytest.mark.slow


def crawl(project, site, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", site, *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def test_a_search_is_paged_to_its_end(project, calm):
    project.use(calm)
    done, items = crawl(project, "ebay", "query=vase")
    assert done.returncode == 0, done.stderr
    results = [item for item in items if item["kind"] == "search_result"]
    pages = [item for item in items if item["kind"] == "search_page"]
    assert [(page["page"], page["next_cursor"], page["results_count"]) for page in pages] == [
        (1, "2", 60), (2, "3", 60), (3, None, 30),
    ]  # fmt: skip
    assert [page["total_results"] for page in pages] == [150] * 3
    assert len({result["id"] for result in results}) == len(results) == 150
    assert [result["position"] for result in results] == list(range(1, 151))
    assert all(result["exact"] and result["currency"] == "USD" for result in results)
    assert Counter(result["listing_type"] for result in results)["auction"] > 0
    assert {result["sponsored"] for result in results} == {True, False}
    referers = [dict(map(tuple, record["headers"])).get("referer") for record in calm.log("request")]
    assert referers[-1] == "https://www.ebay.com/sch/i.html?_nkw=vase&_pgn=2"


def test_sold_listings_in_german_and_a_cursor(project, calm):
    project.use(calm)
    arguments = ("query=vase", "domain=de", "sold=true", "limit=10", "cursor=2")
    _, items = crawl(project, "ebay", *arguments)
    results = [item for item in items if item["kind"] == "search_result"]
    assert len(results) == 10
    assert all(result["sold_at"].startswith("2026-") and result["currency"] == "EUR" for result in results)
    assert all(result["url"].startswith("https://www.ebay.de/itm/") for result in results)
    assert items[-1]["page"] == 2


def test_filler_is_told_from_hits(project, calm):
    project.use(calm)
    _, items = crawl(project, "ebay", "query=zinc vase", "format=auction")
    assert {item["exact"] for item in items if item["kind"] == "search_result"} == {False}
    assert (items[-1]["total_results"], items[-1]["exact_count"], items[-1]["next_cursor"]) == (0, 0, None)


def test_a_sellers_listings_and_the_seller(project, calm):
    project.use(calm)
    _, items = crawl(project, "ebay", "seller=slip*ware", "limit=5")
    assert [item["kind"] for item in items] == ["profile", *["search_result"] * 5, "search_page"]
    assert {item["seller"] for item in items[1:-1]} == {"slip*ware"}
    assert any("_ssn=slip*ware" in record["path"] for record in calm.log("request"))
    _, (seller,) = crawl(project, "ebay", "operation=seller", "seller=slip*ware", output="seller.jsonl")
    assert (seller["kind"], seller["username"], seller["name"]) == ("profile", "slip*ware", "Slip Ware")
    assert seller["followers"] is not None
    assert seller["extra"]["member_since"] == "2009-03-12"


def test_a_listing_with_variations(project, calm):
    project.use(calm)
    _, found = crawl(project, "ebay", "query=vase", "format=fixed", "limit=20")
    number = next(item["id"] for item in found if item["kind"] == "search_result" and item["price_max"])
    done, items = crawl(project, "ebay", f"url=https://www.ebay.com/itm/a-vase/{number}?hash=x", output="item.jsonl")
    assert done.returncode == 0, done.stderr
    product, *reviews = items
    assert (product["kind"], product["id"], product["currency"]) == ("product", number, "USD")
    assert {form["attributes"]["Size"] for form in product["variants"]} == {"S", "L"}
    assert {form["availability"] for form in product["variants"]} == {"in_stock", "out_of_stock"}
    assert product["price_min"] == product["price"]
    assert all(review["kind"] == "review" and review["product_id"] == number for review in reviews)


def test_an_interstitial_costs_an_identity_and_no_result(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl(project, "ebay", "query=teapot")
    assert done.returncode == 0, done.stderr
    assert len([item for item in items if item["kind"] == "search_result"]) == 75
    assert [record["what"] for record in hostile.log("behaviour")].count("challenge") >= 1
    assert "challenge" in done.stderr
    assert project.records("failures") == []


def test_an_unknown_listing_is_a_failure_line(project, calm):
    project.use(calm)
    done, items = crawl(project, "ebay", "item=999999999999")
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", "not_found", 1)


def test_link_pages(project, calm):
    project.use(calm)
    done, (page,) = crawl(project, "linktree", "user=@NASA")
    assert done.returncode == 0, done.stderr
    assert (page["kind"], page["username"], page["url"]) == ("link_page", "nasa", "https://linktr.ee/nasa")
    assert [link["type"] for link in page["links"]][:2] == ["HEADER", "CLASSIC"]
    assert page["social_links"] == [{"platform": "INSTAGRAM", "url": "https://instagram.com/nasa"}]
    _, (gated,) = crawl(project, "linktree", "url=https://linktr.ee/night.garden", output="gated.jsonl")
    assert (gated["sensitive"], gated["partial"], gated["links"][0]["locked"]) == (True, "gated", True)


@pytest.mark.parametrize(("name", "outcome"), [("closed.kiln", "gone"), ("no.such.name", "not_found")])
def test_link_pages_that_are_not_there(project, calm, name, outcome):
    project.use(calm)
    done, items = crawl(project, "linktree", f"user={name}")
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"]) == ("NOT_FOUND_UPSTREAM", outcome)
