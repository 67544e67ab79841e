from __future__ import annotations

import json
from pathlib import Path

import pytest

from fetchworker.contracts import Call, Page
from fetchworker.errors import ArgumentError
from fetchworker.outcomes import Outcome, classify
from fetchworker.sites import load_sites
from fetchworker.spiders.ads_transparency import contract, geo
from fetchworker.spiders.ads_transparency.spider import AdsTransparencySpider

AR, CR = "AR10000000000000000001", "CR20000000000000000001"
SITE = "https://adstransparency.google.com"


def resolved(**arguments):
    call = AdsTransparencySpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_defaults=True, mode="json")


def request(operation, *, cursor=None, **values):
    """The one request of a call, and what it asks."""
    chosen = AdsTransparencySpider.operations[operation]
    (found,) = chosen.fetches(None, Call(operation, chosen.params(**values), cursor=cursor))
    assert [name for name, _ in found.form] == ["f.req"]
    assert (found.method, found.destination, found.referer) == ("POST", "xhr", f"{SITE}/")
    assert dict(found.headers) == {"X-Same-Domain": "1"}
    return found.url.removeprefix(contract.RPC), json.loads(found.form[0][1])


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        (f"{SITE}/advertiser/{AR}", "creatives", {"advertiser": AR}),
        (f"{SITE}/advertiser/{AR}/?region=anywhere", "creatives", {"advertiser": AR}),
        (f"{SITE}/advertiser/{AR}?hl=de&region=NO&topic=political&format=VIDEO#x", "creatives",
         {"advertiser": AR, "region": "NO", "topic": "political", "format": "video"}),
        (f"{SITE}/?region=US&domain=kiln.example", "creatives", {"domain": "kiln.example", "region": "US"}),
        (f"{SITE}/?domain=kiln.example&region=anywhere", "creatives", {"domain": "kiln.example"}),
        (f"{SITE}/advertiser/{AR}/creative/{CR}?region=gb", "creative",
         {"advertiser": AR, "creative": CR, "region": "GB"}),
    ],
)  # fmt: skip
def test_addresses_name_their_operation(url, operation, params):
    assert resolved(url=url) == (operation, params)


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/",
        f"{SITE}/?region=US",
        f"{SITE}/advertiser/AR1",
        f"{SITE}/faq",
        f"https://evil.example/advertiser/{AR}",
    ],
)
def test_other_addresses_name_none(url):
    with pytest.raises(ArgumentError):
        resolved(url=url)


