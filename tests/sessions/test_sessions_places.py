from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.sessions._places import default_path, domain_match, is_ip, is_public_suffix, locate, path_match


@pytest.mark.parametrize(
    ("path", "cookie_path", "matches"),
    [
        ("/", "/", True),
        ("/a", "/", True),
        ("/a", "/a", True),
        ("/a/", "/a", True),
        ("/a/b", "/a", True),
        ("/a/b", "/a/", True),
        ("/ab", "/a", False),
        ("/a", "/a/", False),
        ("/", "/a", False),
        ("/A", "/a", False),
        ("/a%2Fb", "/a", False),
    ],
)
def test_path_match(path, cookie_path, matches):
    assert path_match(path, cookie_path) is matches


@pytest.mark.parametrize(
    ("path", "default"), [("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/", "/a/b"), ("//", "/")]
)
def test_default_path(path, default):
    assert default_path(path) == default


@pytest.mark.parametrize(
    ("host", "domain", "matches"),
    [
        ("shop.example", "shop.example", True),
        ("www.shop.example", "shop.example", True),
        ("a.b.shop.example", "shop.example", True),
        ("shop.example", "www.shop.example", False),
        ("myshop.example", "shop.example", False),
        ("shop.example.net", "shop.example", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "0.0.1", False),
        ("10.0.0.1", "1", False),
    ],
)
def test_domain_match(host, domain, matches):
    assert domain_match(host, domain) is matches


@pytest.mark.parametrize(
    ("url", "host", "path", "secure"),
    [
        ("https://Shop.Example", "shop.example", "/", True),
        ("HTTP://shop.example:8080?x=/y", "shop.example", "/", False),
        ("https://user:pa%40ss@shop.example/a/b?c#d", "shop.example", "/a/b", True),
        ("wss://shop.example/s", "shop.example", "/s", True),
        ("https://bücher.example/", "xn--bcher-kva.example", "/", True),
        ("https://BÜCHER.example/", "xn--bcher-kva.example", "/", True),
        ("https://xn--BCHER-kva.example/", "xn--bcher-kva.example", "/", True),
        ("https://straße.example/", "xn--strae-oqa.example", "/", True),
        ("http://127.0.0.1:8000/x", "127.0.0.1", "/x", False),
        ("http://[::1]:8000/x", "::1", "/x", False),
        ("http://localhost/x", "localhost", "/x", False),
        ("https://a_b.shop.example/", "a_b.shop.example", "/", True),
    ],
)
def test_locate(url, host, path, secure):
    assert locate(url)[:3] == (host, path, secure)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example",
        "/path",
        "ftp://shop.example/",
        "file:///etc/hosts",
        "data:text/html,x",
        "https://",
        "https:///x",
        "https://evil.example\\@shop.example/",
        "https://shop.example\\.evil.example/",
        "https://shop.example:80:90/",
        "https://shop .example/",
        "https://sh%6fp.example/",
        "https://shop..example/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://" + "ü" * 100 + ".example/",
        " https://shop.example/",
        "https://\x00shop.example/",
    ],
)
def test_urls_without_a_place(url):
    assert locate(url) is None


def test_domains_of_a_host():
    expected = ("a.shop.example", ".a.shop.example", ".shop.example", ".example")
    assert locate("https://a.shop.example/").domains == expected
    assert locate("https://10.0.0.1/").domains == ("10.0.0.1",)


@pytest.mark.parametrize("host", ["10.0.0.1", "::1", "127.1", "0x7f.1", "2130706433", "10.0.0.1."])
def test_addresses(host):
    assert is_ip(host)


@pytest.mark.parametrize("host", ["shop.example", "1.shop.example", "shop1", "a.0xyz"])
def test_names(host):
    assert not is_ip(host)


@pytest.mark.parametrize(
    "domain", ["com", "co.uk", "github.io", "localhost", "intern", "anything.ck", "xn--55qx5d.cn", "com.", "co.uk."]
)
def test_public_suffixes(domain):
    assert is_public_suffix(domain)


@pytest.mark.parametrize("domain", ["shop.com", "shop.co.uk", "shop.github.io", "www.ck", "shop.intern", "shop.com."])
def test_no_public_suffixes(domain):
    assert not is_public_suffix(domain)


@given(st.text() | st.text().map("https://{}/".format))
def test_no_url_raises(url):
    locate(url)
