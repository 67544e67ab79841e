from __future__ import annotations

import pytest

from fetchworker.errors import SessionError
from fetchworker.sessions import CookieJar
from fetchworker.sessions.cookies import MAX_COOKIES, MAX_DELETED, MAX_PER_DOMAIN

NOW = 1_900_000_000.0
WWW = "https://www.shop.example/"


def jar_of(*lines, url=WWW, now=NOW):
    jar = CookieJar()
    jar.set_from_response(url, lines, now)
    return jar


def sent(jar, url=WWW, now=NOW, **how):
    return jar.cookie_header(url, now, **how)


# Order


def test_longer_paths_first_then_the_oldest():
    jar = jar_of("d=1; Path=/", "a=2; Path=/in/deep", "c=3; Path=/in", "b=4; Path=/in/deep", "e=5; Path=/")
    assert sent(jar, WWW + "in/deep/x") == "a=2; b=4; c=3; d=1; e=5"


def test_a_new_value_makes_a_cookie_new_and_the_same_value_does_not():
    jar = jar_of("a=1", "b=1", "c=1")
    jar.set_from_response(WWW, ["a=1; Max-Age=60"], NOW + 1)
    assert sent(jar) == "a=1; b=1; c=1"
    jar.set_from_response(WWW, ["a=2"], NOW + 2)
    assert sent(jar) == "b=1; c=1; a=2"


def test_host_and_domain_cookies_are_ordered_together():
    jar = jar_of("a=1; Domain=shop.example", "b=2", "c=3; Domain=www.shop.example")
    assert sent(jar) == "a=1; b=2; c=3"


def test_header_gives_pairs_and_a_nameless_cookie_has_no_equals_sign():
    jar = jar_of("a=1=2", "alone")
    assert jar.header(WWW, NOW) == [("a", "1=2"), ("", "alone")]
    assert sent(jar) == "a=1=2; alone"


def test_nothing_to_send():
    assert sent(CookieJar()) is None
    assert jar_of("a=1").header("https://other.example/", NOW) == []
    assert jar_of("a=1").header("mailto:a@b.example", NOW) == []


# Scope


@pytest.mark.parametrize(
    ("domain", "gets_it"),
    [
        ("", ["www.shop.example"]),
        ("Domain=www.shop.example", ["www.shop.example", "a.www.shop.example"]),
        ("Domain=shop.example", ["shop.example", "www.shop.example", "a.www.shop.example", "b.shop.example"]),
        ("Domain=.SHOP.example", ["shop.example", "www.shop.example", "a.www.shop.example", "b.shop.example"]),
        ("Domain=a.www.shop.example", []),
        ("Domain=b.shop.example", []),
        ("Domain=op.example", []),
        ("Domain=example", []),
        ("Domain=shop.example:443", []),
        ("Domain=shöp.example", []),
        ("Domain=shop.example; Domain=www.shop.example", ["www.shop.example", "a.www.shop.example"]),
    ],
)
def test_who_gets_a_cookie(domain, gets_it):
    jar = jar_of(f"a=1; {domain}")
    hosts = ["shop.example", "www.shop.example", "a.www.shop.example", "b.shop.example", "myshop.example", "example"]
    assert [host for host in hosts if sent(jar, f"https://{host}/")] == gets_it


@pytest.mark.parametrize(
    ("host", "domain", "kept"),
    [
        ("shop.co.uk", "co.uk", None),
        ("ada.github.io", "github.io", None),
        ("ada.github.io", "ada.github.io", ".ada.github.io"),
        ("github.io", "github.io", "github.io"),
        ("localhost", "localhost", "localhost"),
        ("a.localhost", "localhost", None),
        ("10.0.0.1", "10.0.0.1", "10.0.0.1"),
        ("10.0.0.1", "0.0.1", None),
        ("[::1]", "::1", "::1"),
        ("bücher.example", "xn--bcher-kva.example", ".xn--bcher-kva.example"),
    ],
)
def test_public_suffixes_addresses_and_international_names(host, domain, kept):
    jar = jar_of(f"a=1; Domain={domain}", url=f"https://{host}/")
    assert [cookie.domain for cookie in jar] == ([kept] if kept else [])
    assert sent(jar, f"https://{host}/") == ("a=1" if kept else None)


