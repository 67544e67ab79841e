"""Actions as data: strict, and with errors that name the place."""

from __future__ import annotations

import pytest

from fetchworker.actions import TYPES, parse_actions, parse_short
from fetchworker.actions.extract import LackingError, extract
from fetchworker.actions.models import What
from fetchworker.errors import ArgumentError

GOOD = {"type": "click", "selector": "#more"}


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ({"type": "click"}, "actions[1].selector", "Field required"),
        ({"type": "click", "selector": ""}, "actions[1].selector", "at least 1 character"),
        ({"type": "click", "selector": "#a", "count": "2"}, "actions[1].count", "valid integer"),
        ({"type": "click", "selector": "#a", "evaluate": "1"}, "actions[1].evaluate", "Extra inputs"),
        ({"type": "evaluate", "script": "1"}, "actions[1].type", "there is no 'evaluate'; known: goto, click"),
        ({"selector": "#a"}, "actions[1].type", "known: goto, click"),
        ("click", "actions[1]", "an object is expected"),
        ({"type": "goto", "url": "javascript:alert(1)"}, "actions[1].url", "an http or https address is expected"),
        ({"type": "goto", "url": "file:///etc/passwd"}, "actions[1].url", "an http or https address is expected"),
        ({"type": "select", "selector": "#a"}, "actions[1]", "give one of value, label"),
        ({"type": "wait_for"}, "actions[1]", "give one of selector, text, url, load, seconds"),
        ({"type": "wait_for", "text": "x", "state": "hidden"}, "actions[1]", "state belongs to a selector"),
        ({"type": "assert"}, "actions[1]", "give a selector, text"),
        ({"type": "assert", "text": "x", "min_count": 1}, "actions[1]", "min_count: needs a selector"),
        ({"type": "screenshot", "selector": "p", "full_page": True}, "actions[1]", "give full_page or a selector"),
        ({"type": "extract", "fields": {}}, "actions[1].fields", "at least 1"),
        ({"type": "extract", "fields": {"a b": {"css": "p"}}}, "actions[1].fields.a b", "a name of letters"),
        ({"type": "extract", "fields": {"a": {"css": "p["}}}, "actions[1].fields.a", "css: "),
        ({"type": "extract", "fields": {"a": {"xpath": "//p["}}}, "actions[1].fields.a", "xpath: "),
        ({"type": "extract", "fields": {"a": {"css": "p", "xpath": "//p"}}}, "actions[1].fields.a", "give one of"),
        ({"type": "pdf", "on_failure": "ignore"}, "actions[1].on_failure", "'stop' or 'continue'"),
        ({"type": "pdf", "timeout": 0}, "actions[1].timeout", "greater than 0"),
    ],
)
def test_an_error_names_the_field(given, field, told):
    with pytest.raises(ArgumentError) as failed:
        parse_actions([GOOD, given])
    assert f"{field}: " in failed.value.message
    assert told in failed.value.message
    assert failed.value.context["fields"] == [field]


def test_an_error_never_shows_what_was_to_be_typed():
    with pytest.raises(ArgumentError) as failed:
        parse_actions([{"type": "fill", "selector": 1, "text": "hunter2hunter2"}])
    assert "hunter2" not in failed.value.message
    (fill,) = parse_actions([{"type": "fill", "selector": "#p", "text": "hunter2hunter2"}])
    assert "hunter2" not in repr(fill)


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(ArgumentError) as failed:
        parse_actions([{"type": "click"}, GOOD, {"type": "press", "key": "a b"}])
    assert failed.value.context["fields"] == ["actions[0].selector", "actions[2].key"]


