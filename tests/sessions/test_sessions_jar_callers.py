"""Cookies of callers in a jar, and jars that are merged."""

from __future__ import annotations

import pytest

from fetchworker.errors import ArgumentError
from fetchworker.sessions import CookieJar

from .test_sessions_jar import NOW, WWW, jar_of, sent

# Callers' cookies


def test_a_callers_cookie_goes_to_the_host():
    jar = CookieJar()
    jar.set("a", "1", url=WWW + "in/deep", now=NOW)
    assert sent(jar) == sent(jar, "http://www.shop.example/x") == "a=1"
    assert sent(jar, "https://shop.example/") is None


def test_a_callers_cookie_replaces_the_one_that_would_be_sent():
    jar = jar_of("a=1; Domain=shop.example; Secure; HttpOnly; Max-Age=60", "a=2; Path=/in", "b=3")
    jar.set("a", "mine", url=WWW, now=NOW)
    assert sent(jar) == "b=3; a=mine"
    jar.set("a", "deep", url=WWW + "in/x", now=NOW)
    assert sent(jar, WWW + "in/x") == "a=deep; b=3"
    assert sent(jar) == "b=3"


def test_a_response_wins_over_a_callers_cookie_whatever_its_scope():
    for scope in ("", "; Domain=shop.example", "; Domain=www.shop.example; Path=/"):
        jar = CookieJar()
        jar.set("a", "mine", url=WWW, now=NOW)
        jar.set_from_response(WWW, [f"a=theirs{scope}"], NOW)
        assert sent(jar) == "a=theirs"
    jar.set("b", "mine", url=WWW, now=NOW)
    jar.set_from_response(WWW, ["b=; Domain=shop.example; Path=/; Max-Age=0"], NOW)
    assert sent(jar) == "a=theirs"


def test_a_response_for_a_part_of_the_host_leaves_the_callers_cookie_to_the_rest():
    jar = CookieJar()
    jar.set("a", "mine", url=WWW, now=NOW)
    jar.set_from_response(WWW, ["a=theirs; Path=/in"], NOW)
    assert sent(jar, WWW + "in") == "a=theirs; a=mine"
    assert sent(jar) == "a=mine"


def test_what_a_response_has_set_is_no_longer_the_callers():
    jar = CookieJar()
    jar.set("a", "mine", url=WWW, now=NOW)
    jar.set_from_response(WWW, ["a=theirs; Path=/", "a=wide; Domain=shop.example; Path=/"], NOW)
    assert sent(jar) == "a=theirs; a=wide"


def test_a_callers_text_is_sent_as_utf8_and_bytes_as_they_are():
    jar = CookieJar()
    jar.set("a", "zoë", url=WWW, now=NOW)
    jar.set("b", b"\xff", url=WWW, now=NOW)
    assert sent(jar).encode("latin-1") == b"a=zo\xc3\xab; b=\xff"


def test_prefixes_of_a_callers_cookie_are_kept():
    jar = CookieJar()
    jar.set("__Host-a", "1", url=WWW, now=NOW)
    assert sent(jar) == "__Host-a=1"
    assert sent(jar, "http://www.shop.example/") is None
    with pytest.raises(ArgumentError, match="prefix"):
        jar.set("__Host-a", "1", url="http://www.shop.example/", now=NOW)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", "v"),
        ("a=b", "v"),
        ("a;b", "v"),
        (" a", "v"),
        ("a\n", "v"),
        ("a", "secret;x"),
        ("a", "secret\r\n"),
        ("a", "s" * 4096),
    ],
)
def test_a_callers_cookie_that_cannot_be_sent(name, value):
    with pytest.raises(ArgumentError) as caught:
        CookieJar().set(name, value, url=WWW, now=NOW)
    assert "secret" not in str(caught.value)


def test_a_callers_cookie_needs_a_url():
    with pytest.raises(ArgumentError) as caught:
        CookieJar().set("a", "1", url="shop.example/?key=secret", now=NOW)
    assert "secret" not in str(caught.value)


def test_cookies_of_known_scope():
    jar = CookieJar()
    jar.add("a", "1", domain=".shop.example", now=NOW, path="/in", secure=True, same_site="Lax", expires=NOW + 60)
    jar.add("b", "2", domain="www.Shop.example", now=NOW, host_only=True)
    jar.add("c", "3", domain="10.0.0.1", now=NOW)
    assert [(cookie.domain, cookie.path, cookie.secure, cookie.same_site, cookie.expires) for cookie in jar] == [
        (".shop.example", "/in", True, "lax", NOW + 60),
        ("www.shop.example", "/", False, "", None),
        ("10.0.0.1", "/", False, "", None),
    ]
    jar.set_from_response(WWW, ["b=theirs; Domain=shop.example"], NOW)
    assert sent(jar) == "b=2; b=theirs"


def test_adding_what_has_ended_deletes():
    jar = jar_of("a=1")
    jar.add("a", "1", domain="www.shop.example", host_only=True, expires=NOW - 1, now=NOW)
    assert len(jar) == 0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"domain": "co.uk"}, "public suffix"),
        ({"domain": "not a domain"}, "no domain"),
        ({"domain": ""}, "no domain"),
        ({"domain": "shop.example", "path": "in"}, "path"),
        ({"domain": "shop.example", "name": "__Secure-a"}, "prefix"),
        ({"domain": "shop.example", "name": "__Host-a", "secure": True}, "prefix"),
    ],
)
def test_cookies_that_no_browser_would_hold(fields, why):
    with pytest.raises(ArgumentError, match=why):
        CookieJar().add(**{"name": "a", "value": "1", "now": NOW, **fields})


# Merging


def test_stored_and_callers_and_response_the_response_wins():
    stored = jar_of("kept=stored", "both=stored; Domain=shop.example", "all=stored; Domain=shop.example; Path=/")
    caller = CookieJar()
    for name in ("both", "all", "own"):
        caller.set(name, "caller", url=WWW, now=NOW - 100)
    stored.merge(caller, NOW)
    stored.set_from_response(WWW, ["all=response", "new=response"], NOW + 1)
    assert dict(stored.header(WWW, NOW + 1)) == {
        "kept": "stored",
        "both": "caller",
        "own": "caller",
        "all": "response",
        "new": "response",
    }


def test_merging_wins_deletes_and_marks_as_changed():
    one = jar_of("a=1", "b=1", "c=1", now=NOW + 50)
    one.take_changes()
    other = jar_of("b=2", "c=; Max-Age=0")
    one.merge(other, NOW)
    assert sent(one) == "a=1; b=2"
    assert one.dirty
    assert {cookie.name for cookie in one.take_changes().cookies} == {"b"}