def test_host_only_and_domain_cookies_of_a_name_live_side_by_side():
    jar = jar_of("a=1", "a=2; Domain=www.shop.example")
    assert sent(jar) == "a=1; a=2"
    assert sent(jar, "https://x.www.shop.example/") == "a=2"


def test_without_a_path_the_cookie_is_for_the_directory():
    jar = jar_of("a=1", "b=2; Path=relative", "c=3; Path=/", url=WWW + "cart/items?x=/y/z")
    assert sent(jar, WWW + "cart") == "a=1; b=2; c=3"
    assert sent(jar, WWW + "carts") == "c=3"


# Secure, prefixes, SameSite


def test_secure_cookies_need_https_both_ways():
    jar = jar_of("a=1; Secure", "b=2")
    assert sent(jar, "http://www.shop.example/") == "b=2"
    assert jar.set_from_response("http://www.shop.example/", ["c=3; Secure"], NOW) == 0


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("a=evil", False),
        ("a=evil; Domain=shop.example", False),
        ("a=; Max-Age=0", False),
        ("a=evil; Path=/in/deep", False),
        ("a=other; Path=/elsewhere", True),
        ("b=2", True),
    ],
)
def test_an_insecure_page_cannot_hide_a_secure_cookie(line, taken):
    jar = jar_of("a=1; Secure; Path=/in")
    assert jar.set_from_response("http://www.shop.example/in/", [line], NOW) == taken
    assert jar.get("a", WWW + "in/deep", NOW) == "1"


def test_an_expired_secure_cookie_hides_nothing():
    jar = jar_of("a=1; Secure; Max-Age=5")
    assert jar.set_from_response("http://www.shop.example/", ["a=2"], NOW + 5) == 1


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("__Secure-a=1; Secure", True),
        ("__Secure-a=1; Secure; Domain=shop.example", True),
        ("__Secure-a=1", False),
        ("__SECURE-a=1", False),
        ("__Host-a=1; Secure; Path=/", True),
        ("__Host-a=1; Secure", False),
        ("__Host-a=1; Path=/", False),
        ("__host-a=1; Secure; Path=/; Domain=shop.example", False),
        ("__Host-a=1; Secure; Path=/in", False),
        ("=__Host-a=1; Secure; Path=/", False),
        ("=__secure-a=1; Secure", False),
        ("a=1; SameSite=None", False),
        ("a=1; SameSite=None; Secure", True),
    ],
)
def test_promises_of_names_and_same_site(line, taken):
    assert len(jar_of(line)) == taken


def test_a_request_from_another_site_carries_only_same_site_none():
    jar = jar_of("a=1; SameSite=None; Secure", "b=2; SameSite=Lax", "c=3; SameSite=Strict", "d=4")
    assert sent(jar) == "a=1; b=2; c=3; d=4"
    assert sent(jar, top_level=False) == "a=1"


# Values


@pytest.mark.parametrize("value", ['"quoted, with = and blanks"', "a=b&c=d", "x,y", "%20+", "{}[]()<>@:/?"])
def test_values_go_back_as_they_came(value):
    assert sent(jar_of(f"a={value}; Path=/")) == f"a={value}"


def test_bytes_go_back_as_they_came():
    jar = jar_of("a=zoë".encode(), b"b=\xff\xfe")
    assert sent(jar).encode("latin-1") == b"a=zo\xc3\xab; b=\xff\xfe"


def test_a_single_line_instead_of_a_list():
    assert jar_of().set_from_response(WWW, "a=1", NOW) == 1
    assert jar_of().set_from_response(WWW, b"a=1", NOW) == 1


# Ends


def test_expiry():
    jar = jar_of("a=1; Max-Age=10", "b=2")
    assert sent(jar, now=NOW + 9.9) == "a=1; b=2"
    assert sent(jar, now=NOW + 10) == "b=2"


