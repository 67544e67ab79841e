"""The classifier on arbitrary responses, long bodies and at its limits."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.outcomes import Outcome, Verdict, classify
from fetchworker.outcomes._view import JSON_LIMIT, SCAN_LIMIT, Content, View, content_of

MARKERS = [b"<script>", b"_cf_chl_opt", b"px-captcha", b'{"errors":[{"code":', b"1675002}]}", b"for (;;);", b"<title>"]
BODIES = st.binary(max_size=300) | st.lists(st.sampled_from(MARKERS) | st.binary(max_size=8)).map(b"".join)
NAMES = st.sampled_from(["server", "set-cookie", "location", "retry-after", "content-type", "date", "x-any"])
WORDS = st.text(max_size=40)
CLEAN = b'<div class="card"><a href="/p/1">Oak chair</a><span>12.50</span></div>\n'
MARK = b"<script>window._pxUuid = '1'</script>"


def html(body: bytes) -> Verdict:
    return classify(Page(None, 200, {}, b"<html>" + body))


@settings(max_examples=300)
@given(
    body=BODIES,
    status=st.none() | st.integers(-1, 1200),
    headers=st.dictionaries(NAMES, st.lists(WORDS, max_size=3)),
    url=st.none() | WORDS,
    requested=st.none() | WORDS,
    site=st.none() | st.sampled_from(["instagram", "facebook", "nowhere"]),
)
def test_every_response_gets_a_verdict(*, body, status, headers, url, requested, site):
    verdict = classify(Page(url, status, headers, body), site=site, request_url=requested)
    assert verdict.outcome in Outcome
    assert 0 < verdict.confidence <= 1
    assert (verdict.outcome is Outcome.OK) == (not verdict.evidence or verdict.soft)
    assert (verdict.trust < 1) == verdict.soft
    assert verdict.retry_after is None or verdict.retry_after >= 0


@given(BODIES)
def test_the_same_response_gets_the_same_verdict(body):
    page = Page(None, None, {}, body)
    assert classify(page) == classify(page)


def test_a_marker_is_found_at_the_end_of_a_long_page():
    assert html(CLEAN * 14000 + MARK).vendor == "perimeterx"
    assert html(CLEAN * 14000).outcome is Outcome.OK


def test_no_byte_beyond_the_limit_is_searched():
    assert html(CLEAN * (SCAN_LIMIT // len(CLEAN) + 1) + MARK).outcome is Outcome.OK


@pytest.mark.parametrize("shift", range(4))
def test_the_limit_may_fall_into_a_character(shift):
    body = b"<html>" + MARK + b"x" * shift + "€".encode() * (SCAN_LIMIT // 3 + 10)
    assert View(Page(None, 200, {}, body)).body.decode()
    assert classify(Page(None, 200, {}, body)).vendor == "perimeterx"


def test_long_json_is_data_not_an_error():
    error = b'{"errors":[{"message":"execution error"}],"data":null,"x":"%s"}'
    assert classify(Page(None, 200, {}, error % b""), site="instagram").outcome is Outcome.STALE_CONTRACT
    assert classify(Page(None, 200, {}, error % (b"y" * JSON_LIMIT)), site="instagram").outcome is Outcome.OK


def test_broken_json_is_the_parsers_business():
    assert classify(Page(None, 200, {}, b'{"data":{"user":null'), site="instagram").outcome is Outcome.OK


def test_one_of_several_json_documents_is_enough():
    body = b'{"data":{"a":1}}\n{"errors":[{"code":1675004}]}\n'
    assert classify(Page(None, 200, {}, body), site="facebook").outcome is Outcome.RATE_LIMITED


@pytest.mark.parametrize(
    ("body", "content"),
    [
        (b"", Content.EMPTY),
        (b" \r\n\t", Content.EMPTY),
        (b"\n" * 2000 + b"<!doctype html>", Content.HTML),
        (b"\xef\xbb\xbf <p>", Content.HTML),
        (b'  {"a": 1}', Content.JSON),
        (b"[1]", Content.JSON),
        (b'for (;;);{"a":1}', Content.JSON),
        (b")]}'\n[1]", Content.JSON),
        (b"plain words, caf\xe9", Content.TEXT),
        ("ประเทศ".encode("cp874"), Content.TEXT),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", Content.BINARY),
        ("\ufffd(\ufffd/\ufffd\ufffd)".encode(), Content.BINARY),
    ],
)
def test_content_is_told_by_the_bytes(body, content):
    assert content_of(body) is content


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (b"<html><TITLE>\n  A&amp;B \n</TITLE>", "A&B"),
        (b'<title dir="ltr">caf\xc3\xa9</title>', "café"),
        (b"<title>open", "open"),
        (b"<html><p>none</p>", ""),
        (b'{"title": "<title>no</title>"}', ""),
    ],
)
def test_title(body, title):
    assert View(Page(None, 200, {}, body)).title == title


def test_signatures_are_read_at_the_first_call_not_at_import():
    check = "import fetchworker.outcomes._rules as r; assert r._all_rules.cache_info().currsize == 0"
    subprocess.run([sys.executable, "-c", check], check=True, timeout=50)
