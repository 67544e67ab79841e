"""Whatever a body holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError, OutcomeError

OPERATIONS = ["ads", "ad", "ads_archive"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def attempt(site, operation, body, **more):
    with suppress(ContractError, OutcomeError):
        site.parsed(operation, body, **more)


def good(site, operation):
    archived = {"id": "1", "spend": {"lower_bound": "1"}, "currency": "EUR", "target_ages": ["18", "65+"]}
    archived |= {"demographic_distribution": [{"percentage": "0.1"}], "beneficiary_payers": [{"payer": "x"}]}
    return {
        "ads": {"data": site.search([site.ad(snapshot={"cards": [{"title": "x"}]})], cursor="A")},
        "ad": site.details(),
        "ads_archive": {"data": [archived], "paging": {"cursors": {"after": "A"}, "next": "x"}},
    }[operation]


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutations_of_good_bodies(site, operation, data):
    body = good(site, operation)
    for _ in range(data.draw(st.integers(1, 3))):
        body = replaced(body, data.draw(st.sampled_from(list(places(body)))), data.draw(JSON))
    shown = site.relay(body if isinstance(body, dict) else {"data": body})
    attempt(site, operation, data.draw(st.sampled_from([json.dumps(body), shown])))


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutations_of_single_ads(site, data):
    raw = {"deeplink_ad_archive_result": {"deeplink_ad_archive": site.ad(snapshot={"cards": [{"title": "x"}]})}}
    for _ in range(data.draw(st.integers(1, 3))):
        raw = replaced(raw, data.draw(st.sampled_from(list(places(raw)))), data.draw(JSON))
    attempt(site, "ad", site.relay({"data": {"ad_library_main": raw}}), id="150001")


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 400), text=st.text(max_size=60))
def test_cut_and_foreign_bodies(site, operation, cut, text):
    body = json.dumps(good(site, operation))
    attempt(site, operation, body[: len(body) * cut // 400])
    attempt(site, operation, site.relay(good(site, operation))[: cut * 6])
    attempt(site, operation, text)


@pytest.mark.parametrize("body", [b"", b"  ", b"\xff\xfe\x00", b"[1,2", b'{"data":', b"<html>", b"\x89PNG"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_body_of_the_kind(site, operation, body):
    with pytest.raises((ContractError, OutcomeError)):
        site.parsed(operation, body)


def test_deep_and_wide_bodies_are_no_trap(site):
    attempt(site, "ads", '{"data":' * 5000)
    attempt(site, "ad", json.dumps({"data": {"a": [{"b": []}] * 100_000}}))


def test_a_long_page_is_read_in_one_pass(site, calls):
    """Twice the ads, and twice the scripts around them, cost twice the calls."""

    def read(count):
        groups = [[site.ad(str(150_000 + n))] for n in range(count)]
        page = site.relay({"data": site.search(*groups, cursor="A")}).replace(
            "<body>", "<body>" + "<script>var a = {};</script>" * 1000 * count
        )
        assert len(site.parsed("ads", page).items) == count + 2
        return calls(lambda: site.parsed("ads", page))

    assert read(60) < 2.1 * read(30)