def test_no_list_and_too_long_a_list():
    for given in ({}, None, "x", [GOOD] * 201):
        with pytest.raises(ArgumentError, match=r"^actions: "):
            parse_actions(given)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("goto:https://site.example/a?b=c:d", {"type": "goto", "url": "https://site.example/a?b=c:d"}),
        ("click:a[href='x:y']", {"type": "click", "selector": "a[href='x:y']"}),
        ("fill:#q=>two shoes", {"type": "fill", "selector": "#q", "text": "two shoes"}),
        ("press:Enter", {"type": "press", "key": "Enter"}),
        ("press:#q=>Enter", {"type": "press", "selector": "#q", "key": "Enter"}),
        ("select:#size=>L", {"type": "select", "selector": "#size", "value": "L"}),
        ("wait_for:.list", {"type": "wait_for", "selector": ".list"}),
        ("wait_for:1.5", {"type": "wait_for", "seconds": 1.5}),
        ("scroll", {"type": "scroll", "to": "bottom"}),
        ("scroll:-300", {"type": "scroll", "by": -300}),
        ("scroll:#end", {"type": "scroll", "selector": "#end"}),
        ("extract:title=h1::text", {"type": "extract", "fields": {"title": {"css": "h1::text"}}}),
        ("extract:a=//a/@href", {"type": "extract", "fields": {"a": {"xpath": "//a/@href"}}}),
        ("extract:p=json_ld:Product", {"type": "extract", "fields": {"p": {"json_ld": "Product"}}}),
        ("assert:h1", {"type": "assert", "selector": "h1"}),
        ("assert:h1=>Shoes", {"type": "assert", "selector": "h1", "text": "Shoes"}),
        ("screenshot", {"type": "screenshot"}),
        ("pdf", {"type": "pdf"}),
        ("html", {"type": "html"}),
        ('{"type": "click", "selector": "#a", "count": 2}', {"type": "click", "selector": "#a", "count": 2}),
    ],
)
def test_short_forms(text, meant):
    assert parse_short(text) == meant
    assert len(parse_actions([meant])) == 1


def test_each_type_has_a_short_form():
    assert TYPES.keys() == {
        "goto", "click", "fill", "press", "select", "wait_for", "scroll", "extract", "assert", "screenshot", "pdf",
        "html",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dance", "there is no 'dance'; write one of goto:URL"),
        ("click:", "something is expected behind the colon"),
        ("fill:#q", "SELECTOR=>TEXT is expected"),
        ("pdf:A4", "nothing is expected behind this type"),
        ("extract:title", "NAME=CSS is expected"),
        ("{type: click}", "it is no JSON"),
    ],
)
def test_short_forms_that_cannot_be_read(text, told):
    with pytest.raises(ArgumentError, match=told):
        parse_short(text)


PAGE = """<html><h1>Red &amp; blue</h1><ul><li>one</li><li>two</li></ul><a href="/next">on</a>
<script type="application/ld+json">{"@graph": [{"@type": ["Product", "Thing"], "name": "Shoe"}]}</script>
<script type="application/ld+json">{broken</script>
<script type="application/LD+JSON">[{"@type": "Person", "name": "Ann"}]</script></html>"""


def fields(**given):
    return {name: What(**what) for name, what in given.items()}


def test_what_is_extracted():
    assert extract(PAGE, fields(
        title={"css": "h1::text"}, items={"css": "li::text", "many": True}, link={"xpath": "//a/@href"},
        product={"json_ld": "Product"}, every={"json_ld": "*", "many": True}, none={"css": "h2"},
        nothing={"css": "h2", "many": True},
    )) == {
        "title": "Red & blue", "items": ["one", "two"], "link": "/next",
        "product": {"@type": ["Product", "Thing"], "name": "Shoe"},
        "every": [
            {"@graph": [{"@type": ["Product", "Thing"], "name": "Shoe"}]},
            {"@type": ["Product", "Thing"], "name": "Shoe"}, {"@type": "Person", "name": "Ann"},
        ],
        "none": None, "nothing": [],
    }  # fmt: skip


def test_what_is_required_and_lacks():
    with pytest.raises(LackingError, match=r"^a, b$"):
        extract(PAGE, fields(a={"css": "h2", "required": True}, b={"json_ld": "X", "many": True, "required": True}))
    assert extract("", fields(a={"css": "p"})) == {"a": None}
    assert extract(f'<script type="application/ld+json">{"[" * 100_000}</script>', fields(a={"json_ld": "*"})) == {
        "a": None
    }
