"""The jar against the standard library's, against itself, and against whatever a server may send."""

from __future__ import annotations

import email.message
import http.cookiejar
import urllib.request
from urllib.parse import urlsplit

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from fetchworker.sessions import CookieJar
from fetchworker.sessions.cookies import MAX_COOKIES, MAX_PER_DOMAIN

NOW = 1_900_000_000.0
HOSTS = ["shop.example", "www.shop.example", "a.www.shop.example", "other.example"]
PATHS = ["/", "/in", "/in/", "/in/deep", "/inner"]

urls = st.builds("https://{}{}".format, st.sampled_from(HOSTS), st.sampled_from(PATHS))
names = st.sampled_from("abc")
scopes = st.sampled_from(["", *(f"; Domain={host}" for host in HOSTS)])
paths = st.sampled_from(["", *(f"; Path={path}" for path in PATHS)])
ends = st.sampled_from(["", "", "; Max-Age=60", "; Max-Age=0"])
lines = st.builds("{}={}{}{}{}".format, names, st.sampled_from(["1", "2", "3=4"]), scopes, paths, ends)
answers = st.lists(st.tuples(urls, lines), max_size=12)


class Answer:
    def __init__(self, line):
        self._headers = email.message.Message()
        self._headers["Set-Cookie"] = line

    def info(self):
        return self._headers


def reference_of(sequence):
    """http.cookiejar after the same answers; it keeps host-only and domain cookies of a name apart, as we do."""
    policy = http.cookiejar.DefaultCookiePolicy
    jar = http.cookiejar.CookieJar(policy(strict_ns_domain=policy.DomainStrictNonDomain))
    for url, line in sequence:
        if not ends_a_strangers(url, line):
            jar.extract_cookies(Answer(line), urllib.request.Request(url))
    return jar


def ends_a_strangers(url, line):
    """The library lets any host end a cookie of any domain (`Max-Age=0` is heeded before the domain is looked at)."""
    _, named, rest = line.partition("; Domain=")
    domain, host = rest.partition(";")[0], urlsplit(url).hostname
    return "Max-Age=0" in line and bool(named) and not f".{host}".endswith(f".{domain}")


def without_default_path(sequence):
    """The library's default path keeps its last slash: compared is what names its path."""
    return [(url, line) for url, line in sequence if "Path=" in line]


@given(answers.map(without_default_path), urls)
@example(
    [
        ("https://other.example/", "a=1; Domain=other.example; Path=/"),
        ("https://shop.example/", "a=1; Domain=other.example; Path=/; Max-Age=0"),
    ],
    "https://other.example/",
)
def test_sends_what_the_standard_library_sends(sequence, url):
    jar = CookieJar()
    for from_url, line in sequence:
        jar.set_from_response(from_url, [line], NOW)
    request = urllib.request.Request(url)
    reference_of(sequence).add_cookie_header(request)
    expected = request.get_header("Cookie")
    assert sorted((jar.cookie_header(url, NOW) or "").split("; ")) == sorted((expected or "").split("; "))


@given(answers, urls)
def test_survives_json(sequence, url):
    jar = CookieJar()
    for from_url, line in sequence:
        jar.set_from_response(from_url, [line], NOW)
    again = CookieJar.from_dict(orjson.loads(orjson.dumps(jar.to_dict())))
    assert again.to_dict() == jar.to_dict()
    assert again.header(url, NOW) == jar.header(url, NOW)
    assert (again.version, again.dirty, len(again)) == (jar.version, jar.dirty, len(jar))


@given(answers, urls, names, scopes, paths)
def test_deleting_deletes_just_that(sequence, url, name, scope, path):
    jar, alone = CookieJar(), CookieJar()
    for from_url, line in sequence:
        jar.set_from_response(from_url, [line], NOW)
    before = {cookie.key: cookie for cookie in jar}
    alone.set_from_response(url, [f"{name}=1{scope}{path}"], NOW)
    jar.set_from_response(url, [f"{name}={scope}{path}; Max-Age=0"], NOW)
    for cookie in alone:
        before.pop(cookie.key, None)
    assert {cookie.key: cookie for cookie in jar} == before


@given(answers)
def test_a_merge_into_nothing_is_a_copy(sequence):
    jar, copy = CookieJar(), CookieJar()
    for url, line in sequence:
        jar.set_from_response(url, [line], NOW)
    copy.merge(jar, NOW)
    for host in HOSTS:
        for path in PATHS:
            assert sorted(copy.header(f"https://{host}{path}", NOW)) == sorted(jar.header(f"https://{host}{path}", NOW))


attributes = st.sampled_from(["Path", "Domain", "Expires", "Max-Age", "SameSite", "Secure", "HttpOnly", "__Host-x"])
odd = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80),
    st.lists(st.one_of(st.builds("{}={}".format, attributes, st.text(max_size=20)), st.text(max_size=10))).map(
        ";".join
    ),
)


@given(
    st.lists(odd, max_size=20),
    st.one_of(urls, st.text(max_size=30), st.builds("http://{}/".format, st.text(max_size=20))),
)
def test_whatever_a_server_sends(headers, url):
    jar = CookieJar()
    jar.set_from_response(url, headers, NOW)
    header = jar.cookie_header(url, NOW) or ""
    header.encode("latin-1")
    assert not set(header) & set("\r\n\0")
    assert CookieJar.from_dict(orjson.loads(orjson.dumps(jar.to_dict()))).to_dict() == jar.to_dict()


@given(st.lists(st.tuples(urls, lines, st.integers(-90, 90)), max_size=30))
def test_counts_limits_and_stamps_hold(sequence):
    jar = CookieJar()
    for url, line, shift in sequence:
        version = jar.version
        jar.set_from_response(url, [line], NOW + shift)
        assert jar.version >= version
    cookies = list(jar)
    assert len(cookies) == len(jar) <= MAX_COOKIES
    assert len({cookie.key for cookie in cookies}) == len(cookies)
    assert len({cookie.stamp for cookie in cookies}) == len(cookies)
    assert all(cookie.created <= cookie.stamp <= jar.version for cookie in cookies)
    assert max([sum(c.domain == d for c in cookies) for d in {c.domain for c in cookies}], default=0) <= MAX_PER_DOMAIN
