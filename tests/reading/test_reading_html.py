from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.contracts import Page
from fetchworker.spiders.reading import html

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def page(text, **headers):
    return Page(None, 200, {name.replace("_", "-"): [value] for name, value in headers.items()}, text)


def test_a_script_is_found_by_its_id_whatever_else_it_carries():
    text = '<script>var a = "<b>"</script><SCRIPT nonce=a1 type="application/json" id=\'data\'>{"a": [1]}</SCRIPT>'
    assert html.script_json(text, "data") == {"a": [1]}
    assert html.script_json(text, "other") is None
    assert html.script_json('<script id="data">{"a": </script>', "data") is None


def test_json_ld_lists_and_graphs_are_opened():
    text = """<script type="application/ld+json">{"@graph": [{"@type": "A"}, 5]}</script>
    <script type='application/ld+json'>[{"@type": "B"}, {"@type": "C"}]</script>
    <script type="application/ld+json">
      <!-- {"@type": "D", "text": "two
lines"} --></script><script type="application/ld+json">{broken</script><script>{"@type": "E"}</script>"""
    assert [found["@type"] for found in html.json_ld(text)] == ["A", "B", "C", "D"]


def test_objects_behind_a_key():
    text = 'x = {"wanted": true, "b": {"wanted" : {"n": 1}}}; y = {"wanted":[2]}; z = {"wanted": {"cut": '
    assert list(html.keyed(text, "wanted")) == [{"n": 1}, [2]]
    assert list(html.keyed('{"a.b": {"n": 1}}', "a.b")) == [{"n": 1}]
    assert list(html.keyed('{"axb": {"n": 1}}', "a.b")) == []


def test_meta_tags_and_the_canonical_address():
    text = """<head><meta property="og:title" content="A &amp; B"><meta name=Robots content='none'>
    <meta property="og:title" content="second"><link href="https://a.example/?x=1&amp;y=2" rel="canonical" />"""
    assert html.meta(text) == {"og:title": "A & B", "robots": "none", "canonical": "https://a.example/?x=1&y=2"}


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"\xef\xbb\xbf<p>\xc3\xa4", "text/html", "<p>ä"),
        (b"<p>\xe4", "text/html; charset=ISO-8859-1", "<p>ä"),
        (b"<p>\xe4", "text/html", "<p>\ufffd"),
        (b"<p>a", "text/html; charset=no-such", "<p>a"),
    ],
)
def test_bodies_become_text(body, content_type, text):
    assert html.decoded(page(body, content_type=content_type)) == text


@given(JSON)
def test_what_a_page_holds_comes_out(value):
    data = json.dumps({"key": value}).replace("</", r"<\/")
    text = f'<script id="x">{data}</script>'
    assert html.script_json(text, "x") == {"key": value}
    if isinstance(value, dict | list):
        assert next(html.keyed(text, "key")) == value


@given(st.text(alphabet='<>/"=abscriptmetlnk {}[]:', max_size=200))
def test_never_fails(text):
    list(html.scripts(text))
    list(html.keyed(text, "a"))
    html.json_ld(text)
    html.meta(text)
    html.script_json(text, "a")


@pytest.mark.parametrize("piece", ["<script ", "<meta a='", '"a":{', '"a":[', "<link rel=", "<script>", '<meta a="b" '])
def test_unfinished_pages_stay_cheap(piece):
    text = piece * 20_000
    list(html.scripts(text))
    list(html.keyed(text, "a"))
    html.meta(text)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>One &amp; <b>two</b></p><p>three</p>", "One & two\nthree"),
        ("<ul><li>a</li><li> b\u00a0c </li></ul>d<br/>e", "a\nb c\nd\ne"),
        ("plain", "plain"),
        ("2 < 3 and 4 > 1", "2 < 3 and 4 > 1"),
        ("<p> </p><br>", None),
        ("", None),
        (None, None),
        ("<p class='x'>cut <b", "cut <b"),
    ],
)
def test_text_of_markup(markup, text):
    assert html.text_of(markup) == text


@pytest.mark.parametrize(
    ("body", "cut"),
    [
        ("<!DOCTYPE html><html><body>a</body></html>", False), ("<html><body>a</html>", False),
        ("<HTML lang=en><BODY>a</BODY>", False), ("<html><body>a</body></html><script>b</script><!-- c -->", False),
        ("\ufeff \n<!--[if IE]><html class=ie><![endif]--><html><body>a</body></html>", False),
        ("<html><body><script>'</body>'</script>a", True), ("<html><body><script>x = '</body></html>", True),
        ("<html><body><script>'<script></body>'</script>a</body></html>", False),
        ("<html><body>a", True), ("<html", False), ("<html ", True), ("", False), ("<li>a</li>", False),
        ('{"a": "<html><body>"}', False), ("for (;;);{}<html>", False), ("a <html> b", False),
        (f"<!-- {'x' * 30_000} --><html>", False),
    ],
)  # fmt: skip
def test_documents_that_are_cut_off(body, cut):
    assert html.cut_off(body.encode()) is cut


def test_a_document_full_of_ends_in_a_script_is_no_trap():
    assert html.cut_off(b"<html><script>" + b"</body>" * 200_000) is True


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<li>a</li><li>b</li>", False), ("<li>a</li><li class=x>b", True), ("<li>a</li><l", True), ("a", False),
        ("<li>a</li><link rel=x>", False), ("", False), ("<LI>a</LI><!-- b -->", False),
    ],
)  # fmt: skip
def test_fragments_that_are_left_open(text, left):
    assert html.left_open(text, "li") is left
