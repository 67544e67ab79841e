"""Languages, and headers of a caller that say something else than the rest of the request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.download.coherence import language_faults
from fetchworker.download.headers import request_headers
from fetchworker.download.languages import _countries, accept_language, language_for, tags_of
from fetchworker.download.profiles import get_profile, profile_names
from fetchworker.errors import ContradictionError
from fetchworker.sites import SiteConfig

CHROME, OLD_FIREFOX = get_profile("chrome"), get_profile("firefox133")
PAGE = "https://www.example.com/page"
MANY = (9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
TAGS = st.lists(st.sampled_from(["de-DE", "de", "en-US", "en", "fr", "nb-NO"]), min_size=1, max_size=12, unique=True)


@pytest.mark.parametrize(
    ("profile", "tags", "written"),
    [
        (CHROME, ["en"], "en"),
        (CHROME, ["en-US", "en"], "en-US,en;q=0.9"),
        (CHROME, ["de-DE", "de", "en-US", "en"], "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"),
        (CHROME, list("abcdefghijk"), "a," + ",".join(map("{};q=0.{}".format, "bcdefghijk", MANY))),
        (OLD_FIREFOX, ["en-US", "en"], "en-US,en;q=0.5"),
        (OLD_FIREFOX, ["de", "en-US", "en"], "de,en-US;q=0.7,en;q=0.3"),
        (OLD_FIREFOX, ["de-DE", "de", "en-US", "en"], "de-DE,de;q=0.8,en-US;q=0.5,en;q=0.3"),
    ],
)  # fmt: skip
def test_languages_are_weighed_as_the_browser_does(profile, tags, written):
    assert accept_language(profile, tags) == written
    assert list(language_faults(profile, written)) == []


@pytest.mark.parametrize("name", profile_names())
def test_every_profiles_own_language_is_one_that_it_would_write(name):
    profile = get_profile(name)
    assert list(language_faults(profile, profile.accept_language)) == []


@given(profile=st.sampled_from([CHROME, OLD_FIREFOX]), tags=TAGS)
def test_what_is_written_is_read_back(profile, tags):
    written = accept_language(profile, tags)
    assert tags_of(written) == tags
    weights = [float(part.partition("q=")[2] or 1) for part in written.split(",")]
    assert weights == sorted(weights, reverse=True)
    assert all(0 < weight <= 1 for weight in weights)


@pytest.mark.parametrize("value", ["de-DE,de;q=0.8", "de, en;q=0.9", "en-US,en;q=0.5", "de;q=1,en;q=0.9"])
def test_another_weight_is_a_contradiction_that_says_what_to_write(value):
    (fault,) = language_faults(CHROME, value)
    assert f"write {accept_language(CHROME, tags_of(value))!r}" in fault


def test_the_language_of_a_country():
    assert language_for(CHROME, None, "DE") == "en-US,en;q=0.9"
    assert language_for(CHROME, "exit", "de") == "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"
    assert language_for(OLD_FIREFOX, "exit", "GB") == "en-GB,en-US;q=0.7,en;q=0.3"
    assert language_for(CHROME, "exit", "NO").startswith("nb-NO,nb;q=0.9")
    assert language_for(CHROME, "exit", "XX") == language_for(CHROME, "exit", None) == CHROME.accept_language
    assert language_for(CHROME, "fr", "DE") == "fr"


def test_every_country_has_a_value_that_sites_yaml_would_take():
    for country in _countries():
        assert len(country) == 2
        assert SiteConfig(accept_language=language_for(CHROME, "exit", country))


def send(**request):
    return request_headers(CHROME, **{"destination": "xhr", "method": "GET", "url": PAGE, "referer": PAGE, **request})


@pytest.mark.parametrize(
    ("header", "value", "request_"),
    [
        ("Sec-Fetch-Site", "none", {}),
        ("Sec-Fetch-Site", "same-origin", {"referer": "https://other.example/"}),
        ("Sec-Fetch-Site", "cross-site", {"destination": "navigate"}),
        ("Sec-Fetch-Mode", "navigate", {}),
        ("Sec-Fetch-Dest", "empty", {"destination": "image"}),
        ("Origin", "https://other.example", {}),
        ("Origin", "https://other.example", {"destination": "navigate", "method": "POST"}),
    ],
)
def test_a_header_that_contradicts_the_rest_is_refused_by_name(header, value, request_):
    with pytest.raises(ContradictionError, match=f"header {header.lower()} ") as caught:
        send(caller_headers=[(header, value)], **request_)
    assert caught.value.type == "VALIDATION_ERROR"
    assert caught.value.context["header"] == header.lower()


@pytest.mark.parametrize(
    ("header", "value", "request_"),
    [
        ("Sec-Fetch-Site", "same-origin", {}),
        ("Sec-Fetch-Site", "cross-site", {"referer": "https://other.example/"}),
        ("Sec-Fetch-Site", "same-site", {"referer": "https://cdn.example.com/"}),
        ("Sec-Fetch-Site", "none", {"referer": None, "destination": "navigate"}),
        ("Sec-Fetch-Mode", "cors", {}),
        ("Sec-Fetch-Dest", "empty", {}),
        ("Origin", "https://www.example.com", {"method": "POST"}),
        ("Origin", "null", {"method": "POST"}),
        ("Origin", "https://shop.example", {"method": "POST", "referer": None}),
        # Scrapy's own tests of handlers ask for just this; who sets it wants less than the browser takes
        ("Accept-Encoding", "gzip", {}),
    ],
)
def test_what_agrees_is_sent(header, value, request_):
    assert f"{header}: {value}".encode() in send(caller_headers=[(header, value)], **request_)


def test_after_a_redirect_the_callers_site_is_reckoned_anew():
    over = ["https://other.example/"]
    made = send(caller_headers=[("Sec-Fetch-Site", "same-origin")], redirect_urls=over)
    assert b"Sec-Fetch-Site: cross-site" in made


@given(
    destination=st.sampled_from(["navigate", "xhr", "image", "script"]),
    method=st.sampled_from(["GET", "POST"]),
    referer=st.sampled_from(
        [None, PAGE, "https://cdn.example.com/x", "https://other.example/", "http://www.example.com/"]
    ),
)
def test_whatever_is_asked_the_headers_tell_one_story(destination, method, referer):
    made = send(destination=destination, method=method, referer=referer)
    told = {line.partition(b":")[0].lower().decode(): line.partition(b": ")[2].decode() for line in made}
    again = [(name, value) for name, value in told.items() if name.startswith("sec-fetch-") or name == "origin"]
    assert send(destination=destination, method=method, referer=referer, caller_headers=again) is not None
    site = told["sec-fetch-site"]
    if site == "none":
        assert "referer" not in told
    if site == "same-origin" and referer:
        assert told["referer"] == referer
    if site != "same-origin" and "referer" in told:
        assert told["referer"].endswith("/")
        assert told["referer"].count("/") == 3
