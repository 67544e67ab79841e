from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError

from fetchworker.contracts import Page
from fetchworker.errors import ArgumentError
from fetchworker.spiders.meta import contract
from fetchworker.spiders.meta.params import AdParams, AdsParams, ArchiveParams
from fetchworker.spiders.meta.parse import CONTROL, DETAILS
from fetchworker.spiders.meta.spider import MetaSpider
from fetchworker.spiders.requests import build_request, fetch_meta

LIBRARY = "https://www.facebook.com/ads/library/"


def fetches(call):
    return list(MetaSpider.operations[call.operation].fetches(MetaSpider(), call))


def named(**arguments):
    return MetaSpider.make_resolver().arguments(arguments).call


def variables(fetch):
    return json.loads(dict(fetch.form)["variables"])


@pytest.mark.parametrize(
    ("query", "operation", "values"),
    [
        ("active_status=all&ad_type=political_and_issue_ads&country=BD&q=clay%20bowl&media_type=video", "ads",
         {"query": "clay bowl", "country": "BD", "status": "all", "ad_type": "political_and_issue_ads",
          "media_type": "video"}),
        ("q=clay+bowl&search_type=keyword_exact_phrase&sort_data[mode]=relevancy_monthly_grouped", "ads",
         {"query": "clay bowl", "exact": True, "sort": "relevance"}),
        ("country=ALL&view_all_page_id=112123456789012&search_type=page", "ads", {"page_id": "112123456789012"}),
        ("id=1501234567890123", "ad", {"id": "1501234567890123"}),
        ("country=US&id=1501234567890123#x", "ad", {"id": "1501234567890123"}),
    ],
)  # fmt: skip
def test_addresses(query, operation, values):
    call = named(url=f"{LIBRARY}?{query}")
    assert (call.operation, call.params.model_dump(exclude_defaults=True)) == (operation, values)


def test_an_address_means_the_same_as_its_parts():
    assert named(url=f"{LIBRARY}?q=bowl&country=bd") == named(query="bowl", country="BD")
    assert named(url=f"{LIBRARY}?id=15") == named(id="15")
    own = contract.search_url(AdsParams(query="a & b", country="BD", exact=True, sort="relevance"))
    assert named(url=own).params == AdsParams(query="a & b", country="BD", exact=True, sort="relevance")


@pytest.mark.parametrize("url", [LIBRARY, f"{LIBRARY}?country=US", "https://www.facebook.com/clay"])
def test_addresses_of_nothing(url):
    with pytest.raises(ArgumentError):
        named(url=url)


@pytest.mark.parametrize(
    ("model", "values"),
    [(AdsParams, {}), (AdsParams, {"query": " "}), (AdsParams, {"query": "x", "country": "Malta"}), (AdParams, {}),
     (AdsParams, {"query": "x", "status": "running"}), (AdParams, {"id": "x"}), (ArchiveParams, {}),
     (ArchiveParams, {"query": "x", "countries": ""}), (ArchiveParams, {"page_ids": "1,b"}),
     (AdsParams, {"query": "x", "since": "yesterday"})],
)  # fmt: skip
def test_wrong_arguments(model, values):
    with pytest.raises(ValidationError):
        model(**values)


def test_ways_to_a_search():
    call = named(query="bowl", country="bd", status="all", since="2026-01-31")
    page, query = fetches(call)
    told = {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}
    assert (told["q"], told["country"], told["active_status"]) == ("bowl", "BD", "all")
    assert told["start_date[min]"] == "2026-01-31"
    sent = variables(query)
    assert (sent["queryString"], sent["countries"], sent["activeStatus"]) == ("bowl", ["BD"], "ALL")
    assert (sent["searchType"], sent["startDate"]) == ("KEYWORD_UNORDERED", {"min": "2026-01-31", "max": None})
    assert sent["sortData"]["mode"] == "SORT_BY_TOTAL_IMPRESSIONS"
    assert query.referer == page.url
    (later,) = fetches(call.then(cursor="AQ1", seen=10, state={"session_id": "s", "v": "0a0b0c"}))
    assert (variables(later)["cursor"], variables(later)["sessionID"], variables(later)["v"]) == ("AQ1", "s", "0a0b0c")


def test_a_visit_keeps_its_ids():
    first, second = (fetches(named(query="bowl", cursor=cursor))[0] for cursor in ("A", "B"))
    assert variables(first)["sessionID"] == variables(second)["sessionID"]
    assert variables(first)["sessionID"] != variables(fetches(named(query="kite", cursor="A"))[0])["sessionID"]


def test_the_control_search():
    (fetch,) = fetches(named(query="bowl").then(cursor=CONTROL, seen=0, state={"zero": True}))
    assert (variables(fetch)["queryString"], variables(fetch)["countries"]) == (contract.CONTROL_WORDS, ["ALL"])


def test_an_advertisers_ads():
    page, query = fetches(named(page_id="112"))
    assert "search_type=page" in page.url
    assert (variables(query)["viewAllPageID"], variables(query)["searchType"]) == ("112", "PAGE")


def test_ways_to_an_ad():
    call = named(id="15")
    assert [fetch.strategy for fetch in fetches(call)] == ["page", "graphql"]
    (details,) = fetches(call.then(cursor=DETAILS, seen=0, state={"page_id": "112"}))
    assert (variables(details)["adArchiveID"], variables(details)["pageID"]) == ("15", "112")


def test_the_official_api_has_its_token_in_no_request():
    big, small = fetches(named(operation="ads_archive", query="vote", countries="MT,IT", limit="5"))
    told = parse_qs(urlsplit(big.url).query)
    assert (told["ad_reached_countries"], told["search_terms"]) == (['["MT","IT"]'], ["vote"])
    assert "ad_snapshot_url" not in told["fields"][0]
    assert (told["limit"], parse_qs(urlsplit(small.url).query)["limit"]) == (["100"], ["10"])
    request = build_request(big, fetch_meta(big))
    assert "token" not in request.url
    assert b"Authorization" not in request.headers
    wanted = {"Authorization": ["meta_access_token", "Bearer ", "https://graph.facebook.com"]}
    assert request.meta["fw_secret_headers"] == wanted
    assert named(page_ids="1,2").params.page_ids == ["1", "2"]


@pytest.mark.parametrize(
    ("body", "url"),
    [(b"<script>fetch('/__rd_verify_Q_6-x?challenge=3', {method: 'POST'})</script>",
      "https://www.facebook.com/__rd_verify_Q_6-x?challenge=3"),
     (b'<script>fetch("/__rd_verify_abc", {})</script>', "https://www.facebook.com/__rd_verify_abc"),
     (b"<p>/__rd_verify_abc</p>", None), (b"", None), (b"<script>fetch('//evil.test/__rd_verify_a')</script>", None)],
)  # fmt: skip
def test_the_gate(body, url):
    fetch = contract.gate(Page(f"{LIBRARY}?q=x", 403, {}, body))
    assert (fetch.url if fetch else None) == url
    assert fetch is None or fetch.method == "POST"
