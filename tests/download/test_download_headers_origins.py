"""Origins, sites and the trimmed Referer."""

from __future__ import annotations

import pytest

from fetchworker.download.origins import farthest, origin_of, registrable_domain, relation, trim_referer


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://Example.COM:443/a?b#c", "https://example.com"),
        ("http://example.com:80", "http://example.com"),
        ("https://ann:secret@example.com:8443/", "https://example.com:8443"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("https://[::1]:8443/x", "https://[::1]:8443"),
    ],
)
def test_origin_is_serialised_as_browsers_do(url, text):
    assert origin_of(url).text == text


@pytest.mark.parametrize("url", ["data:,x", "ftp://example.com/", "about:blank", "", "https:///x", "/path"])
def test_what_has_no_web_origin(url):
    assert origin_of(url) is None


@pytest.mark.parametrize(
    ("initiator", "target", "expected"),
    [
        ("https://a.example.com/x", "https://a.example.com/y", "same-origin"),
        ("https://a.example.com", "https://a.example.com:8443", "same-site"),
        ("https://a.example.com", "https://example.com", "same-site"),
        ("https://a.example.co.uk", "https://b.example.co.uk", "same-site"),
        ("https://a.co.uk", "https://b.co.uk", "cross-site"),
        ("https://ann.github.io", "https://ben.github.io", "cross-site"),
        ("http://a.example.com", "https://a.example.com", "cross-site"),
        ("https://127.0.0.1", "https://127.0.0.2", "cross-site"),
        ("https://example.com", "https://example.org", "cross-site"),
    ],
)
def test_relation(initiator, target, expected):
    assert relation(origin_of(initiator), origin_of(target)) == expected


def test_a_redirect_over_another_site_is_not_forgotten():
    home, other = origin_of("https://example.com"), origin_of("https://example.org")
    assert farthest(home, [home]) == "same-origin"
    assert farthest(home, [other, home]) == "cross-site"


@pytest.mark.parametrize(
    ("host", "domain"), [("a.b.example.com", "example.com"), ("localhost", "localhost"), ("com", "com")]
)
def test_registrable_domain(host, domain):
    assert registrable_domain(host) == domain


@pytest.mark.parametrize(
    ("page", "url", "told"),
    [
        ("https://example.com/a?b=1#top", "https://example.com/c", "https://example.com/a?b=1"),
        ("https://ann:secret@example.com/a", "https://example.com/c", "https://example.com/a"),
        ("https://example.com?q=1", "https://example.com/c", "https://example.com/?q=1"),
        ("https://example.com/a?b=1", "https://www.example.com/c", "https://example.com/"),
        ("https://example.com/a", "http://example.com/c", None),
        ("http://example.com/a", "https://example.org/c", "http://example.com/"),
        ("https://example.com/a", "http://localhost:8000/c", "https://example.com/"),
        ("https://example.com/" + "a" * 5000, "https://example.com/c", "https://example.com/"),
    ],
)
def test_referer_is_trimmed(page, url, told):
    assert trim_referer(page, origin_of(page), origin_of(url)) == told


@pytest.mark.parametrize(
    ("url", "trusted"),
    [
        ("https://example.com", True),
        ("http://example.com", False),
        ("http://localhost:1", True),
        ("http://a.localhost", True),
        ("http://127.8.9.1", True),
        ("http://[::1]", True),
        ("http://10.0.0.1", False),
    ],
)
def test_trustworthy(url, trusted):
    assert origin_of(url).trustworthy is trusted
