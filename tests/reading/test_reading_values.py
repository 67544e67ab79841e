from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.spiders.reading import values

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("raw", "number"),
    [(5, 5), (0, 0), ("17", 17), (3.0, 3), (-1, None), (True, None), ("-1", None), ("1e3", None), (2.5, None)],
)
def test_a_count_is_a_whole_number_or_unknown(raw, number):
    assert values.count(raw) == number


@pytest.mark.parametrize(
    ("raw", "time"),
    [
        (1523805813, "2018-04-15T15:23:33Z"), ("1523805813", "2018-04-15T15:23:33Z"),
        (1523805813.7, "2018-04-15T15:23:33Z"), (1523805813000, "2018-04-15T15:23:33Z"),
        (0, None), (-5, None), (12, None), (10**14, None), (True, None), ("soon", None), (float("inf"), None),
    ],
)  # fmt: skip
def test_times(raw, time):
    assert values.instant(raw) == time


def test_lone_surrogates_cannot_spoil_a_file():
    assert values.text("a\ud83d b") == "a? b"
    assert values.text("  ") is None


@pytest.mark.parametrize("value", [2**63, 10**400, 1e300, float("inf"), float("nan"), "9" * 19])
def test_what_no_counter_holds_is_unknown(value):
    assert values.count(value) is None


@pytest.mark.parametrize(
    ("value", "number"), [(2.5, 2.5), (3, 3.0), (-1, None), (10**400, None), (float("inf"), None), (True, None)]
)
def test_measures(value, number):
    assert values.measure(value) == number


@given(ANYTHING)
def test_readers_never_fail(value):
    for reader in (values.text, values.link, values.ident, values.count, values.flag, values.measure, values.instant):
        reader(value)
    values.dig(value, "a", 0, "b")
    assert values.sequence(value) is not None
    assert values.mapping(value) is not None
