"""Entries of a queue that are no requests."""

from __future__ import annotations

import pickle
import sys
from datetime import UTC, datetime

import msgpack
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scrapy import Request
from scrapy.selector import Selector

from fetchworker.errors import CorruptEntryError, FetchworkerError, UnqueueableError
from fetchworker.frontier.codec import decode, encode
from fetchworker.frontier.values import packed_value, unpack

from .test_frontier_codec import URL, ShopSpider, assert_same, back, spider


def entry(*fields) -> bytes:
    return b"\x01" + msgpack.packb(list(fields))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "begins with b''"),
        (b"\x02\x92\x00\xa1x", r"begins with b'\x02'"),
        (b'{"url": "https://shop.example/"}', "begins with b'{'"),
        (encode(Request(URL), spider) + b"\0", "ExtraData"),
        (encode(Request(URL), spider)[:-1], "incomplete"),
        (b"\x01\xc1", "FormatError"),
        (b"\x01" + b"\x91" * 5000 + b"\x90", "StackError"),
        (b"\x01\xdd\xff\xff\xff\xff", "exceeds"),
        (entry(), "no list of fields"),
        (entry(True, URL), "no list of fields"),
        (entry(1 << 11, URL, 1), "does not know (bits 0x800)"),
        (entry(-1, URL), "does not know"),
        (entry(0, URL, "parse"), "1 values for 0 fields"),
        (entry(1, URL), "0 values for 1 fields"),
        (entry(0, b"https://shop.example/"), "url: text"),
        (entry(0, "nowhere"), "Missing scheme"),
        (entry(1, URL, "parse_gone"), "has no method 'parse_gone'"),
        (entry(1, URL, "__init__"), "has no method '__init__'"),
        (entry(1, URL, "_ShopSpider__parse_hidden"), "has no method"),
        (entry(1, URL, "parse_nothing"), "has no method"),
        (entry(1, URL, "name"), "has no method"),
        (entry(1, URL, "Shelf"), "has no method"),
        (entry(1, URL, "update_settings"), "has no method"),
        (entry(1, URL, ["parse"]), "has no method"),
        (entry(8, URL, 1), "method: text"),
        (entry(16, URL, {"a": "b"}), "headers: "),
        (entry(16, URL, [[b"a", "b"]]), "headers: "),
        (entry(16, URL, [[]]), "headers: "),
        (entry(32, URL, []), "meta: a map"),
        (entry(32, URL, {"fw_wire": 1, "fw_lease": 2}), "meta: fw_lease, fw_wire is of one try only"),
        (entry(32, URL, {1: 2}), "not allowed for map key"),
        (entry(32, URL, {"a": msgpack.ExtType(2, b"")}), "unknown type 2"),
        (entry(32, URL, {"a": msgpack.ExtType(1, b"\x01")}), "unknown type 1"),
        (entry(32, URL, {"a": msgpack.Timestamp(2**62)}), "OverflowError"),
        (entry(64, URL, "text"), "body: bytes"),
        (entry(128, URL, {"a": {}}), "cookies: a map"),
        (entry(256, URL, {b"a": 1}), "cb_kwargs: a map"),
        (entry(512, URL, [1]), "flags: a list"),
        (entry(1024, URL, "klingon"), "encoding: 'klingon' is unknown"),
        (entry(1024, URL, "rot13"), "encoding: 'rot13' is unknown"),
        (entry(1024, URL, "\0"), "is unknown"),
    ],
)
def test_an_entry_that_is_no_request_of_the_spider_is_refused_with_its_reason(raw, told):
    with pytest.raises(CorruptEntryError) as caught:
        decode(raw, spider)
    assert told in caught.value.message
    assert ShopSpider.touched == 0, "no property was read"


def nested_tuples(depth: int) -> bytes:
    raw = msgpack.packb([])
    for _ in range(depth):
        raw = msgpack.packb([msgpack.ExtType(1, raw)])
    return raw


@pytest.mark.parametrize("depth", [17, 2000])
def test_tuples_in_tuples_have_a_bound(depth):
    raw = b"\x01\x93\x20" + msgpack.packb(URL) + b"\x81\xa1a" + nested_tuples(depth)
    with pytest.raises(CorruptEntryError, match="nested too deep"):
        decode(raw, spider)


good = encode(
    Request(
        URL,
        spider.parse_ware,
        method="POST",
        headers={"A": ["1", "2"]},
        body=b"\0\xff",
        cookies={"a": "b"},
        meta={"t": (1, {"k": None}), "at": datetime(2031, 1, 1, tzinfo=UTC)},
        encoding="latin-1",
        dont_filter=True,
        errback=spider.fail,
        flags=["f"],
        cb_kwargs={"shelf": 3},
    ),
    spider,
)


def either(raw: bytes) -> None:
    """An entry is a request or refused; a request can be queued again."""
    try:
        found = decode(raw, spider)
    except CorruptEntryError as exc:
        assert exc.message  # noqa: PT017
    else:
        assert_same(back(found), found)


@settings(max_examples=300)
@given(st.binary(max_size=80))
@example(pickle.dumps({"url": URL}))
def test_any_bytes_are_a_request_or_refused(raw):
    either(raw)
    either(b"\x01" + raw)


@settings(max_examples=500)
@given(st.integers(0, len(good) - 1), st.binary(max_size=4), st.integers(0, 4))
def test_a_damaged_entry_is_a_request_or_refused(place, inserted, dropped):
    either(good[:place] + inserted + good[place + dropped :])


class Bomb:
    def __reduce__(self):
        return (__import__, ("antigravity",))


def test_no_pickle_is_read():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for raw in (pickle.dumps(Bomb(), protocol), b"\x01" + pickle.dumps(Bomb(), protocol)):
            with pytest.raises(CorruptEntryError):
                decode(raw, spider)
    assert "antigravity" not in sys.modules


def test_the_errors_are_of_the_tree():
    assert issubclass(UnqueueableError, FetchworkerError)
    assert issubclass(UnqueueableError, ValueError), "Scrapy's word for it"
    assert issubclass(CorruptEntryError, FetchworkerError)


def test_text_that_a_selector_found_comes_back_as_plain_text():
    (found,) = Selector(text="<a href='/2'>next</a>").root.xpath("//a/text()")
    assert type(found) is not str
    back = unpack(packed_value({"link_text": found, "all": [found]}, "meta"))
    assert back == {"link_text": "next", "all": ["next"]}
    assert {type(back["link_text"]), type(back["all"][0])} == {str}
    with pytest.raises(UnqueueableError, match=r"meta\.b is a set"):
        packed_value({"a": found, "b": {1}}, "meta")
