"""What the server sees is the identity's browser: names, values and order of headers, and nothing of Scrapy."""

from __future__ import annotations

import json
import time
from typing import ClassVar

import pytest

from fetchworker.download.headers import request_headers
from fetchworker.download.profiles import get_profile
from fetchworker.errors import ConfigError
from fetchworker.sessions import MemorySessionStore, Session

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
    async with drive(accept_language="de-DE,de;q=0.9") as site:
        assert values(await seen(site))["accept-language"] == "de-DE,de;q=0.9"


async def test_or_that_of_the_exits_country(drive):
    async with drive(accept_language="exit", proxies=1) as site:
        proxy = next(iter(site.runtime.proxies))
        assert values(await seen(site))["accept-language"] == "en-US,en;q=0.9", "nobody knows where this one is"
        object.__setattr__(proxy, "country", "DE")
        assert values(await seen(site))["accept-language"] == "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"USER_AGENT": "Mozilla/5.0 Other/1"}, "USER_AGENT contradicts the impersonation profile chrome152"),
        (
            {"DEFAULT_REQUEST_HEADERS": {"Sec-CH-UA-Mobile": "?1"}},
            "DEFAULT_REQUEST_HEADERS: the header sec-ch-ua-mobile",
        ),
        ({"DOWNLOADER_CLIENT_TLS_CIPHERS": "AES128-SHA"}, "DOWNLOADER_CLIENT_TLS_CIPHERS changes the TLS hello"),
        ({"DOWNLOAD_TLS_MAX_VERSION": "TLSv1.2"}, "DOWNLOAD_TLS_MAX_VERSION changes the TLS hello"),
    ],
)
async def test_a_setting_that_contradicts_the_profile_refuses_the_start(drive, settings, told):
    with pytest.raises(ConfigError, match=told):
        async with drive(settings=settings):
            pass


async def test_all_contradictions_are_told_at_once(drive, driven):
    class Odd(driven):
        user_agent = "Odd/1"
        custom_settings: ClassVar = {"USER_AGENT": "Odd/2", "DOWNLOAD_TLS_MIN_VERSION": "TLSv1.3"}

    with pytest.raises(ConfigError) as caught:
        async with drive(spider=Odd, accept_language="de,en;q=0.3"):
            pass
    assert len(str(caught.value).splitlines()) == 4
    assert "sites.instagram.accept_language: chrome152 would not write 'de,en;q=0.3'; write 'de,en;q=0.9'" in str(
        caught.value
    )


async def test_what_agrees_with_the_profile_starts(drive):
    settings = {"USER_AGENT": get_profile("chrome").user_agent, "DEFAULT_REQUEST_HEADERS": {"X-App": "1"}}
    async with drive(settings=settings) as site:
        assert values(await seen(site))["user-agent"] == get_profile("chrome").user_agent


async def test_a_session_keeps_its_browser_when_sites_yaml_changes(drive):
    store = MemorySessionStore()
    async with drive(profile="firefox", store=store) as site:
        first = values(await seen(site, session="ann"))
        assert (await site.stored("ann")).profile == get_profile("firefox").name, "no alias, which moves one day"
    async with drive(profile="chrome", store=store) as site:
        assert values(await seen(site, session="ann"))["user-agent"] == first["user-agent"]
        assert values(await seen(site, session="bob"))["user-agent"] == get_profile("chrome").user_agent


async def test_a_browser_that_this_version_does_not_know_ends_the_identity(drive):
    store = MemorySessionStore()
    odd = Session.fresh("ann", "instagram", profile="chrome999", proxy_id=None, now=time.time(), stored=True)
    odd.jar.set("old", "1", url="https://lab.example/", now=time.time())
    await store.save(odd)
    async with drive(store=store) as site:
        told = values(await seen(site, session="ann"))
        assert told["user-agent"] == get_profile("chrome").user_agent
        assert "cookie" not in told, "another browser has no cookies of that one"
        assert (await site.stored("ann")).identity != odd.identity
        assert site.stats["fetchworker/unknown_profile/instagram"] == 1


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
