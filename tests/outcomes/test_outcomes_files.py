"""Reading signature files: what they may say, and what is refused with file and key."""

from __future__ import annotations

import pytest

from fetchworker.contracts import Page
from fetchworker.errors import ConfigError
from fetchworker.outcomes._rules import arrange
from fetchworker.outcomes._view import View
from fetchworker.outcomes.signatures import load_signatures, read_signatures

HEAD = "signatures:\n  - evidence: one\n    outcome: blocked\n    confidence: 0.9\n    when: "


def matches(when: str, *, url=None, requested=None, status=200, body=b"<html>", **headers) -> bool:
    rules = arrange(read_signatures(HEAD + when, "x.yaml"))
    page = Page(url, status, {name.replace("_", "-"): value for name, value in headers.items()}, body)
    return bool(rules.matching(View(page, requested)))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("signatures: [", ""),
        ("- evidence: one", ""),
        ("vendor: x", "signatures"),
        ("signatures: []", "signatures"),
        ("vendors: x", "vendors"),
        ("sites: instagram\n" + HEAD + "{body: x}", "sites"),
        (HEAD.replace("    outcome: blocked\n", "") + "{body: x}", "signatures[0].outcome"),
        (HEAD.replace("blocked", "banned") + "{body: x}", "signatures[0].outcome"),
        (HEAD.replace("0.9", "9") + "{body: x}", "signatures[0].confidence"),
        (HEAD.replace("0.9", "yes") + "{body: x}", "signatures[0].confidence"),
        (HEAD.replace("one", "One Two") + "{body: x}", "signatures[0].evidence"),
        (HEAD + "{}", "signatures[0].when"),
        (HEAD + "{body: 5}", "signatures[0].when.body"),
        (HEAD + "{body: {text: a}}", "signatures[0].when.body.within"),
        (HEAD + "{body: {text: a, within: -1}}", "signatures[0].when.body.within"),
        (HEAD + "{bodies: a}", "signatures[0].when.bodies"),
        (HEAD + "{any: [{body: a}, {title: '('}]}", "signatures[0].when.any[1].title"),
        (HEAD + "{body: a, regex: '('}", "signatures[0].when.regex"),
        (HEAD + "{body: a, regex: '(?=x)'}", "signatures[0].when.regex"),
        (HEAD + "{body: a, regex: 'a\\b'}", "signatures[0].when.regex"),
        (HEAD + "{body: a, regex: '\\sid=a'}", "signatures[0].when.regex"),
        (HEAD + "{body: a, regex: '(?i)\\sid=a'}", "signatures[0].when.regex"),
        (HEAD + "{header: {server: '['}}", "signatures[0].when.header.server"),
        (HEAD + "{status: 4yy}", "signatures[0].when.status"),
        (HEAD + "{status: true}", "signatures[0].when.status"),
        (HEAD + "{status: 403, content: htm}", "signatures[0].when.content"),
        (HEAD + "{status: 403, size: {most: 3}}", "signatures[0].when.size.most"),
        (HEAD + "{json: {path: a}}", "signatures[0].when.json"),
        (HEAD + "{json: {path: a, equals: 1, exists: true}}", "signatures[0].when.json"),
        (HEAD + "{json: {path: a, exists: false}}", "signatures[0].when.json.exists"),
        (HEAD + "{json: {path: '[]', exists: true}}", "signatures[0].when.json.path"),
        (HEAD + "{none: [{body: a}]}", "signatures[0].when"),
        (HEAD + "{regex: a}", "signatures[0].when"),
        (HEAD + "{status: 200, size: {max: 9}}", "signatures[0].when"),
        (HEAD + "{any: [{body: a}, {size: {max: 9}}]}", "signatures[0].when"),
    ],
)
def test_broken_file_is_refused_with_its_key(text, key):
    with pytest.raises(ConfigError) as caught:
        read_signatures(text, "shop.yaml")
    assert caught.value.context == {"file": "shop.yaml", "key": key}
    assert str(caught.value).startswith(f"shop.yaml: {key}")


def test_broken_file_of_a_directory_is_named(tmp_path):
    (tmp_path / "good.yaml").write_text(HEAD + "{body: a}")
    (tmp_path / "torn.yaml").write_text(HEAD + "{body: ")
    with pytest.raises(ConfigError, match=r"^torn\.yaml: "):
        load_signatures(tmp_path)


def test_an_evidence_slug_stands_once(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD + "{body: a}")
    (tmp_path / "b.yaml").write_text(HEAD + "{body: b}")
    with pytest.raises(ConfigError, match="'one' stands twice"):
        load_signatures(tmp_path)


