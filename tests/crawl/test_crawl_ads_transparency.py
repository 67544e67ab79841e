"""The Ads Transparency Center, whole: `scrapy crawl` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

import json
from urllib.parse import parse_qs

import pytest

from fetchworker.demo.ads_transparency import PAYERS, WALLED

pytestmark = pytest.mark.slow
KILN, ASH, NIGHT = PAYERS


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "ads_transparency", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def of(items, kind):
    return [item for item in items if item["kind"] == kind]


def test_suggestions(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=kiln")
    assert done.returncode == 0, done.stderr
    advertisers = of(items, "advertiser")
    assert [(item["id"], item["domain"]) for item in advertisers] == [
        (KILN.number, None), (ASH.number, None), (None, KILN.domain), (None, ASH.domain),
    ]  # fmt: skip
    assert (advertisers[0]["ads_count_min"], advertisers[0]["ads_count_max"]) == (90, 100)
    assert advertisers[1]["ads_count"] == 3


@pytest.mark.parametrize("argument", ["query=no such payer", f"advertiser={NIGHT.number}", "domain=nothing.example"])
def test_nothing_found_is_no_failure(project, calm, argument):
    project.use(calm)
    done, (page,) = crawl(project, argument)
    assert (done.returncode, page["kind"], page["exhausted"]) == (0, "page", True)
    assert project.records("failures") == []


def test_ads_are_paged_to_their_end(project, calm):
    project.use(calm)
    done, items = crawl(project, f"advertiser={KILN.number}")
    assert done.returncode == 0, done.stderr
    ads, pages = of(items, "ad"), of(items, "page")
    assert len({ad["id"] for ad in ads}) == len(ads) == 95
    assert [page["next_cursor"] for page in pages] == ["40", "80", None]
    assert (pages[0]["total_min"], pages[0]["total_max"], pages[-1]["exhausted"]) == (90, 100, True)
    assert {ad["format"] for ad in ads} == {"text", "image", "video"}
    assert ads[0]["media"][0]["width"] == 300
    assert (ads[2]["title"], ads[2]["media"]) == ("Vase no 2", [])
    sent = calm.log("request")[-1]
    assert json.loads(parse_qs(sent["body"])["f.req"][0])["4"] == "80"
    headers = {name.lower(): value for name, value in map(tuple, sent["headers"])}
    assert (headers["x-same-domain"], headers["origin"]) == ("1", "https://adstransparency.google.com")
    assert headers["content-type"] == "application/x-www-form-urlencoded"


def test_a_domains_films_with_a_limit_and_a_cursor(project, calm):
    project.use(calm)
    _, items = crawl(project, f"domain={KILN.domain}", "format=video", "page_size=10", "limit=15", "cursor=10")
    ads = of(items, "ad")
    assert len(ads) == 15
    assert {ad["format"] for ad in ads} == {"video"}
    assert {ad["extra"]["domain"] for ad in ads} == {KILN.domain}


def test_one_ad_by_its_address(project, calm):
    project.use(calm)
    _, items = crawl(project, f"advertiser={ASH.number}", "limit=1")
    done, (ad,) = crawl(project, f"url={items[0]['url']}", output="one.jsonl")
    assert done.returncode == 0, done.stderr
    assert (ad["id"], ad["advertiser"]["name"], ad["countries"]) == (items[0]["id"], ASH.name, ["US", "NO"])
    _, (again,) = crawl(project, f"advertiser={ASH.number}", f"creative={ad['id']}", output="again.jsonl")
    assert again["media"] == ad["media"]


def test_an_unknown_ad_is_a_failure_line(project, calm):
    project.use(calm)
    done, items = crawl(project, f"advertiser={ASH.number}", "creative=CR29999999999999999999")
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", "not_found", 1)


def test_the_captcha_costs_an_identity_and_no_ad(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl(project, f"advertiser={KILN.number}")
    assert done.returncode == 0, done.stderr
    assert len(of(items, "ad")) == 95
    assert [record["what"] for record in hostile.log("behaviour")].count("challenge") >= 1
    assert project.records("failures") == []


def test_the_consent_page_is_a_wall(project, calm):
    project.use(calm)
    project.sites(retries=1)
    done, items = crawl(project, f"advertiser={WALLED}")
    assert (done.returncode, items) == (1, [])
    (failure,) = project.records("failures")
    assert (failure["outcome"], failure["attempts"]) == ("login_wall", 2)
