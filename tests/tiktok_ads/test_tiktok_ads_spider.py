"""Arguments, addresses and requests of the spider."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import orjson
import pytest

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.sites import load_sites
from fetchworker.spiders.tiktok_ads import contract
from fetchworker.spiders.tiktok_ads.spider import TiktokAdsSpider

AD, TOP, PAYER = "1870000000000001", "7100000000000000001", "6870000000000000001"
NOW = datetime(2026, 9, 22, 21, 33, 56, tzinfo=UTC)


def resolved(**arguments):
    call = TiktokAdsSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True)


def fetch(operation, *, cursor=None, seen=0, **values):
    chosen = TiktokAdsSpider.operations[operation]
    (found,) = chosen.fetches(None, Call(operation, chosen.params(**values), cursor=cursor, seen=seen))
    return found


def asked(found):
    return dict(parse_qsl(urlsplit(found.url).query))


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        (f"https://library.tiktok.com/ads/detail/?ad_id={AD}", "library", {"ad": AD}),
        (f"https://library.tiktok.com/ads/detail?lang=de&ad_id={AD}#x", "library", {"ad": AD}),
        (("https://library.tiktok.com/ads?region=DE&start_time=1790035200000&end_time=1790121600000&adv_name=ton+ofen"
         "&adv_biz_ids=&query_type=1&sort_type=last_shown_date,desc"), "library",
         {"region": "DE", "start": "2026-09-22", "end": "2026-09-23", "query": "ton ofen"}),
        (f"https://library.tiktok.com/ads?region=all&adv_name=Ofengasse&adv_biz_ids={PAYER}", "library",
         {"advertiser": PAYER}),
        ("https://ads.tiktok.com/business/creativecenter/inspiration/topads/pc/en?period=7", "top_ads", {}),
        (f"https://ads.tiktok.com/business/creativecenter/topads/{TOP}/pc/en?countryCode=US", "top_ad", {"ad": TOP}),
    ],
)  # fmt: skip
def test_addresses_name_the_same_calls_as_arguments(url, operation, params):
    assert resolved(url=url) == (operation, params)
    assert resolved(operation=operation, **params) == (operation, params)


@pytest.mark.parametrize(
    "url", ["https://ads.tiktok.com/", "https://www.tiktok.com/@ada", "https://library.tiktok.com/"]
)
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_arguments_name_their_operation():
    assert resolved(query=" ton  ofen ", region="fr, de") == ("library", {"query": "ton ofen", "region": "DE,FR"})
    assert resolved(advertiser=int(PAYER)) == ("library", {"advertiser": PAYER})
    assert resolved(ad=TOP) == ("top_ad", {"ad": TOP})
    assert resolved(operation="library", ad=AD) == ("library", {"ad": AD})
    assert resolved(type="sound", country="de", period="30") == (
        "trends",
        {"type": "sound", "country": "DE", "period": 30},
    )
    assert resolved(operation="top_ads", industry="label_22000000000", sort="ctr")[1] == {
        "industry": "22000000000", "sort": "ctr",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": "x", "region": "US"}, "must be all or some of AT, BE"),
        ({"query": "x", "region": ","}, "must be all or some of"),
        ({"query": "x", "start": "31.12.2026"}, "must be a day"),
        ({"query": "x", "start": "2026-02-01", "end": "2026-01-01"}, "is after end"),
        ({"query": "x", "advertiser": PAYER}, "either words"),
        ({"query": "x", "cursor": "a b"}, "next_cursor"),
        ({"ad": "x"}, "an ad's number"),
        ({"type": "song"}, "type"),
        ({"type": "sound", "country": "USA"}, "two letters"),
        ({"operation": "top_ads", "period": "90"}, "period"),
        ({"operation": "top_ads", "industry": "beauty"}, "number of an industry"),
        ({"operation": "top_ads", "cursor": "0"}, "page's number"),
        ({"operation": "top_ad_analytics", "ad": TOP, "metric": "likes"}, "metric"),
    ],
)
def test_wrong_arguments(arguments, told):
    with pytest.raises(ArgumentError, match=told):
        resolved(**arguments)


def test_a_search_of_the_library():
    first = fetch("library", query="ton", region="DE", start="2026-01-01", end="2026-01-31")
    assert (first.method, first.destination, first.referer) == ("POST", "xhr", "https://library.tiktok.com/ads")
    assert asked(first) == {"region": "DE", "type": "1", "start_time": "1767225600", "end_time": "1769903999"}
    assert orjson.loads(first.body) == {
        "query": "ton", "query_type": "1", "adv_biz_ids": "", "order": "last_shown_date,desc", "offset": 0,
        "search_id": "", "limit": 12,
    }  # fmt: skip
    assert dict(first.token_headers)["X-CCL-STR"].default is None
    second = orjson.loads(fetch("library", advertiser=PAYER, cursor="abc=", seen=12).body)
    assert (second["query_type"], second["adv_biz_ids"], second["search_id"], second["offset"]) == (
        "2",
        PAYER,
        "abc=",
        12,
    )
    assert orjson.loads(fetch("library").body)["query_type"] == ""


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ({}, ("2026-06-24T00:00:00", "2026-09-22T21:00:00")),
        ({"start": "2026-09-01"}, ("2026-09-01T00:00:00", "2026-09-22T21:00:00")),
        ({"end": "2026-09-10"}, ("2026-06-12T00:00:00", "2026-09-10T23:59:59")),
        ({"start": "2030-01-01"}, ("2026-09-22T21:00:00", "2026-09-22T21:00:00")),
    ],
)
def test_the_window_of_a_search(days, expected):
    start, end = TiktokAdsSpider.operations["library"].params(query="x", **days).window(NOW)
    assert tuple(datetime.fromtimestamp(at, UTC).isoformat()[:19] for at in (start, end)) == expected


def test_one_ad_of_the_library():
    found = fetch("library", ad=AD)
    assert (found.method, found.url) == ("GET", f"https://library.tiktok.com/api/v1/items/{AD}/details?lang=en-US")


def test_the_handshake_comes_before_the_library_alone():
    location, regions = TiktokAdsSpider.visits(fetch("library", query="x").url)
    assert (urlsplit(location.url).path, urlsplit(regions.url).path) == ("/api/v1/location", "/api/v1/support-regions")
    assert (location.harvest, regions.harvest) == (False, True)
    assert TiktokAdsSpider.visits(fetch("top_ads").url) == ()


def test_calls_of_the_creative_center():
    found = fetch("top_ads", country="us", query="ton ofen", sort="ctr", cursor="3", likes="1")
    assert urlsplit(found.url).path == "/creative_radar_api/v1/top_ads/v2/list"
    assert asked(found) == {"period": "30", "order_by": "ctr", "country_code": "US", "like": "1", "keyword": "ton ofen",
                            "page": "3", "limit": "20"}  # fmt: skip
    assert set(found.token_headers) == {"anonymous-user-id", "timestamp", "user-sign"}
    names = {token.name for token in found.token_headers.values()}
    assert names == TiktokAdsSpider.compute_tokens("x", 1).keys()
    assert asked(fetch("top_ad", ad=TOP)) == {"material_id": TOP}
    assert urlsplit(fetch("top_ads", related_to=TOP).url).path.endswith("/top_ads/v2/recommend")


def test_analytics_go_through_all_metrics():
    first, named, place = (
        fetch("top_ad_analytics", ad=TOP),
        fetch("top_ad_analytics", ad=TOP, metric="click_cnt"),
        fetch("top_ad_analytics", ad=TOP, cursor="ctr_percentile"),
    )
    assert asked(first) == {"material_id": TOP, "metric": "retain_ctr"}
    assert (asked(named)["metric"], urlsplit(named.url).path) == (
        "click_cnt",
        "/creative_radar_api/v1/top_ads/keyframe",
    )
    assert urlsplit(place.url).path == "/creative_radar_api/v1/top_ads/percentile"


@pytest.mark.parametrize(
    ("kind", "path", "wanted"),
    [
        ("hashtag", "popular_trend/hashtag/list", {"sort_by": "popular", "period": "7", "country_code": "DE"}),
        ("sound", "popular_trend/sound/rank_list", {"rank_type": "popular", "country_code": "DE"}),
        ("creator", "popular_trend/creator/list", {"sort_by": "follower", "creator_country": "DE"}),
        ("video", "popular_trend/list", {"order_by": "vv", "country_code": "DE"}),
        ("keyword", "script/keyword/list", {"order_by": "post", "order_type": "desc"}),
        ("product", "top_products/list", {"last": "7", "period_type": "last", "ecom_type": "l3"}),
    ],
)
def test_lists_of_trends(kind, path, wanted):
    found = fetch("trends", type=kind, country="DE", cursor="2")
    assert urlsplit(found.url).path == f"/creative_radar_api/v1/{path}"
    assert wanted.items() <= asked(found).items()
    assert (asked(found)["page"], asked(found)["limit"]) == ("2", "20")
    assert found.referer.startswith("https://ads.tiktok.com/business/creativecenter/")


def test_another_order():
    assert asked(fetch("trends", type="sound", sort="surging"))["rank_type"] == "surging"
    assert asked(fetch("trends", type="product", sort="ctr"))["order_by"] == "ctr"


def test_reading_a_stored_call_changes_nothing():
    for operation, values in (
        ("library", {"url": f"https://library.tiktok.com/ads?adv_biz_ids={PAYER}&region=DE"}),
        ("library", {"query": "a%20b", "region": "fr,de", "start": "2026-01-01", "cursor": "ab=="}),
        ("top_ads", {"industry": "label_22000000000", "country": "us"}),
        ("top_ad_analytics", {"ad": TOP, "cursor": "click_cnt"}),
        ("trends", {"type": "creator", "period": 120}),
    ):
        model = TiktokAdsSpider.operations[operation].params
        once = model(**values)
        assert model.model_validate(once.model_dump(mode="json", exclude_defaults=True)) == once


def test_requests_stay_within_the_hosts_of_the_site():
    entry = load_sites(Path(__file__).parents[2] / "sites.yaml")["tiktok_ads"]
    every = [fetch("library", query="x"), fetch("top_ads"), fetch("trends"), *contract.handshake()]
    assert {urlsplit(one.url).hostname for one in every} == set(entry.allowed_hosts)
    assert (entry.robots, entry.concurrency, entry.delay) == ("obey", 1, 3)


def test_the_contract_is_dated():
    assert all(sighting.fact and sighting.source and "20" in sighting.seen for sighting in contract.SIGHTINGS)
    assert {name: chosen.counts for name, chosen in TiktokAdsSpider.operations.items()} == {
        "library": "ad", "top_ads": "ad", "top_ad": None, "top_ad_analytics": "ad_analytics", "trends": "trend",
    }  # fmt: skip
    assert all(chosen.summary for chosen in TiktokAdsSpider.operations.values())
