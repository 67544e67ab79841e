from __future__ import annotations

import pytest

from fetchworker.errors import ContractError


def test_suggestions(site):
    domain = {"2": {"1": "kilnhouse.example"}}
    few = site.advertiser(**{"2": "AR10000000000000000002", "4": {"2": {"1": "4", "2": "4"}}, "5": True})
    first, second, third, page = site.parsed("suggestions", {"1": [site.advertiser(), few, domain], "3": "t="}).items
    assert (first.kind, first.id, first.name, first.country) == ("advertiser", site.kiln, "Kiln House Ltd", "NO")
    assert (first.ads_count, first.ads_count_min, first.ads_count_max, first.verified) == (None, 200, 300, None)
    assert first.url == f"https://adstransparency.google.com/advertiser/{site.kiln}?region=anywhere"
    assert (second.ads_count, second.verified) == (4, False)
    assert (third.id, third.name, third.domain) == (None, None, "kilnhouse.example")
    assert third.url == "https://adstransparency.google.com/?region=anywhere&domain=kilnhouse.example"
    assert (page.kind, page.exhausted, page.next_cursor) == ("page", True, None)


@pytest.mark.parametrize("operation", ["suggestions", "creatives"])
def test_nothing_found_is_an_answer(site, operation):
    (page,) = site.parsed(operation, {}).items
    assert (page.kind, page.exhausted, page.total) == ("page", True, None)


def test_an_advertiser_without_ads_numbers(site):
    first = site.parsed("suggestions", {"1": [{"1": {"1": "Kiln", "2": site.kiln}}]}).items[0]
    assert (first.country, first.ads_count, first.ads_count_min) == (None, None, None)


def test_a_row(site):
    ad, page = site.parsed("creatives", {"1": [site.row()], "2": "next=", "4": "8000", "5": "9000"}).items
    assert (ad.id, ad.advertiser.id, ad.advertiser.name) == (site.first, site.kiln, "Kiln House Ltd")
    assert (ad.start_date, ad.last_seen, ad.days_shown) == ("2026-05-28", "2026-05-30", 3)
    assert (ad.first_shown_at, ad.last_shown_at) == ("2026-05-28T20:26:40Z", "2026-05-30T20:26:40Z")
    assert (ad.format, ad.end_date, ad.active) == ("text", None, None)
    (picture,) = ad.media
    assert (picture.type, picture.url) == ("image", "https://tpc.example/archive/simgad/77")
    assert (picture.width, picture.height) == (300, 250)
    assert ad.url == f"https://adstransparency.google.com/advertiser/{site.kiln}/creative/{site.first}?region=anywhere"
    assert (page.total, page.total_min, page.total_max) == (None, 8000, 9000)
    assert (page.next_cursor, page.exhausted) == ("next=", False)


def test_the_last_page(site):
    found = site.parsed("creatives", {"1": [site.row()], "4": "1", "5": "1"}, advertiser=site.kiln)
    page = found.items[-1]
    assert (found.cursor, page.next_cursor, page.exhausted, page.total) == (None, None, True, 1)
    assert page.url == f"https://adstransparency.google.com/advertiser/{site.kiln}?region=anywhere"


def test_a_page_without_rows_is_the_end(site):
    found = site.parsed("creatives", {"2": "next=", "4": "0", "5": "0"}, domain="kilnhouse.example")
    assert (found.cursor, len(found.items)) == (None, 1)


def test_other_advertisers_ads_are_left_out(site):
    rows = [site.row(), site.row(**{"1": "AR10000000000000000002"})]
    assert [ad.id for ad in site.parsed("creatives", {"1": rows}, advertiser=site.kiln).items[:-1]] == [site.first]
    assert len(site.parsed("creatives", {"1": rows}, domain="kilnhouse.example").items) == 3


def test_the_kind_is_the_previews_and_not_the_formats(site):
    """Most of what the site calls text is a picture."""
    picture = site.parsed("creatives", {"1": [site.row(**{"4": 1})]}).items[0]
    script = site.parsed("creatives", {"1": [site.row(**{"3": site.script(), "4": 2, "14": "kiln.example"})]}).items[0]
    plain = site.parsed("creatives", {"1": [site.row(**{"3": {"2": "Vases, half price"}, "4": 9})]}).items[0]
    assert (picture.format, picture.media[0].type) == ("text", "image")
    assert (script.format, script.media) == ("image", [])
    assert script.extra == {
        "domain": "kiln.example",
        "preview_urls": ["https://preview.example/content.js?client=x&sig=s"],
    }
    assert (plain.format, plain.text, plain.media) == (None, "Vases, half price", [])


def test_words_of_the_previews_address(site):
    told = site.overlay(
        site.words("headline", "Blue vases – fired twice"), site.words("description", "From 20 €"),
        site.words("visurl", "kiln.example"), site.words("button", "Buy"), site.words("headline", "Second"),
    )  # fmt: skip
    ad = site.parsed("creatives", {"1": [site.row(**{"3": site.script(told)})]}).items[0]
    assert (ad.title, ad.text, ad.caption) == ("Blue vases – fired twice", "From 20 €", "kiln.example")
    assert ad.extra["texts"] == {"button": "Buy"}


