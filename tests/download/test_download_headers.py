"""The header lines of a request: pure."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.download.headers import request_head, request_headers
from fetchworker.download.profiles import get_profile
from fetchworker.errors import ArgumentError

CHROME, FIREFOX, SAFARI = get_profile("chrome"), get_profile("firefox"), get_profile("safari")
URL = "https://www.example.com/list?page=2"
PAGE = "https://www.example.com/start#top"


def lines(profile=CHROME, destination="navigate", method="GET", url=URL, **rest) -> list[str]:
    made = request_headers(profile, destination=destination, method=method, url=url, **rest)
    return [line.decode("latin-1") for line in made]


def names(made: list[str]) -> list[str]:
    return [re.split("[:;]", line)[0].lower() for line in made]


def value(made: list[str], name: str) -> str | None:
    found = [line.partition(": ")[2] for line in made if line.lower().startswith(f"{name}:")]
    assert len(found) <= 1
    return found[0] if found else None


def test_chrome_opens_a_page():
    assert lines() == [
        "Connection: keep-alive",
        'sec-ch-ua: "Chromium";v="152", "Not?A_Brand";v="24", "Google Chrome";v="152"',
        "sec-ch-ua-mobile: ?0",
        'sec-ch-ua-platform: "Windows"',
        "Upgrade-Insecure-Requests: 1",
        f"User-Agent: {CHROME.user_agent}",
        f"Accept: {CHROME.templates['navigate'].accept}",
        "Sec-Fetch-Site: none",
        "Sec-Fetch-Mode: navigate",
        "Sec-Fetch-User: ?1",
        "Sec-Fetch-Dest: document",
        "Accept-Encoding: gzip, deflate, br, zstd",
        "Accept-Language: en-US,en;q=0.9",
        "Priority: u=0, i",
    ]


def test_chrome_follows_a_link():
    made = lines(referer=PAGE, cookies="a=1; b=2")
    assert value(made, "sec-fetch-site") == "same-origin"
    assert names(made)[-5:] == ["referer", "accept-encoding", "accept-language", "cookie", "priority"]
    assert value(made, "referer") == "https://www.example.com/start"
    assert value(made, "cookie") == "a=1; b=2"


def test_chrome_sends_a_form():
    made = lines(method="POST", referer=PAGE, body_length=7, content_type="application/x-www-form-urlencoded")
    assert names(made) == [
        "connection",
        "content-length",
        "cache-control",
        "sec-ch-ua",
        "sec-ch-ua-mobile",
        "sec-ch-ua-platform",
        "upgrade-insecure-requests",
        "content-type",
        "user-agent",
        "origin",
        "accept",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-user",
        "sec-fetch-dest",
        "referer",
        "accept-encoding",
        "accept-language",
        "priority",
    ]
    assert value(made, "content-length") == "7"
    assert value(made, "origin") == "https://www.example.com"
    assert value(made, "cache-control") == "max-age=0"


def test_chrome_fetches():
    assert names(lines(destination="xhr", referer=PAGE, cookies="a=1")) == [
        "connection",
        "sec-ch-ua-platform",
        "user-agent",
        "sec-ch-ua",
        "sec-ch-ua-mobile",
        "accept",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "referer",
        "accept-encoding",
        "accept-language",
        "cookie",
        "priority",
    ]


def test_chrome_fetches_with_a_body_and_custom_headers():
    made = lines(
        destination="xhr",
        method="POST",
        referer=PAGE,
        caller_headers=[
            (b"X-CSRF-Token", b"t"),
            ("Content-Type", "application/json"),
            ("X-App-Id", "9"),
            ("X-Requested-With", "XMLHttpRequest"),
            ("X-Asset-Id", "4"),
        ],
        body_length=2,
    )
    assert names(made) == [
        "connection",
        "content-length",
        "sec-ch-ua-platform",
        "x-csrf-token",
        "sec-ch-ua",
        "sec-ch-ua-mobile",
        "x-app-id",
        "x-requested-with",
        "user-agent",
        "content-type",
        "x-asset-id",
        "accept",
        "origin",
        "sec-fetch-site",
        "sec-fetch-mode",
        "sec-fetch-dest",
        "referer",
        "accept-encoding",
        "accept-language",
        "priority",
    ]
    assert value(made, "x-csrf-token") == "t"
    assert value(made, "sec-fetch-mode") == "cors"
    assert value(made, "origin") == "https://www.example.com"


def test_chrome_loads_an_image_and_a_script():
    image = lines(destination="image", url="https://cdn.example.com/a.png", referer=PAGE)
    assert [value(image, f"sec-fetch-{part}") for part in ("site", "mode", "dest")] == ["same-site", "no-cors", "image"]
    assert value(image, "priority") == "u=2, i"
    assert "upgrade-insecure-requests" not in names(image)
    script = lines(destination="script", url="https://www.example.com/a.js", referer=PAGE)
    assert value(script, "priority") is None
    assert value(script, "sec-fetch-dest") == "script"


def test_firefox_keeps_the_order_of_custom_headers():
    made = lines(
        FIREFOX,
        destination="xhr",
        method="POST",
        referer=PAGE,
        cookies="a=1",
        caller_headers=[("content-type", "application/json"), ("X-Zed", "1"), ("X-App-Id", "9"), ("accept", "*/*")],
        body_length=2,
    )
    assert names(made) == [
        "user-agent",
        "accept",
        "accept-language",
        "accept-encoding",
        "referer",
        "content-type",
        "x-zed",
        "x-app-id",
        "content-length",
        "origin",
        "connection",
        "cookie",
        "sec-fetch-dest",
        "sec-fetch-mode",
        "sec-fetch-site",
        "priority",
        "te",
    ]


def test_firefox_opens_a_page_as_a_page():
    made = lines(FIREFOX)
    assert [value(made, f"sec-fetch-{part}") for part in ("dest", "mode", "site", "user")] == [
        "document",
        "navigate",
        "none",
        "?1",
    ]
    assert value(made, "te") == "trailers"


def test_safari_tells_no_user_and_upgrades_plain_http_only():
    assert not {"sec-fetch-user", "upgrade-insecure-requests"} & set(names(lines(SAFARI)))
    assert value(lines(SAFARI), "sec-fetch-site") == "none"
    assert "upgrade-insecure-requests" in names(lines(SAFARI, url="http://www.example.com/"))


@pytest.mark.parametrize(
    ("destination", "referer", "initiator", "site"),
    [
        ("navigate", None, None, "none"),
        ("navigate", "https://www.example.com/x", None, "same-origin"),
        ("navigate", "https://shop.example.com/x", None, "same-site"),
        ("navigate", "https://search.example.org/?q=x", None, "cross-site"),
        ("navigate", "about:blank", None, "none"),
        ("xhr", None, None, "same-origin"),
        ("xhr", None, "https://example.org", "cross-site"),
        ("xhr", "https://www.example.com/x", "https://frame.example.com", "same-site"),
        ("image", "https://example.org/", None, "cross-site"),
    ],
)
def test_sec_fetch_site(destination, referer, initiator, site):
    assert value(lines(destination=destination, referer=referer, initiator=initiator), "sec-fetch-site") == site


def test_redirects_count_for_sec_fetch_site():
    hops = ["https://example.org/out"]
    assert value(lines(referer=PAGE, redirect_urls=hops), "sec-fetch-site") == "cross-site"
    assert value(lines(redirect_urls=hops), "sec-fetch-site") == "none"


@pytest.mark.parametrize(
    ("destination", "method", "referer", "origin"),
    [
        ("navigate", "GET", "https://example.org/", None),
        ("navigate", "POST", "https://example.org/a", "https://example.org"),
        ("navigate", "POST", None, "https://www.example.com"),
        ("xhr", "GET", PAGE, None),
        ("xhr", "GET", "https://example.org/", "https://example.org"),
        ("xhr", "HEAD", PAGE, None),
        ("xhr", "DELETE", PAGE, "https://www.example.com"),
        ("xhr", "POST", None, "https://www.example.com"),
        ("image", "GET", "https://example.org/", None),
    ],
)
def test_origin(destination, method, referer, origin):
    assert value(lines(destination=destination, method=method, referer=referer), "origin") == origin


def test_a_form_on_a_secure_page_hides_from_plain_http():
    made = lines(method="POST", url="http://www.example.com/", referer=PAGE)
    assert value(made, "origin") == "null"
    assert value(made, "referer") is None


def test_script_driven_navigation_and_reload():
    assert value(lines(referer=PAGE, user_activated=False), "sec-fetch-user") is None
    assert "cache-control" not in names(lines())
    assert names(lines(reload=True))[1] == "cache-control"


def test_plain_http_tells_less():
    made = lines(url="http://www.example.com/", referer="http://www.example.com/a", cookies="a=1")
    assert names(made) == [
        "connection",
        "upgrade-insecure-requests",
        "user-agent",
        "accept",
        "referer",
        "accept-encoding",
        "accept-language",
        "cookie",
    ]
    assert value(made, "accept-encoding") == "gzip, deflate"


def test_this_machine_is_trusted_over_plain_http():
    assert {"sec-ch-ua", "sec-fetch-site"} <= set(names(lines(url="http://localhost:8000/")))


def test_storage_access_on_cross_site_requests_with_cookies():
    assert value(lines(destination="image", referer="https://example.org/"), "sec-fetch-storage-access") == "active"
    fetch = {"destination": "xhr", "referer": "https://example.org/"}
    assert value(lines(**fetch), "sec-fetch-storage-access") is None
    assert value(lines(**fetch, cookies="a=1"), "sec-fetch-storage-access") == "active"
    assert value(lines(destination="image", referer=PAGE), "sec-fetch-storage-access") is None


def test_the_url_must_be_of_the_web():
    with pytest.raises(ArgumentError, match="no http or https URL"):
        lines(url="ftp://example.com/")


HEADER_NAMES = st.text("abcdefgXYZ-_0123456789", min_size=1, max_size=20).filter(
    lambda name: not name.lower().startswith("sec-")
)
HEADER_VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


REQUESTS = st.fixed_dictionaries(
    {
        "destination": st.sampled_from(["navigate", "xhr", "image", "script"]),
        "method": st.sampled_from(["GET", "POST", "HEAD", "PUT"]),
        "url": st.sampled_from([URL, "http://www.example.com/", "https://example.org/"]),
        "referer": st.sampled_from([None, PAGE, "https://example.org/x"]),
        "caller_headers": st.lists(st.tuples(HEADER_NAMES, HEADER_VALUES), max_size=12),
    }
)


@given(profile=st.sampled_from([CHROME, FIREFOX, SAFARI]), request=REQUESTS)
def test_any_callers_headers_give_a_head_that_curl_takes(profile, request):
    own = request["caller_headers"]
    head = request_head(profile, cookies="a=1", **request)
    order = head.order.lower().split(b",")
    assert len(order) == len(set(order))
    assert all(re.fullmatch(rb"[!#$%&'*+.^_`|~0-9a-z-]+", name) for name in order)
    made = [re.split(rb"[:;]", line)[0].lower() for line in head.lines]
    assert set(made) - {b"content-type", b"expect"} <= set(order)
    known = [name for name in made if name not in {key.lower().encode() for key, _ in own}]
    assert len(known) == len(set(known))
    assert {key.lower() for key, _ in own} - {"te", "host", "dnt"} <= {name.decode() for name in made}