def test_arguments_name_their_operation():
    assert resolved(query=" kiln  house ", region="no") == ("suggestions", {"query": "kiln house", "region": "NO"})
    assert resolved(advertiser=AR) == ("creatives", {"advertiser": AR})
    assert resolved(domain="https://www.Kiln.example/vases") == ("creatives", {"domain": "kiln.example"})
    for arguments in ({"advertiser": AR, "creative": CR}, {"creative": CR, "advertiser": AR}):
        assert resolved(**arguments) == ("creative", {"advertiser": AR, "creative": CR})
    assert resolved(creative=CR, url=f"{SITE}/advertiser/{AR}")[0] == "creative"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"query": " "}, "empty"), ({"query": "a", "size": "31"}, "size"),
        ({"query": "a", "region": "XX"}, "two letters"),
        ({"advertiser": "kiln"}, "AR and a number"), ({"creative": CR}, "advertiser"),
        ({"creative": "CR1", "advertiser": AR}, "CR and a number"), ({"domain": "kiln"}, "site's name"),
        ({"operation": "creatives"}, "say whose"), ({"advertiser": AR, "start": "yesterday"}, "start"),
        ({"advertiser": AR, "format": "film"}, "format"), ({"advertiser": AR, "page_size": "200"}, "page_size"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_clearly(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        resolved(**arguments)


def test_a_search_for_advertisers():
    assert request("suggestions", query="kiln") == (
        "SearchService/SearchSuggestions?authuser=", {"1": "kiln", "2": 10, "3": 10, "5": {"1": 1}},
    )  # fmt: skip
    assert request("suggestions", query="kiln", region="BE", size=30)[1] == {
        "1": "kiln", "2": 30, "3": 30, "4": [2056], "5": {"1": 1},
    }  # fmt: skip


def test_an_advertisers_ads():
    """Key 7 is always there: without it the answer is empty, as if there were none."""
    assert request("creatives", advertiser=AR) == (
        "SearchService/SearchCreatives?authuser=",
        {"2": 40, "3": {"12": {"1": "", "2": True}, "13": {"1": [AR]}}, "7": {"1": 1, "2": 0, "3": 2840}},
    )  # fmt: skip
    told = request("creatives", advertiser=AR, region="DE", format="video", start="2026-01-31", end="2026-02-28",
                   platform=3, page_size=100, cursor="abc=")[1]  # fmt: skip
    assert told == {
        "2": 100,
        "3": {"4": 3, "6": 20260131, "7": 20260228, "8": [2276], "12": {"1": "", "2": True}, "13": {"1": [AR]},
        "14": [3]},
        "4": "abc=", "7": {"1": 1, "2": 0, "3": 2276},
    }  # fmt: skip
    assert list(told["3"]) == ["4", "6", "7", "8", "12", "13", "14"]


def test_a_domains_ads_and_political_ones():
    assert request("creatives", domain="kiln.example")[1]["3"] == {"12": {"1": "kiln.example", "2": True}}
    told = request("creatives", advertiser=AR, topic="political")[1]
    assert (told["3"], told["7"]["1"]) == ({"1": AR, "12": {"1": "", "2": True}}, 2)


def test_one_ad():
    assert request("creative", advertiser=AR, creative=CR, region="KR") == (
        "LookupService/GetCreativeById?authuser=", {"1": AR, "2": CR, "5": {"1": 1, "2": 0, "3": 2410}},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "number"),
    [("US", 2840), ("gb", 2826), ("UK", 2826), ("DE", 2276), ("FR", 2250), ("IN", 2356), ("BR", 2076), ("XX", None)],
)
def test_countries_and_their_numbers(code, number):
    assert geo.criterion(code) == number
    if number:
        assert geo.country(number) == geo.country(str(number)) == ("GB" if code == "UK" else code.upper())


@pytest.mark.parametrize("number", [None, 0, 2000, 1014221, "x", -2840, True])
def test_numbers_of_no_country(number):
    assert geo.country(number) is None


def judged(body="", *, method="SearchService/SearchCreatives", status=200, url=None, location=None):
    address = f"{contract.RPC}{method}?authuser="
    headers = {"location": [location]} if location else {}
    page = Page(url or address, status, headers, body.encode())
    return classify(page, site="ads_transparency", request_url=address).outcome


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (judged("{}"), Outcome.OK),
        (judged("{}", method="SearchService/SearchSuggestions"), Outcome.OK),
        (judged("{}", method="LookupService/GetCreativeById"), Outcome.NOT_FOUND),
        (judged('{"1":{"1":"AR1"}}', method="LookupService/GetCreativeById"), Outcome.OK),
        (judged('{"1":[],"4":"400","5":"400"}'), Outcome.OK),
        (judged('{"2":"a.BadRequestException","5":400,"9":3}'), Outcome.ERROR),
        (judged('{"2":"a.BadRequestException","5":400,"9":3}', status=400), Outcome.ERROR),
        (judged("slow", status=429), Outcome.RATE_LIMITED),
        (judged(status=302, location="https://www.google.com/sorry/index?continue=x"), Outcome.CHALLENGE),
        (judged("<html>", url="https://www.google.com/sorry/index?continue=x"), Outcome.CHALLENGE),
        (judged(status=302, location="https://consent.google.de/m?continue=x"), Outcome.LOGIN_WALL),
    ],
)
def test_outcomes(answer, outcome):
    assert answer is outcome


def test_the_shipped_entry():
    entry = load_sites(Path(__file__).parents[2] / "sites.yaml")["ads_transparency"]
    assert (entry.pace, entry.concurrency, entry.per_minute) == ("identity", 1, 12)
    assert contract.HOST in entry.allowed_hosts