@pytest.mark.parametrize(
    "parameter",
    ["&overlay=", "&overlay=%3D", "&overlay=%3D%3D%3D", "&overlay=a", "&overlay=äöü", "&overlay=%3DH4sI",
    "&assets=%3DH4sIAAAAAAAAA",
     "&overlay=SGVsbG8"],
)  # fmt: skip
def test_words_that_are_broken(site, parameter):
    ad = site.parsed("creatives", {"1": [site.row(**{"3": site.script(parameter)})]}).items[0]
    assert (ad.title, ad.text, ad.caption) == (None, None, None)


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"\x0a\x01",
        b"\x0a\xff\xff",
        b"\x08\x80",
        b"\x0b",
        b"\x0d\x00",
        b"\x0a\x03\xff\xfe\xfd\x12\x01x",
        b"\x0a\x02\x00\x01",
    ],
)
def test_entries_that_are_broken(site, entry):
    ad = site.parsed("creatives", {"1": [site.row(**{"3": site.script(site.overlay(entry))})]}).items[0]
    assert (ad.title, ad.extra.get("texts")) == (None, None)


def test_a_packed_bomb_is_cut(site):
    parameter = site.overlay(site.words("headline", "x" * 100))
    import base64
    import gzip

    bomb = base64.urlsafe_b64encode(gzip.compress(b"\0" * 50_000_000)).decode()
    ad = site.parsed("creatives", {"1": [site.row(**{"3": site.script(f"&overlay={bomb}")})]}).items[0]
    assert ad.title is None
    assert site.parsed("creatives", {"1": [site.row(**{"3": site.script(parameter)})]}).items[0].title == "x" * 100


def test_one_ad(site):
    raw = site.single(**{
        "5": [site.picture(), site.picture(), site.picture(78, ""), site.script(), None],
        "17": [{"1": 2578, "5": 20260702}, {"1": "2840"}, {"1": 2578, "2": "0", "3": "1000"}, {"1": 1014221}],
    })  # fmt: skip
    (ad,) = site.parsed("creative", raw, advertiser=site.kiln, creative=site.first).items
    assert (ad.id, ad.advertiser.name, ad.format) == (site.first, "Kiln House Ltd", "video")
    assert (ad.last_seen, ad.last_shown_at, ad.start_date) == ("2026-05-30", "2026-05-30T20:26:40Z", None)
    assert ad.countries == ["NO", "US"]
    assert [(picture.url[-2:], picture.width) for picture in ad.media] == [("77", 300), ("78", None)]
    assert ad.extra["regions"] == [
        {"geo": 2578, "country": "NO", "last_shown": "2026-07-02"}, {"geo": 2840, "country": "US"},
        {"geo": 2578, "country": "NO", "more": {"2": "0", "3": "1000"}}, {"geo": 1014221},
    ]  # fmt: skip
    assert ad.extra["variations"] == 5


def test_addresses_of_pictures(site):
    raw = site.single(**{"5": [{"3": {"2": "<img alt='a' src='//tpc.example/a'>"}}, {"3": {"2": '<img src="data:x">'}},
                               {"3": {"2": '<img src="https://tpc.example/b?x=1&amp;y=2" width="1px">'}},
                               {"3": {"2": "<b>"}}]})  # fmt: skip
    (ad,) = site.parsed("creative", raw).items
    assert [picture.url for picture in ad.media] == ["https://tpc.example/a", "https://tpc.example/b?x=1&y=2"]


@pytest.mark.parametrize(
    ("operation", "answer"),
    [
        ("creative", {}), ("creative", {"1": []}), ("creative", {"1": {"1": "AR1"}}), ("creative", {"1": {"2": "CR1"}}),
        ("creatives", {"1": [{}]}), ("creatives", {"1": [{"1": "AR1"}]}), ("creatives", {"1": {}}),
        ("creatives", {"9": 1}), ("suggestions", {"1": [{}]}), ("suggestions", {"1": [{"1": {"1": "Kiln"}}]}),
        ("suggestions", {"1": "x"}), ("suggestions", {"2": "BadRequestException", "5": 400, "9": 3}),
        ("creatives", {"2": "BadRequestException", "5": 400}), ("creatives", []), ("creatives", b""),
        ("creatives", b"<html>"), ("suggestions", b'{"1": ['), ("creative", b"null"),
    ],
)  # fmt: skip
def test_answers_that_keep_no_promise(site, operation, answer):
    with pytest.raises(ContractError):
        site.parsed(operation, answer)


def test_another_ad_is_not_taken_for_the_one_asked_for(site):
    with pytest.raises(ContractError, match="another advertisement"):
        site.parsed("creative", site.single(), advertiser=site.kiln, creative="CR20000000000000000009")


def test_a_guard_before_the_json(site):
    assert site.parsed("creatives", b")]}'\n{}").items
    assert site.parsed("creatives", b" )]}'{}").items
