"""TikTok Shop and TikTok's ads, whole: `scrapy crawl` against the local sites, through proxies, to lines on disk."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from fetchworker.demo import tiktok_ads, tiktok_shop

pytestmark = pytest.mark.slow

MUG, OTHER = str(tiktok_shop.FIRST + 2), str(tiktok_shop.FIRST + 3)
TOP = str(tiktok_ads.FIRST_TOP + 1)


@pytest.fixture
def crawl(project):
    """Runs a crawl; the process's end and the lines. Sessions of the shop are warmed up, as its entry says."""

    def run(site, *arguments, output="out.jsonl"):
        path = project.folder / "sites.yaml"
        sites = json.loads(path.read_text())["sites"]
        sites["tiktok_shop"] = {**sites["tiktok_shop"], "warmup": True, "robots": "obey"}
        path.write_text(json.dumps({"sites": sites}))
        pairs = [part for argument in arguments for part in ("-a", argument)]
        done = project.scrapy("crawl", site, *pairs, "-O", str(project.folder / output))
        assert "Traceback" not in done.stderr, done.stderr
        return done, project.lines(output)

    return run


def kinds(items):
    return Counter(item["kind"] for item in items)


def behaved(demo):
    return Counter(record["what"] for record in demo.log("behaviour"))


def asked(demo):
    told = [f"{record['method']} {record['authority']}{record['path'].split('?')[0]}" for record in demo.log("request")]
    return [line for line in told if not line.endswith("/robots.txt")]


def failure(project):
    (record,) = project.records("failures")
    return record["type"], record["outcome"]


# ── the shop ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_reviews_are_page_then_calls_in_one_session(project, calm, crawl):
    project.use(calm)
    done, items = crawl("tiktok_shop", "operation=reviews", f"product={MUG}")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"review": 45, "page": 4}
    assert len({item["id"] for item in items if item["kind"] == "review"}) == 45
    assert [item["next_cursor"] for item in items if item["kind"] == "page"] == ["1", "2", "3", None]
    assert asked(calm) == [
        "GET www.tiktok.com/", "GET www.tiktok.com/shop", f"GET shop.tiktok.com/view/product/{MUG}",
        *["POST shop.tiktok.com/api/shop/pdp_desktop/get_product_reviews"] * 3,
    ]  # fmt: skip
    pages = [record for record in calm.log("request") if record["path"] != "/robots.txt"]
    guests = [any(name == "cookie" and "ttwid" in value for name, value in record["headers"]) for record in pages]
    assert guests == [False, *[True] * 5]
    assert len({record["peer"] for record in pages}) == 1


def test_a_search_is_paged_to_its_end(project, calm, crawl):
    project.use(calm)
    done, items = crawl("tiktok_shop", "query=clay mug")
    assert done.returncode == 0, done.stderr
    results = [item for item in items if item["kind"] == "search_result"]
    assert [item["position"] for item in results] == list(range(1, 51))
    assert len({item["id"] for item in results}) == 50
    assert [item["results_count"] for item in items if item["kind"] == "search_page"] == [15, 30, 5]
    _, items = crawl("tiktok_shop", "url=https://www.tiktok.com/shop/s/clay%20mug", "limit=20", output="few.jsonl")
    assert kinds(items) == {"search_result": 20, "search_page": 2}


def test_a_cursor_of_another_session_is_refused_and_says_so(project, calm, crawl):
    project.use(calm)
    project.sites(retries=1)
    cursor = json.dumps({"offset": 15, "page_token": "of-another", "api_source": 2})
    done, items = crawl("tiktok_shop", "query=clay mug", f"cursor={cursor}")
    assert (done.returncode, items) == (1, [])
    assert failure(project) == ("UPSTREAM_BLOCKED", "blocked")


@pytest.mark.parametrize("number", [MUG, OTHER])
def test_products_of_both_generations(project, calm, crawl, number):
    project.use(calm)
    done, items = crawl("tiktok_shop", f"url=https://shop.tiktok.com/us/pdp/clay-mug/{number}?source=x")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"product": 1, "review": 5}
    product = items[0]
    assert (product["id"], product["brand"], product["category_path"]) == (number, "Kiln Lane", ["Kitchen", "Mugs"])
    assert {form["availability"] for form in product["variants"]} == {"in_stock", "out_of_stock"}
    assert product["extra"]["risk_level"] == "low"


def test_a_puzzle_costs_an_identity_and_no_item(project, hostile, crawl):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl("tiktok_shop", "operation=reviews", f"product={OTHER}")
    assert done.returncode == 0, done.stderr
    assert kinds(items)["review"] == 45
    assert behaved(hostile)["challenge"] >= 1
    assert "tiktok_captcha" in done.stderr
    assert project.records("failures") == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("product=1729999999999999999",), ("NOT_FOUND_UPSTREAM", "not_found")),
        ((f"product={tiktok_shop.ELSEWHERE}", "region=us"), ("NOT_FOUND_UPSTREAM", "not_found")),
        (("operation=reviews", "product=1729999999999999999"), ("NOT_FOUND_UPSTREAM", "not_found")),
    ],
)
def test_what_is_not_there_or_not_sold_here_is_no_block(project, calm, crawl, arguments, told):
    project.use(calm)
    done, items = crawl("tiktok_shop", *arguments)
    assert (done.returncode, items, failure(project)) == (0, [], told)
    assert len([line for line in asked(calm) if "/shop.tiktok.com" in line.replace(" ", "/")]) == 1, "no second try"