@pytest.mark.parametrize("end", ["Max-Age=0", "Max-Age=-1", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
def test_deletion(end):
    jar = jar_of("a=1; Domain=shop.example; Path=/in", "b=2")
    jar.set_from_response(WWW, [f"a=; Domain=shop.example; Path=/in; {end}"], NOW + 1)
    assert [cookie.name for cookie in jar] == ["b"]


@pytest.mark.parametrize("scope", ["", "Path=/", "Domain=www.shop.example; Path=/in"])
def test_deletion_of_another_scope_deletes_nothing(scope):
    jar = jar_of("a=1; Domain=shop.example; Path=/in")
    jar.set_from_response(WWW, [f"a=; Max-Age=0; {scope}"], NOW + 1)
    assert jar.get("a", WWW + "in", NOW + 1) == "1"


def test_a_cookie_that_comes_back_after_its_deletion_is_new():
    jar = jar_of("a=1", "b=1", "a=; Max-Age=0", "a=1")
    assert sent(jar) == "b=1; a=1"
    assert jar.to_dict()["deleted"] == []


def test_purge_forgets_what_has_ended():
    jar = jar_of("a=1; Max-Age=10", "b=2", "gone=; Max-Age=0")
    jar.purge(NOW + 4000)
    assert [cookie.name for cookie in jar] == ["b"]
    assert jar.to_dict()["deleted"] == []


def test_a_domain_has_its_limit_and_the_oldest_goes():
    jar = jar_of(*(f"c{number}=x" for number in range(MAX_PER_DOMAIN)), "last=x")
    assert len(jar) == MAX_PER_DOMAIN
    assert jar.get("c0", WWW, NOW) is None
    assert jar.get("c1", WWW, NOW) == jar.get("last", WWW, NOW) == "x"


def test_the_expired_go_before_the_oldest():
    jar = jar_of("old=x", "short=x; Max-Age=5", *(f"c{number}=x" for number in range(MAX_PER_DOMAIN - 2)))
    jar.set_from_response(WWW, ["last=x"], NOW + 10)
    assert len(jar) == MAX_PER_DOMAIN
    assert jar.get("old", WWW, NOW) == "x"


def test_the_jar_has_its_limit():
    jar = CookieJar()
    for host in range(MAX_COOKIES // 100 + 1):
        jar.set_from_response(f"https://h{host}.example/", [f"c{number}=x" for number in range(100)], NOW + host)
    assert len(jar) == len(list(jar)) == MAX_COOKIES
    assert jar.header("https://h0.example/", NOW) == []


def test_deletions_are_remembered_within_a_limit():
    jar = jar_of(*(f"c{number}=; Max-Age=0" for number in range(MAX_DELETED + 5)))
    assert len(jar.to_dict()["deleted"]) == MAX_DELETED


# Changes


def test_version_rises_and_dirty_tells_what_is_unsaved():
    jar = CookieJar()
    assert not jar.dirty
    first = jar.version
    jar.set_from_response(WWW, ["a=1"], NOW)
    assert jar.version > first
    assert jar.dirty
    changes = jar.take_changes()
    assert not jar.dirty
    jar.give_back(changes)
    assert jar.dirty
    second = jar.version
    jar.set_from_response(WWW, ["refused=1; Domain=other.example"], NOW)
    jar.header(WWW, NOW)
    assert jar.version == second


def test_stamps_rise_even_when_the_clock_does_not():
    jar = jar_of("a=1", "b=2")
    jar.set_from_response(WWW, ["a=3"], NOW - 1000)
    stamps = [cookie.stamp for cookie in jar]
    assert len(set(stamps)) == 2
    assert max(stamps) == jar.version > NOW * 1e6


def test_nothing_secret_in_repr():
    jar = jar_of("a=secret")
    jar.set_from_response(WWW, ["b=secret"], NOW)
    assert "secret" not in repr(jar) + repr(list(jar)) + str(list(jar)) + repr(jar.take_changes())


@pytest.mark.parametrize(
    "damage",
    [
        {"v": 2},
        {"v": None},
        {"cookies": None},
        {"cookies": [["a"]]},
        {"cookies": [[".e.example", "/", "a", 1, 0, 0, None, False, False, "", False]]},
        {"cookies": [[".e.example", "/", "a", "x\r\ny", 0, 0, None, False, False, "", False]]},
        {"cookies": [[".e.example", "/", "a", "✓", 0, 0, None, False, False, "", False]]},
        {"deleted": [["a"]]},
        {"clock": "late"},
    ],
)
def test_damaged_jars_are_refused(damage):
    with pytest.raises(SessionError):
        CookieJar.from_dict({**jar_of("a=1").to_dict(), **damage})
    with pytest.raises(SessionError):
        CookieJar.from_dict({})