def test_site_files_come_first(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD + "{body: a}")
    (tmp_path / "b.yaml").write_text("vendor: shop\nsites: [shop]\n" + HEAD.replace("one", "two") + "{body: b}")
    first, second = load_signatures(tmp_path)
    assert (first.evidence, first.vendor, first.sites) == ("two", "shop", frozenset({"shop"}))
    assert (second.evidence, second.vendor, second.sites) == ("one", None, None)


def test_a_signature_may_name_its_own_vendor():
    text = "vendor: house\n" + HEAD.replace("    when", "    vendor: guest\n    note: why\n    when") + "{body: a}"
    assert read_signatures(text, "x.yaml")[0].vendor == "guest"


@pytest.mark.parametrize(
    ("when", "response", "expected"),
    [
        ("{status: [403, 5xx]}", {"status": 503}, True),
        ("{status: [403, 5xx]}", {"status": 404}, False),
        ("{status: [403, 5xx]}", {"status": None}, False),
        ("{url: '/blocked$'}", {"url": "https://a.test/BLOCKED"}, True),
        ("{url: '/blocked$'}", {"url": None}, False),
        ("{requested: '/api/', content: html}", {"url": "https://a.test/api/"}, True),
        ("{requested: '/api/'}", {"url": "https://a.test/", "requested": "https://a.test/api/"}, True),
        ("{requested: '/api/'}", {"url": "https://a.test/api/", "requested": "https://a.test/"}, False),
        ("{header: {X-Block: null}}", {"x_block": [""]}, True),
        ("{header: {x-block: '^1$'}}", {"x_block": ["0", "1"]}, True),
        ("{header: {x-block: '^1$', server: edge}}", {"x_block": ["1"]}, False),
        ("{cookie: 'guard_.*'}", {"set_cookie": ["a=guard_x", "guard_1=2; Path=/"]}, True),
        ("{cookie: 'guard'}", {"set_cookie": ["guard_1=2; Path=/"]}, False),
        ("{content: empty}", {"body": b" "}, True),
        ("{content: [empty, binary]}", {"body": b"\x00\x01\x02"}, True),
        ("{body: marker}", {"body": b"<html>marker"}, True),
        ("{body: marker}", {"body": b"text with a marker"}, True),
        ("{body: marker}", {"body": b'{"a": "marker"}'}, False),
        ("{body: Marker}", {"body": b"<html>marker"}, False),
        ("{body: [other, marker]}", {"body": b"<html>marker"}, True),
        ("{body: {text: marker, within: 12}}", {"body": b"<html>marker"}, True),
        ("{body: {text: marker, within: 11}}", {"body": b"<html>marker"}, False),
        ("{body: marker, size: {min: 10, max: 12}}", {"body": b"<html>marker"}, True),
        ("{body: marker, size: {max: 11}}", {"body": b"<html>marker"}, False),
        ("{body: marker, regex: 'm[a-z]+r(?-u:\\b)'}", {"body": b"<html>marker"}, True),
        ("{body: marker, none: [{body: price}]}", {"body": b"<html>marker, price"}, False),
        ("{title: '^stop$'}", {"body": b"<html><title>Stop</title>"}, True),
        ("{title: '^stop$'}", {"body": b"<html><title>Stop it</title>"}, False),
        ("{json: {path: 'errors[].code', equals: 7}}", {"body": b'{"errors": [{"code": 1}, {"code": 7}]}'}, True),
        ("{json: {path: 'errors[].code', equals: 7}}", {"body": b'{"errors": [{"code": "7"}]}'}, False),
        ("{json: {path: 'errors[].code', equals: 7}}", {"body": b'{"errors": {"code": 7}}'}, False),
        ("{json: {path: '[].code', equals: 7}}", {"body": b'[{"code":7}]'}, True),
        ("{json: {path: a.b, is_null: true}}", {"body": b'{"a":{"b":null}}'}, True),
        ("{json: {path: a.b, is_null: true}}", {"body": b'{"a":{"c":null}, "b": null}'}, False),
        ("{json: {path: a.b, exists: true}}", {"body": b'{"a":{"b":null}}'}, True),
        ("{json: {path: a, equals: true}}", {"body": b'{"a":1}'}, False),
        ("{json: {path: a, equals: {}}}", {"body": b'{"a":{}}'}, True),
        ("{json: {path: a, matches: '^st'}}", {"body": b'{"a":"Stop"}'}, True),
        ("{json: {path: a, matches: '^st'}}", {"body": b'{"a":["Stop"]}'}, False),
        ("{body: Stop, json: {path: a, exists: true}}", {"body": b'{"a":"Stop"}'}, True),
        ("{any: [{status: 403}, {body: marker}]}", {"body": b"<html>marker"}, True),
        ("{all: [{body: one}, {body: two}]}", {"body": b"<html>one"}, False),
    ],
)
def test_condition(when, response, expected):
    assert matches(when, **response) is expected
