"""Looking for all triggers at once says the same as asking each signature, and a scan the same as ``in``."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.outcomes import conditions as c
from fetchworker.outcomes._rules import arrange, rules_for
from fetchworker.outcomes._scan import Scanner
from fetchworker.outcomes._view import MARKUP, View
from fetchworker.outcomes.signatures import load_signatures, read_signatures

SITES = [None, "instagram", "walmart", "linktree", "ebay"]
#: beyond every size that a rule names
LONG = b"<p>\xc3\xa9t\xc3\xa9</p>" * 4000


@cache
def literals() -> list[bytes]:
    """What the package's signatures look for in bodies."""
    gates = {gate for signature in load_signatures() for gate in signature.gates if gate.kind is c.GateKind.BODY}
    return sorted(str(gate.value).encode() for gate in gates)


PIECES = st.sampled_from(
    [
        b"<p>", b" ", b"\xff\xfe", "日本語".encode(), b'<div class="g-recaptcha">', b'<meta property="og:title">',
        b"<script>window._pxAppId = 1", b'<form action="/cdn-cgi/l/chk_jschl">', b'"LoginAndSignupPage"',
        b'{"account":{"id":1}}', LONG,
    ]
) | st.deferred(lambda: st.sampled_from(literals()))  # fmt: skip
BODIES = st.lists(PIECES, max_size=6).map(lambda pieces: b"<html>" + b"".join(pieces))


@settings(max_examples=300)
@given(
    body=BODIES,
    status=st.sampled_from([None, 200, 401, 403, 405, 429, 503]),
    site=st.sampled_from(SITES),
    requested=st.sampled_from([None, "https://linktr.ee/ann", "https://www.walmart.com/ip/1", "https://x.test/"]),
)
@example(body=b'<html><div class="g-recaptcha">', status=200, site=None, requested=None)
@example(body=b'<html><div class="g-recaptcha">' + LONG, status=200, site=None, requested=None)
@example(body=b'<html><div class="g-recaptcha">' + LONG, status=403, site=None, requested=None)
@example(body=b'<html><div class="g-recaptcha">' + LONG, status=200, site="linktree", requested="https://linktr.ee/ann")
def test_the_signatures_that_hold_are_found_by_their_triggers(body, status, site, requested):
    rules, page = rules_for(site), Page(requested, status, {}, body)
    view = View(page, requested, rules.expected)
    assert view.content in MARKUP
    asked = View(page, requested, rules.expected)
    assert rules.matching(view) == [each for each in rules.signatures if each.when.holds(asked)]


@given(BODIES, st.deferred(lambda: st.sampled_from(literals())))
def test_a_marker_is_found_where_it_is(body, marker):
    view = View(Page(None, None, {}, body))
    assert view.has(marker) == (marker in body)
    assert view.has(marker) == (marker in body), "and again, from memory"


@pytest.mark.parametrize("body", [b"<html>", b"<html>\xc3\xa9", b"<html>\xff"], ids=["ascii", "utf8", "neither"])
def test_a_search_does_not_depend_on_those_before(body):
    first, second = Scanner("first"), Scanner("(?i)SECOND")
    for order in ((first, second), (second, first)):
        view = View(Page(None, None, {}, body + b" first second"))
        assert [view.matches(scanner) for scanner in order] == [True, True]
        assert not view.matches(Scanner("third"))


def test_a_marker_beyond_ascii_is_found_in_text_that_is_no_utf8():
    view = View(Page(None, None, {}, "<p>\xe9 日本".encode() + b"\xff"))
    assert view.has("日本".encode())
    assert not view.has("日木".encode())


def test_markers_of_rules_for_short_pages_are_not_looked_for_in_long_ones():
    text = """
signatures:
  - {evidence: short, outcome: challenge, confidence: 0.7, when: {size: {max: 100}, body: widget}}
  - {evidence: any, outcome: challenge, confidence: 0.9, when: {body: [refusal, shared]}}
  - {evidence: both, outcome: challenge, confidence: 0.7, when: {size: {max: 100}, body: shared}}
"""
    rules = arrange(read_signatures(text, "x.yaml"))
    short, long = (View(Page(None, None, {}, b"<p>widget shared" + b" " * spaces)) for spaces in (0, 100))
    assert [each.evidence for each in rules.matching(short)] == ["short", "any", "both"]
    assert [each.evidence for each in rules.matching(long)] == ["any"]
    looked_for = {scanner for group in rules.body.narrow for scanner in (group.scanner, group.parts[0].scanner)}
    assert looked_for <= short._found.keys()
    assert not looked_for & long._found.keys()
