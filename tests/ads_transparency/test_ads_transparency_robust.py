"""Whatever an answer holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError

OPERATIONS = ["suggestions", "creatives", "creative"]
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**25), 10**25), st.floats(), st.text(max_size=12),
    st.sampled_from(["", " ", "\ud800", "0", "https://[x", "<img", "<img src=//[>", [], {}, [None], [[]], {"": 0}]),
)  # fmt: skip


def good(site):
    words = site.overlay(site.words("headline", "Vases"), site.words("button", "Buy"))
    return {
        "suggestions": {"1": [site.advertiser(), {"2": {"1": "kiln.example"}}], "3": "t"},
        "creatives": {"1": [site.row(), site.row(**{"3": site.script(words)})], "2": "c", "4": "10", "5": "20"},
        "creative": site.single(**{"5": [site.picture(), site.script(words)]}),
    }


def attempt(site, operation, answer):
    with suppress(ContractError):
        site.parsed(operation, answer)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_value_anywhere(site, operation, data):
    tree = good(site)[operation]
    for _ in range(data.draw(st.integers(1, 3))):
        tree = replaced(tree, data.draw(st.sampled_from(list(places(tree)))), data.draw(VALUES))
        if not isinstance(tree, dict):
            break
    attempt(site, operation, tree)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(permille=st.integers(0, 1000), junk=st.binary(max_size=20), at=st.integers(0, 1000))
def test_bodies_cut_and_soiled(site, operation, permille, junk, at):
    body = json.dumps(good(site)[operation]).encode()
    attempt(site, operation, body[: len(body) * permille // 1000])
    place = len(body) * at // 1000
    attempt(site, operation, body[:place] + junk + body[place + len(junk) :])


@settings(max_examples=300)
@given(entries=st.lists(st.binary(max_size=100), max_size=4))
def test_any_message_in_an_overlay(site, entries):
    attempt(site, "creatives", {"1": [site.row(**{"3": site.script(site.overlay(*entries))})]})


def test_deep_and_large_answers_are_no_trap(site):
    for body in (b'{"1":' * 50_000, b"[" * 100_000, b")]}'" * 50_000, b'{"1":[' + b"{}," * 100_000 + b"{}]}"):
        for operation in OPERATIONS:
            attempt(site, operation, body)


def test_a_large_answer_is_read_in_one_pass(site, calls):
    """Twice the answer costs twice the calls."""
    words = site.overlay(site.words("headline", "Vases"))
    row = site.row(**{"3": site.script(words + "&x=" + "y" * 900)})
    once, twice = (calls(lambda n=n: site.parsed("creatives", {"1": [row] * n})) for n in (300, 600))
    assert twice < 2.1 * once
