"""Evidence that is kept: around the marker, short, and without anything personal or secret."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.outcomes import classify
from fetchworker.outcomes.snippet import SNIPPET_MAX, mask, snippet

MARK = "<script>window._cf_chl_opt = {cvId: '3'};</script>"
FILLER = "<p>waiting room of a shop</p> " * 400


def kept(body: str | bytes, *, status=403, url=None, site=None, secrets=(), **headers) -> str:
    raw = body.encode() if isinstance(body, str) else body
    page = Page(url, status, {name.replace("_", "-"): [value] for name, value in headers.items()}, raw)
    return snippet(page, classify(page, site=site), site=site, secrets=secrets)


def test_it_is_what_stands_around_the_marker():
    text = kept(FILLER + MARK + FILLER)
    assert "_cf_chl_opt = {cvId: '3'}" in text
    assert text.count("waiting room") >= 2
    assert len(text) <= SNIPPET_MAX


def test_without_a_marker_it_is_the_beginning():
    assert kept("<html><h1>403</h1>" + FILLER).startswith("<html><h1>403</h1>")
    assert kept("") == ""


def test_a_header_that_decided_is_told_first():
    assert kept("<html>no</html>", cf_mitigated="challenge") == "cf-mitigated: challenge … <html>no</html>"


def test_it_is_one_line():
    assert "\n" not in kept("<p>\n\n" + MARK + "\n</p>\n")


def test_json_is_shown_from_its_key():
    text = kept('{"pad":"' + "word " * 300 + '","checkpoint_url":"/challenge/"}', status=200, site="instagram")
    assert '"checkpoint_url":"/challenge/"' in text


def test_a_title_is_shown():
    body = "<html>" + "<meta name=x> " * 80 + "<title>Access to this page has been denied</title>"
    assert "has been denied" in kept(body)


def test_bytes_that_are_no_text_are_only_counted():
    assert kept(b"\x1f\x8b\x08\x00" * 50) == "200 bytes that are no text"


PERSONAL = [
    "ann.lee+news@shop.example",
    "ann.lee&#64;shop.example",
    "ann.lee%40shop.example",
    "ann.lee\\u0040shop.example",
    "+49 30 1234 567",
    "0049301234567",
    "(030) 123-45678",
    "030/1234567 89",
    "555-867-5309",
    "4930123456789",
    "203.0.113.7",
    "2001:db8:0:1:2:3:4:5",
]
SECRET = [
    "Bearer abcdefghijklmnop1234",
    "https://ann:pa55word@proxy.example",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "8a7b6c5d-1111-2222-3333-9a8b7c6d5e4f",
    "9a8b7c6d5e4f3a2b",
    "AVqbxe3JYAs-09aaaaaaaaaaa",
    "QVFCdm9FT3NEbDA5WWVQ/TU1xRHA3TDhJMVhYMVA1dVhuaEU=",
    'csrf_token: "hunter2hunter2"',
    '"lsd":"AVqbxe3"',
    '<input type="hidden" name="lsd" value="AVqbxe3">',
    "Cookie: sid=abc; mid=def",
    "session_id=hunter2",
]


@pytest.mark.parametrize("text", PERSONAL + SECRET)
def test_nothing_personal_or_secret_is_kept(text):
    shown = kept(f"<p>{text} </p> {MARK} <i>{text}</i> end")
    assert "***" in shown
    assert text not in shown
    longest = max(text.replace('"', " ").replace("=", " ").replace(":", " ").split(), key=len)
    if text in PERSONAL + SECRET[:7]:
        assert longest not in shown


@pytest.mark.parametrize(
    "text",
    ["error code: 1020", "Ray ID", "window._cf_chl_opt", "/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1",
     "Reference&#32;&#35;18", "13-inch 2026 model", "version 5.0.1", "12.50"],
)  # fmt: skip
def test_words_and_numbers_of_no_interest_stay(text):
    assert mask(text) == text


def test_the_sessions_own_values_are_masked_wherever_they_are():
    shown = kept(f"<p>mid-1 and tok_x</p>{MARK}", secrets=["mid-1", "tok_x", "a"])
    assert "mid-1" not in shown
    assert "tok_x" not in shown
    assert "and" in shown


TOKENS = st.from_regex(r"[a-f0-9]{5}[a-f][0-9][a-f0-9]{20}", fullmatch=True)


@given(before=st.integers(0, 1200), after=st.integers(0, 1200), token=TOKENS)
@example(before=1000, after=10, token="a1" * 13)
def test_no_token_shows_in_pieces_wherever_the_cut_falls(before, after, token):
    body = "<b>" + "w " * before + token + " x " + MARK + " y " + token + " v" * after
    shown = kept(body)
    assert len(shown) <= SNIPPET_MAX
    assert not any(token[start : start + 8] in shown for start in range(len(token) - 8))


@given(st.binary(max_size=600), st.sampled_from([None, 200, 403, 429, 503]))
def test_any_body_has_a_snippet(body, status):
    assert len(kept(body, status=status)) <= SNIPPET_MAX
