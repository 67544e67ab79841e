"""Headers that a caller gives, beside those of the profile."""

from __future__ import annotations

import pytest
from scrapy.settings.default_settings import USER_AGENT

from fetchworker.download.headers import request_head, request_headers
from fetchworker.errors import ConfigError

from .test_download_headers import CHROME, FIREFOX, PAGE, URL, lines, names, value


def test_a_callers_value_stands_in_the_profiles_place():
    own = [("Accept", "text/plain"), ("accept-language", "de"), ("Referer", "https://example.org/full?q=1")]
    made = lines(caller_headers=own)
    assert names(made) == names(lines(referer=PAGE))
    assert value(made, "accept") == "text/plain"
    assert value(made, "accept-language") == "de"
    assert value(made, "referer") == "https://example.org/full?q=1"
    assert value(made, "sec-fetch-site") == "cross-site"


def test_language_by_argument():
    assert value(lines(accept_language="de-DE,de;q=0.9"), "accept-language") == "de-DE,de;q=0.9"


def test_custom_headers_of_a_navigation_come_before_the_cookie():
    assert names(lines(caller_headers=[("X-Note", "1")], cookies="a=1"))[-3:] == ["x-note", "cookie", "priority"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("User-Agent", "curl/8"),
        ("sec-ch-ua", '"Chromium";v="1"'),
        ("Sec-CH-UA-Platform", '"Linux"'),
        ("sec-ch-ua-full-version-list", '"Chromium";v="151.0.1.2", "Google Chrome";v="151.0.1.2"'),
    ],
)
def test_a_contradiction_names_the_header(name, text):
    with pytest.raises(ConfigError, match=f"header {name.lower()} contradicts .* chrome152"):
        lines(caller_headers=[(name, text)])


def test_client_hints_contradict_a_browser_without_them():
    with pytest.raises(ConfigError, match="header sec-ch-ua-model contradicts"):
        lines(FIREFOX, caller_headers=[("Sec-CH-UA-Model", '""')])


def test_what_agrees_with_the_profile_is_fine():
    full = '"Chromium";v="152.0.7000.1", "Not?A_Brand";v="24.0.0.0", "Google Chrome";v="152.0.7000.1"'
    agreeing = [("User-Agent", CHROME.user_agent), ("sec-ch-ua-mobile", "?0")]
    assert lines(caller_headers=agreeing) == lines()
    made = lines(destination="xhr", caller_headers=[("Sec-CH-UA-Full-Version-List", full)])
    assert value(made, "sec-ch-ua-full-version-list") == full


def test_headers_of_the_connection_and_scrapys_defaults_are_left_out():
    own = [
        ("Connection", "close"),
        ("Keep-Alive", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Content-Length", "99"),
        ("Host", "example.org"),
        ("Upgrade", "h2c"),
        ("HTTP2-Settings", "AAMAAABk"),
        ("Proxy-Authorization", "Basic eDp5"),
        ("TE", "gzip"),
        ("Expect", "100-continue"),
        ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
        ("Accept-Language", "en"),
        ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ]
    assert lines(caller_headers=own) == lines()


def test_scrapys_user_agent_is_left_out():
    assert lines(caller_headers=[("User-Agent", USER_AGENT)]) == lines()


def test_a_script_cannot_set_what_only_browsers_set():
    own = [("Sec-Fetch-User", "?1"), ("Upgrade-Insecure-Requests", "1")]
    assert lines(destination="xhr", caller_headers=own) == lines(destination="xhr")


def test_empty_raw_and_repeated_values():
    own = [("X-Empty", ""), (b"X-Raw", b"caf\xe9"), ("X-Two", "1"), ("x-two", "2"), ("X-Wide", "ō")]
    made = request_headers(FIREFOX, destination="xhr", method="GET", url=URL, caller_headers=own)
    start = made.index(b"X-Empty;")
    assert made[start : start + 5] == [b"X-Empty;", b"X-Raw: caf\xe9", b"X-Two: 1", b"x-two: 2", "X-Wide: ō".encode()]


def test_the_callers_cookie_header_counts_only_without_cookies():
    own = [("Cookie", "own=1")]
    assert request_head(CHROME, destination="navigate", method="GET", url=URL, caller_headers=own).cookie == b"own=1"
    assert value(lines(caller_headers=own, cookies="jar=1"), "cookie") == "jar=1"


def test_the_head_for_curl_leaves_out_what_curl_writes():
    head = request_head(CHROME, destination="xhr", method="POST", url=URL, cookies="a=1; b=2", body_length=2)
    assert head.cookie == b"a=1; b=2"
    assert not {"cookie", "content-length", "host"} & set(names([line.decode() for line in head.lines]))
    assert head.order.startswith(b"Host,connection,content-length,")
    assert head.order.endswith(b",cookie,priority")
    assert b"Content-Type:" in head.lines


def test_no_body_switches_without_need():
    assert b"Expect:" in request_head(CHROME, destination="xhr", method="PUT", url=URL, body_length=2**21).lines
    small = request_head(CHROME, destination="xhr", method="PUT", url=URL, body_length=9, content_type="text/plain")
    assert not [line for line in small.lines if line.endswith(b":")]


@pytest.mark.parametrize("bad", ["a\r\nX-Injected: 1", "a\nb", "a\0b"])
def test_line_breaks_are_refused(bad):
    with pytest.raises(ConfigError, match="line break or NUL in the header x-note"):
        lines(caller_headers=[("X-Note", bad)])
    with pytest.raises(ConfigError, match="in the header referer"):
        lines(caller_headers=[("Referer", f"https://example.org/{bad}")])
    with pytest.raises(ConfigError, match="in the header cookie"):
        lines(cookies=bad)


@pytest.mark.parametrize("name", ["", "X Note", "X-Note:", "X-\n", "<custom>"])
def test_no_header_name(name):
    with pytest.raises(ConfigError, match="is no header name"):
        lines(caller_headers=[(name, "1")])
