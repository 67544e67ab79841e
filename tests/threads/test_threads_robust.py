"""Whatever a body holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError, OutcomeError

OPERATIONS = ["profile", "posts", "post", "replies", "likers"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def attempt(site, operation, body):
    with suppress(ContractError, OutcomeError):
        site.parsed(operation, body)


def good(site, operation):
    listed = site.edges([site.post()], [site.answer("3912123456789012345")], cursor="C1")
    return {
        "profile": {"data": {"userData": {"user": site.account()}}},
        "posts": {"data": {"mediaData": listed, "user": site.account()}},
        "post": {"data": {"data": listed}},
        "replies": {"data": {"mediaData": listed}},
        "likers": {"data": {"likers": {"users": [site.account()]}}},
    }[operation]


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_mutations_of_good_bodies(site, operation, data):
    body = good(site, operation)
    for _ in range(data.draw(st.integers(1, 3))):
        body = replaced(body, data.draw(st.sampled_from(list(places(body)))), data.draw(JSON))
    shown = site.html(site.relay("BarcelonaAnyQuery", body if isinstance(body, dict) else {"data": body}))
    attempt(site, operation, data.draw(st.sampled_from([json.dumps(body), shown])))


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 400), text=st.text(max_size=60))
def test_cut_and_foreign_bodies(site, operation, cut, text):
    body = json.dumps(good(site, operation))
    attempt(site, operation, body[: len(body) * cut // 400])
    attempt(site, operation, site.html(site.relay("BarcelonaAnyQuery", good(site, operation)))[: cut * 4])
    attempt(site, operation, text)


@pytest.mark.parametrize("body", [b"", b"  ", b"\xff\xfe\x00", b"[1,2", b'{"data":', b"<html>", b"\x89PNG"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_body_of_the_kind(site, operation, body):
    with pytest.raises((ContractError, OutcomeError)):
        site.parsed(operation, body)


def test_deep_and_wide_bodies_are_no_trap(site):
    attempt(site, "post", '{"data":' * 5000)
    attempt(site, "post", json.dumps({"data": {"a": [{"b": []}] * 100_000}}))


def test_a_long_page_is_read_in_one_pass(site, calls):
    """Twice the answers, and twice the scripts around them, cost twice the calls."""

    def read(count):
        edges = [[site.answer(str(3912123456789012345 + n))] for n in range(count)]
        block = site.relay("BarcelonaPostPageDirectQuery", {"data": {"data": site.edges([site.post()], *edges)}})
        page = site.html("<script>var a = {};</script>" * 500 * count, block)
        assert len(site.parsed("post", page).items) == count + 2
        return calls(lambda: site.parsed("post", page))

    assert read(60) < 2.1 * read(30)
