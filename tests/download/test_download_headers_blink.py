"""Chromium's order of fetch() headers, against what Chromium 156 sent (2026-11-29)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.download.blink import HINTS, USER_AGENT, blink_order

# own names of the fetch(), a bar, what was sent of Blink's map
RECORDED = """
 | sec-ch-ua-platform user-agent sec-ch-ua sec-ch-ua-mobile
content-type | sec-ch-ua-platform user-agent sec-ch-ua content-type sec-ch-ua-mobile
authorization | sec-ch-ua-platform authorization user-agent sec-ch-ua sec-ch-ua-mobile
accept x-tenant | sec-ch-ua-platform x-tenant accept sec-ch-ua user-agent sec-ch-ua-mobile
x-app-id x-csrf-token x-requested-with |
 sec-ch-ua-platform x-app-id x-csrf-token x-requested-with user-agent sec-ch-ua sec-ch-ua-mobile
accept content-type x-query-name |
 x-query-name sec-ch-ua-platform user-agent accept sec-ch-ua content-type sec-ch-ua-mobile
accept x-client-name x-client-version x-request-id x-trace-id |
 x-request-id sec-ch-ua-platform sec-ch-ua sec-ch-ua-mobile x-trace-id user-agent accept x-client-name x-client-version
content-type x-app-id x-asset-id x-csrf-token x-requested-with |
 sec-ch-ua-platform x-csrf-token sec-ch-ua sec-ch-ua-mobile x-app-id x-requested-with user-agent content-type x-asset-id
a bb ccc dddd | ccc sec-ch-ua-platform sec-ch-ua dddd sec-ch-ua-mobile user-agent bb a
x-a-rather-long-name-that-goes-over-twenty-four x-an-even-longer-header-name-for-the-hash-of-long-keys |
 x-a-rather-long-name-that-goes-over-twenty-four sec-ch-ua-platform user-agent
 x-an-even-longer-header-name-for-the-hash-of-long-keys sec-ch-ua sec-ch-ua-mobile
x-one x-two x-three x-four x-five x-six x-seven x-eight x-nine x-ten x-eleven x-twelve |
 x-seven sec-ch-ua-platform x-twelve x-one sec-ch-ua sec-ch-ua-mobile x-two x-nine x-eleven x-eight x-four x-five x-six
 x-ten user-agent x-three
"""
CASES = [tuple(part.split() for part in case.split("|")) for case in re.split(r"\n(?! [^|])", RECORDED.strip("\n"))]


@pytest.mark.parametrize(("names", "sent"), CASES)
def test_order_is_the_recorded_one(names, sent):
    assert list(blink_order(frozenset(names))) == sent


def test_order_on_plain_http_has_no_hints():
    names = frozenset({"x-custom-a", "x-csrftoken", "x-zed", "accept", "x-ig-app-id"})
    assert blink_order(names, hints=False) == (
        "x-custom-a",
        "x-csrftoken",
        "x-zed",
        "user-agent",
        "accept",
        "x-ig-app-id",
    )


@given(st.frozensets(st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=60), max_size=40))
def test_every_name_comes_once(names):
    names = names - {USER_AGENT, *HINTS}
    order = blink_order(names)
    assert sorted(order) == sorted([*names, *HINTS, USER_AGENT])