def test_the_same_product_is_sold_elsewhere(project, calm, crawl):
    project.use(calm)
    _, items = crawl("tiktok_shop", f"product={tiktok_shop.ELSEWHERE}", "region=gb")
    assert items[0]["id"] == tiktok_shop.ELSEWHERE


def test_a_wall_is_told(project, calm, crawl):
    project.use(calm)
    project.sites(retries=1)
    done, items = crawl("tiktok_shop", f"product={tiktok_shop.WALLED}")
    assert (done.returncode, items) == (1, [])
    assert failure(project)[1] == "login_wall"


# ── the ad library ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_library_is_paged_until_its_cursor_stands_still(project, calm, crawl):
    project.use(calm)
    done, items = crawl("tiktok_ads", "query=bowl", "region=DE")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"ad": 20, "page": 3}
    ads = [item for item in items if item["kind"] == "ad"]
    assert len({ad["id"] for ad in ads}) == 20
    assert {tuple(ad["countries"]) for ad in ads} == {("DE",)}
    assert [ad["rejected_in"] for ad in ads].count(["DK"]) == 1
    assert asked(calm) == [
        "GET library.tiktok.com/api/v1/location", "GET library.tiktok.com/api/v1/support-regions",
        *["POST library.tiktok.com/api/v1/search"] * 3,
    ]  # fmt: skip


def test_a_block_and_an_old_handshake_cost_no_ad(project, hostile, crawl):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl("tiktok_ads", f"advertiser={tiktok_ads.ADVERTISER}")
    assert done.returncode == 0, done.stderr
    assert kinds(items)["ad"] == 15
    assert behaved(hostile)["block"] >= 1
    assert behaved(hostile)["stale"] == 1
    assert "tiktok_library_handshake" in done.stderr
    assert asked(hostile).count("GET library.tiktok.com/api/v1/support-regions") >= 2


def test_what_is_locked_to_another_region_says_so(project, calm, crawl):
    project.use(calm)
    done, items = crawl("tiktok_shop", f"product={tiktok_shop.ELSEWHERE}", "region=us")
    assert (done.returncode, items) == (0, [])
    (record,) = project.records("failures")
    assert record["outcome"] == "not_found"
    assert any("not_in_region" in reason for reason in record["evidence"])


def test_one_ad_of_the_library_and_one_that_is_not_there(project, calm, crawl):
    project.use(calm)
    _, items = crawl("tiktok_ads", f"url=https://library.tiktok.com/ads/detail/?ad_id={tiktok_ads.FIRST_AD}")
    assert [(item["kind"], item["id"]) for item in items] == [
        ("ad", str(tiktok_ads.FIRST_AD)), ("advertiser", tiktok_ads.ADVERTISER),
    ]  # fmt: skip
    assert items[0]["countries"] == ["DE", "FR"]
    done, items = crawl("tiktok_ads", "operation=library", "ad=1870000000009999", output="none.jsonl")
    assert (done.returncode, items, failure(project)) == (0, [], ("NOT_FOUND_UPSTREAM", "not_found"))


# ── the Creative Center ──────────────────────────────────────────────────────────────────────────────────────────────


def test_top_ads_are_paged_under_one_guests_name(project, calm, crawl):
    project.use(calm)
    done, items = crawl("tiktok_ads", "operation=top_ads", "country=us")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"ad": 45, "page": 3}
    guests = {dict(map(tuple, record["headers"]))["anonymous-user-id"] for record in calm.log("request")}
    assert len(guests) == 1


def test_one_top_ad_how_it_is_watched_and_one_that_is_not_there(project, calm, crawl):
    project.use(calm)
    _, (ad,) = crawl("tiktok_ads", f"url=https://ads.tiktok.com/business/creativecenter/topads/{TOP}/pc/en")
    assert (ad["id"], ad["comments_count"], ad["shares"], ad["countries"]) == (TOP, 12, 3, ["US", "CA"])
    _, (how,) = crawl("tiktok_ads", "operation=top_ad_analytics", f"ad={TOP}", output="how.jsonl")
    assert (how["kind"], how["id"], how["partial"]) == ("ad_analytics", TOP, None)
    assert [len(how[name]) for name in ("second_by_second", "percentile")] == [5, 5]
    assert how["second_by_second"][0] == {"metric": "retain_ctr", "points": [1.0, 0.9, 0.8, 0.7, 0.6]}
    assert how["percentile"][0] == {"metric": "ctr_percentile", "points": [0.48]}
    done, items = crawl("tiktok_ads", "ad=7199999999999999999", output="none.jsonl")
    assert (done.returncode, items, failure(project)) == (0, [], ("NOT_FOUND_UPSTREAM", "not_found"))


@pytest.mark.parametrize(
    ("kind", "number"), [("hashtag", 30), ("sound", 2), ("creator", 2), ("keyword", 2), ("product", 2)]
)
def test_trends(project, calm, crawl, kind, number):
    project.use(calm)
    done, items = crawl("tiktok_ads", f"type={kind}", "country=US")
    assert done.returncode == 0, done.stderr
    assert kinds(items)["trend"] == number
    assert items[-1]["exhausted"] is True


def test_lists_that_were_given_up_and_lists_for_accounts(project, calm, crawl):
    project.use(calm)
    project.sites(retries=1)
    done, items = crawl("tiktok_ads", "type=video")
    assert (done.returncode, items, failure(project)) == (0, [], ("NOT_FOUND_UPSTREAM", "gone"))
    crawl("tiktok_ads", "type=hashtag", f"country={tiktok_ads.WALLED_COUNTRY}", output="wall.jsonl")
    assert [record["outcome"] for record in project.records("failures")].count("login_wall") == 1
