"""What the server sees is the identity's browser: names, values and order of headers, and nothing of Scrapy."""

from __future__ import annotations

import json

import pytest

from fetchworker.download.headers import request_headers
from fetchworker.download.profiles import get_profile
from fetchworker.errors import ConfigError

NAVIGATION = [
    ":method", ":authority", ":scheme", ":path", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform",
    "upgrade-insecure-requests", "user-agent", "accept", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-user",
    "sec-fetch-dest", "accept-encoding", "accept-language", "priority",
]  # fmt: skip


async def seen(site, path="/headers", **options) -> dict:
    return json.loads((await site.get(path, **options)).body)


def names(answer) -> list[str]:
    return [name.lower() for name, _ in answer["headers"]]


def values(answer) -> dict[str, str]:
    return {name.lower(): value for name, value in answer["headers"]}


def expected(profile, **request) -> list[str]:
    lines = request_headers(profile, **{"destination": "navigate", "method": "GET", **request})
    found = [line.partition(b":")[0].decode().lower() for line in lines if not line.endswith(b":")]
    return [name for name in found if name not in ("connection", "host")]


async def test_a_navigation_of_chrome(drive):
    async with drive(profile="chrome") as site:
        answer = await seen(site)
    assert names(answer) == NAVIGATION
    profile, told = get_profile("chrome"), values(answer)
    assert told["user-agent"] == profile.user_agent
    assert told["sec-ch-ua"] == profile.sec_ch_ua
    assert (told["sec-fetch-site"], told["sec-fetch-mode"], told["sec-fetch-dest"]) == ("none", "navigate", "document")
    assert told["accept-encoding"] == profile.accept_encoding
    assert answer["alpn"] == "h2"


@pytest.mark.parametrize("name", ["chrome", "firefox", "safari", "chrome_android"])
@pytest.mark.parametrize("destination", ["navigate", "xhr"])
async def test_order_and_values_are_the_profiles(drive, name, destination):
    profile = get_profile(name)
    async with drive(profile=name) as site:
        options = {"meta": {"fw_destination": destination}, "headers": {"X-Requested-With": "XMLHttpRequest"}}
        answer = await seen(site, **options)
    wanted = expected(
        profile,
        destination=destination,
        url="https://lab.example/headers",
        caller_headers=[("X-Requested-With", "XMLHttpRequest")],
        accept_language="en-US,en;q=0.9",
    )
    assert [header for header in names(answer) if not header.startswith(":")] == wanted
    told = values(answer)
    assert told["user-agent"] == profile.user_agent
    assert told.get("sec-ch-ua") == profile.sec_ch_ua
    if destination == "xhr":
        assert told["sec-fetch-mode"] == "cors"
        assert told["accept"] == "*/*"


async def test_a_form_that_is_posted_by_a_page(drive):
    async with drive() as site:
        answer = await seen(
            site,
            method="POST",
            body=b"a=1",
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            meta={"fw_referer": "https://www.instagram.com/nasa/?x=1"},
        )
    told = values(answer)
    assert told["origin"] == "https://www.instagram.com"
    assert told["referer"] == "https://www.instagram.com/"
    assert told["sec-fetch-site"] == "cross-site"
    assert (told["content-length"], told["content-type"]) == ("3", "application/x-www-form-urlencoded")


async def test_the_story_goes_on_over_a_redirect_to_another_site(drive):
    async with drive() as site:
        url = "/redirect-to?url=https://other.example/redirect-to?url=https://lab.example/headers"
        told = values(await seen(site, url, meta={"fw_referer": "https://lab.example/start"}))
    assert told["referer"] == "https://lab.example/start"
    assert told["sec-fetch-site"] == "cross-site", "it came by way of another site"


async def test_the_sites_language_is_spoken(drive):
    async with drive(accept_language="de-DE,de;q=0.8") as site:
        assert values(await seen(site))["accept-language"] == "de-DE,de;q=0.8"


async def test_nothing_says_scrapy_and_nothing_is_sent_twice(drive):
    async with drive() as site:
        for options in ({}, {"meta": {"fw_destination": "xhr"}}, {"cookies": {"a": "1"}, "session": "ann"}):
            answer = await seen(site, **options)
            assert "scrapy" not in json.dumps(answer).lower()
            assert "fetchworker" not in json.dumps(answer).lower()
            assert len(names(answer)) == len(set(names(answer)))


async def test_plain_http_has_the_case_of_http_1(drive):
    async with drive() as site:
        answer = await seen(site, "http://lab.example/headers")
    sent = [name for name, _ in answer["headers"]]
    assert sent[:2] == ["Host", "Connection"]
    assert "User-Agent" in sent
    assert not [name for name in sent if name.lower().startswith("sec-")], "client hints are for https"


@pytest.mark.parametrize("headers", [{"User-Agent": "curl/8"}, {"sec-ch-ua": '"Other";v="1"'}, {"bad name": "x"}])
async def test_a_header_that_gives_the_browser_away_is_refused(drive, headers):
    async with drive() as site:
        with pytest.raises(ConfigError):
            await site.get("/headers", headers=headers, session="ann")
        assert site.requests == []


async def test_an_unknown_profile_refuses_the_start(drive):
    with pytest.raises(ConfigError, match="chrome"):
        async with drive(profile="chrom"):
            pass
