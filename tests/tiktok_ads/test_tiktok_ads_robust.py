"""Whatever an answer holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.demo.mutations import places, replaced
from fetchworker.errors import ContractError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**20) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
SLOW = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = ["search", "details", "top_ads", "top_ad", "curve", "place", "hashtags", "sounds", "creators", "info"]


def attempt(site, operation, body, **values):
    with suppress(ContractError):
        site.parsed(operation, body, **values)


def good(site, name):
    """A good answer and the operation that reads it."""
    curve = [{"second": 0, "value": 1}, {"second": 1, "value": 0.5}]
    hashtag = {"hashtag_id": "1", "hashtag_name": "x", "publish_cnt": 3, "trend": [{"time": 1740787200, "value": 1}],
               "country_info": {"label": "US"}, "creators": [{"nick_name": "a"}]}  # fmt: skip
    rejected = {"affected_regions": ["DK"], "reasons": ["x"]}
    return {
        "search": ("library", site.searched(site.ad(), site.ad("1870000000000002", rejection_info=rejected),
                                            after=site.cursor(24))),
        "details": ("library", site.details()),
        "top_ads": ("top_ads", site.listed(site.material(), more=True)),
        "top_ad": ("top_ad", site.answer(site.material(country_code=["US"], objectives=[{"label": "x"}]))),
        "curve": ("top_ad_analytics", site.answer({"analysis": curve, "duration": 2, "highlight": [1]})),
        "place": ("top_ad_analytics", site.answer({"ctr_percentile": 0.5})),
        "hashtags": ("trends", site.trends("list", hashtag, more=True)),
        "sounds": ("trends", site.trends("sound_list", {"clip_id": "1", "related_items": [{"item_id": 1}]})),
        "creators": ("trends", site.trends("creators", {"user_id": "1", "items": [{"item_id": "3"}]})),
        "info": ("trends", site.answer({"info": {"url_title": "x", "third_ecom_category": {"id": "1", "value": "y"}}})),
    }[name]  # fmt: skip


@SLOW
@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_one_part_is_anything(site, name, data):
    operation, value = good(site, name)
    path = data.draw(st.sampled_from(list(places(value))))
    before = data.draw(st.sampled_from([None, site.cursor(12)])) if name == "search" else None
    attempt(site, operation, replaced(value, path, data.draw(JSON)), cursor=before)


@SLOW
@pytest.mark.parametrize("operation", ["library", "top_ads", "top_ad", "top_ad_analytics", "trends"])
@given(text=st.text(max_size=200) | st.binary(max_size=200))
def test_any_text(site, operation, text):
    attempt(site, operation, text)


@pytest.mark.parametrize("name", NAMES)
def test_answers_cut_anywhere(site, name):
    operation, value = good(site, name)
    body = json.dumps(value).encode()
    for end in range(len(body)):
        attempt(site, operation, body[:end])


def test_huge_and_deep_answers_are_no_trap(site):
    for deep in ('{"data":' * 50_000, "[" * 50_000, '{"code": 0, "data": [' + "{}," * 200_000):
        for operation in ("library", "top_ads", "trends"):
            attempt(site, operation, deep)
    attempt(site, "top_ad_analytics", site.answer({"analysis": [{"second": 10**9, "value": 1}]}))
    attempt(site, "library", site.searched(site.ad(), after="A" * 100_000))
