"""Ads of the library: pages of searches, and one with its details."""

from __future__ import annotations

import base64

import pytest

from fetchworker.errors import ContractError

SEARCH = "https://library.tiktok.com/api/v1/search?region={}&type=1&start_time=1&end_time=2"


def test_a_page_of_ads(site):
    film, picture = (
        site.ad(),
        site.ad("1870000000000002", name="", title=None, videos=[], image_urls=["https://p.example/2"]),
    )
    body = site.searched(film, picture, after=site.cursor(12))
    found = site.parsed("library", body, url=SEARCH.format("DE"), region="DE")
    first, second, page = found.items
    assert (first.kind, first.id, first.title, first.format) == ("ad", site.ad_number, "Ton & Feuer", "video")
    assert (first.advertiser.name, first.advertiser.id) == ("Ofengasse GmbH", None)
    assert (first.start_date, first.last_seen, first.end_date, first.active) == ("2026-09-21", "2026-09-22", None, None)
    assert (first.reach_min, first.reach_max, first.reach) == (10000, 100000, None)
    assert (first.impressions_min, first.spend_min) == (None, None), "0 and an empty text say nothing"
    assert (first.countries, first.extra["region"]) == (["DE"], "DE")
    assert first.url == f"https://library.tiktok.com/ads/detail/?ad_id={site.ad_number}"
    assert (second.advertiser, second.title, second.format, second.media[0].type) == (None, None, "image", "image")
    assert (page.kind, page.total, page.next_cursor, page.exhausted) == ("page", 17, site.cursor(12), False)
    assert found.cursor == site.cursor(12)


@pytest.mark.parametrize("region", ["all", "DE,FR"])
def test_several_countries_say_nothing_of_one_ad(site, region):
    body = site.searched(site.ad())
    assert site.parsed("library", body, url=SEARCH.format(region)).items[0].countries == []


def test_an_ad_that_was_stopped(site):
    why = {"affected_regions": ["DK"], "reasons": ["invented"], "automated_notice": "by machine",
           "reporting_source": "found by ourselves", "hit_illegal_content_reason": 0}  # fmt: skip
    first = site.parsed("library", site.searched(site.ad(rejection_info=why, sor_audit_status="3"))).items[0]
    assert first.rejected_in == ["DK"]
    assert first.extra["rejection_reasons"] == ["invented"]
    assert (first.extra["is_rejected"], first.extra["sor_audit_status"]) == (True, "3")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("0-1K", (0, 1000)),
        ("1.3M-1.6M", (1300000, 1600000)),
        ("10K-100K", (10000, 100000)),
        ("1,5 Mio.-2 Mio.", (1500000, 2000000)),
        ("100K-10K", (None, None)),
        ("1K", (None, None)),
        ("", (None, None)),
        (None, (None, None)),
        (17, (None, None)),
    ],
)
def test_buckets_of_viewers(site, told, expected):
    first = site.parsed("library", site.searched(site.ad(estimated_audience=told))).items[0]
    assert (first.reach_min, first.reach_max) == expected


def cursor_after(site, body, before=None, **values):
    return site.parsed("library", body, cursor=before, number=2 if before else 1, query="x", **values).cursor


def test_a_cursor_that_stands_still_is_the_end_whatever_has_more_says(site):
    assert cursor_after(site, site.searched(site.ad(), after=site.cursor(24)), site.cursor(12)) == site.cursor(24)
    assert cursor_after(site, site.searched(site.ad(), after=site.cursor(12)), site.cursor(12)) is None
    sooner = base64.b64encode(b'{"next_cursor":12,"other":1}').decode()  # the same place in other words
    assert cursor_after(site, site.searched(site.ad(), after=site.cursor(6)), site.cursor(12)) is None
    assert cursor_after(site, site.searched(site.ad(), after=sooner), site.cursor(12)) is None


def test_other_ends(site):
    assert cursor_after(site, site.searched(site.ad(), after=site.cursor(24), more=False), site.cursor(12)) is None
    assert cursor_after(site, site.searched(after=site.cursor(24)), site.cursor(12)) is None
    assert cursor_after(site, site.searched(site.ad())) is None
    assert cursor_after(site, site.searched(site.ad(), after="20240101opaque")) == "20240101opaque"
    assert cursor_after(site, site.searched(site.ad(), after="20240101opaque"), "20240101opaque") is None


def test_ads_of_the_page_before_are_left_out(site):
    body = site.searched(site.ad(), site.ad("1870000000000002"), after=site.cursor(24))
    found = site.parsed("library", body, cursor=site.cursor(12), query="x", state={"given": [site.ad_number]})
    assert [item.id for item in found.items[:-1]] == ["1870000000000002"]


def test_an_empty_search_is_a_page_without_ads(site):
    found = site.parsed("library", site.searched(total=0), query="nothing like it")
    assert ([item.kind for item in found.items], found.items[0].total, found.cursor) == (["page"], 0, None)


def test_one_ad_with_its_details(site):
    ad, payer = site.parsed("library", site.details(), ad=site.ad_number).items
    assert (ad.id, ad.link_url, ad.landing_page, ad.cta) == (
        site.ad_number, "https://ofen.example/", "https://ofen.example/", "Jetzt kaufen",
    )  # fmt: skip
    assert ad.countries == ["DE", "AT"]
    assert ad.advertiser.id == payer.id == "6870000000000000001"
    assert (payer.kind, payer.name, payer.url) == ("advertiser", "Ofengasse GmbH", "https://www.tiktok.com/@ofengasse")
    assert "age" not in ad.extra["targeting"]


def test_details_without_an_advertiser(site):
    body = site.details(name="")
    body["data"]["advertiser"] = None
    (ad,) = site.parsed("library", body, ad=site.ad_number).items
    assert ad.advertiser is None


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"system busy", "no JSON object"),
        (b"", "no JSON object"),
        ({"code": 40001, "msg": "odd"}, "40001 odd"),
        ({"code": 0, "data": None}, "data"),
        ({"code": 0, "data": {"ad": {}}}, "data.ad.id"),
        ({"code": 0}, "data"),
    ],
)
def test_what_is_no_answer(site, body, told):
    with pytest.raises(ContractError, match=told):
        site.parsed("library", body)


def test_another_ads_details_are_none(site):
    with pytest.raises(ContractError, match="another ad"):
        site.parsed("library", site.details(), ad="1870000000000009")
