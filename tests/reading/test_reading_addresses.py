from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.spiders.reading import addresses


@pytest.mark.parametrize(
    ("url", "host", "query"),
    [
        ("https://WWW.Shop.example:443/a?x=1&y=2&x=3&z", "www.shop.example", {"x": "1", "y": "2"}),
        ("https://ana:secret@shop.example/?q=a%20b+c", "shop.example", {"q": "a b c"}),
        ("/a?x=1", "", {"x": "1"}), ("http://[broken/a?x=1", "", {}), ("", "", {}), (None, "", {}),
    ],
)  # fmt: skip
def test_addresses(url, host, query):
    assert addresses.host(url) == host
    assert addresses.query(url) == query


@pytest.mark.parametrize(
    ("link", "expected"),
    [("/b", "https://shop.example/b"), ("//c.example/", "https://c.example/"), ("https://[b", None), ("//[b]x", None)],
)
def test_links_are_joined_or_are_none(link, expected):
    assert addresses.joined("https://shop.example/a", link) == expected


@given(
    st.from_regex(
        r"https?://[a-zA-Z0-9.:@-]{1,9}/[a-z0-9./;,%~-]{0,9}(\?[a-z=&;?]{0,5})?(#[a-z]{0,2})?", fullmatch=True
    )
)
def test_whole_addresses_are_left_as_joining_leaves_them(link):
    assert addresses.joined("https://shop.example/a", link) == urljoin("https://shop.example/a", link)
    assert addresses.host(link) == urlsplit(link).netloc.rpartition("@")[2].partition(":")[0].lower()


@given(st.text(max_size=60))
def test_never_fails(text):
    addresses.host(text)
    addresses.query(f"http://{text}")
    addresses.joined("https://shop.example/a", text)
    addresses.joined("https://shop.example/a", f"//{text}")
