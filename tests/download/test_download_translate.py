"""curl's error numbers as Scrapy's errors, and targets that go out as they are."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    UnsupportedURLSchemeError,
)

from fetchworker.download.client import request_target
from fetchworker.download.translate import DATA_LOSS_CODES, translate
from fetchworker.errors import ProxyAuthError, ProxyFailedError
from fetchworker.proxies import parse_proxies

URL = "https://shop.example/a"


def error(code: int, *, connect_code: int = 0, proxied: bool = False, reason: str = "curl's own words") -> Exception:
    return translate(code, reason, url=URL, connect_code=connect_code, timeout=4.0, proxied=proxied)


@pytest.mark.parametrize(
    ("code", "direct", "proxied"),
    [
        (1, UnsupportedURLSchemeError, UnsupportedURLSchemeError),
        (5, DownloadFailedError, ProxyFailedError),
        (6, CannotResolveHostError, CannotResolveHostError),
        (7, DownloadConnectionRefusedError, ProxyFailedError),
        (28, DownloadTimeoutError, DownloadTimeoutError),
        (35, DownloadFailedError, ProxyFailedError),
        (52, DownloadFailedError, DownloadFailedError),
        (56, DownloadFailedError, DownloadFailedError),
        (60, DownloadFailedError, DownloadFailedError),
        (92, DownloadFailedError, DownloadFailedError),
        (97, DownloadConnectionRefusedError, ProxyFailedError),
        (999, DownloadFailedError, DownloadFailedError),
    ],
)
def test_numbers_become_classes(code, direct, proxied):
    assert type(error(code)) is direct
    assert type(error(code, proxied=True)) is proxied


@pytest.mark.parametrize("code", [7, 28, 56])
def test_refused_credentials_are_told_whatever_curl_makes_of_them(code):
    assert type(error(code, connect_code=407, proxied=True)) is ProxyAuthError


@pytest.mark.parametrize("answer", [400, 403, 429, 502, 503, 504])
def test_a_proxy_that_opens_no_tunnel_has_failed(answer):
    assert type(error(56, connect_code=answer, proxied=True)) is ProxyFailedError
    assert type(error(56, connect_code=200, proxied=True)) is DownloadFailedError


def test_the_text_names_number_reason_and_address():
    assert str(error(52)) == f"curl's own words (curl 52) for {URL}"
    assert str(error(52, reason="")) == f"transfer failed (curl 52) for {URL}"
    assert str(error(28)) == f"Getting {URL} took longer than 4.0 seconds."
    assert str(error(7, proxied=True)).startswith("the proxy failed: ")


def test_a_body_that_ends_early_is_known_by_number():
    assert {18, 56, 92} == DATA_LOSS_CODES


HTTP, SOCKS = parse_proxies("http://127.0.0.1:9\nsocks5://127.0.0.1:9", source="test")
pieces = st.sampled_from(
    [b"a", b"/", b".", b"..", b"%2f", b"%2F", b"%7E", b"%7e", b"%aF", b"?", b"#", b"&=", b" ", b"\xc3\xa9"]
)
paths = st.lists(pieces, max_size=12).map(b"".join)


@given(
    st.sampled_from([b"http", b"https", b"HTTPS"]),
    st.sampled_from([b"shop.example", b"shop.example:8443", b"[::1]:8443"]),
    st.sampled_from([b"", b"/", b"?", b"#"]),
    paths | st.binary(max_size=20),
    st.sampled_from([None, HTTP, SOCKS]),
)
@example(b"https", b"shop.example", b"", b"", None)
@example(b"http", b"shop.example", b"/", b"%2f#x", HTTP)
def test_a_target_is_the_urls_own_bytes_or_left_to_curl(scheme, host, start, rest, proxy):
    if not start:
        rest = b""
    url = scheme + b"://" + host + start + rest
    sent = url.partition(b"#")[0]
    own = sent[len(scheme) + 3 + len(host) :]
    target = request_target(url, proxy)
    if target is None:
        return
    by_plain_proxy = scheme == b"http" and proxy is HTTP
    assert target == (sent if by_plain_proxy else own if own.startswith(b"/") else b"/" + own)
    assert not any(byte <= 0x20 or byte == 0x7F for byte in target), "nothing can end the request line early"


@pytest.mark.parametrize(
    ("url", "target"),
    [
        (b"https://shop.example/a/b?c=%2f", None),
        (b"https://shop.example/%7Ea", None),
        (b"https://shop.example/%7ea?x=1#part", b"/%7ea?x=1"),
        (b"https://shop.example/a/../b", b"/a/../b"),
        (b"https://shop.example/caf\xc3\xa9", b"/caf\xc3\xa9"),
        (b"https://shop.example/%7ea b", None),
        (b"https://shop.example/%7ea\r\nX: 1", None),
        (b"https://shop.example", None),
    ],
)
def test_only_what_curl_would_rewrite_is_given_as_a_target(url, target):
    assert request_target(url, None) == target
