from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.spiders.instagram import ids, values

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("shown", "number"),
    [
        ("2,362", 2362), ("224", 224), ("1.2m", 1_200_000), ("11K", 11_000), ("1,234,567", 1_234_567), ("2.362", 2362),
        ("3,4M", 3_400_000), ("1,234K", 1_234_000), ("0", 0), ("1.15B", 1_150_000_000), (" 5 K ", 5000),
        ("1.5", None), ("1,23", None), ("", None), ("many", None), ("1.2.3M", None), (None, None), ("-3", None),
    ],
)  # fmt: skip
def test_counts_as_people_read_them(shown, number):
    assert values.abbreviated(shown) == number


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


@given(ANYTHING)
def test_readers_never_fail(value):
    for reader in (values.text, values.link, values.ident, values.count, values.flag, values.seconds, values.instant):
        reader(value)
    values.dig(value, "a", 0, "b")
    assert values.sequence(value) is not None
    assert values.mapping(value) is not None


@given(st.integers(min_value=1, max_value=2**63 - 1))
def test_shortcode_and_number_tell_each_other(pk):
    code = ids.shortcode_of(str(pk))
    assert ids.pk_of(code) == str(pk)


@given(st.integers(min_value=86_400_000, max_value=2**40 - 1), st.integers(0, 2**23 - 1))
def test_a_number_holds_its_time(milliseconds, rest):
    pk = milliseconds << 23 | rest
    assert ids.created_at(str(pk)) == values.instant((ids.EPOCH_MS + milliseconds) // 1000)


def test_a_known_number():
    assert ids.pk_of("DdLBlHchN22") == "3984285244001148342"
    assert ids.shortcode_of("3984285244001148342_77") == "DdLBlHchN22"
    assert ids.created_at("3984285244001148342") == "2026-09-12T03:30:35Z"


def test_the_key_of_a_private_post_is_no_part_of_its_number():
    assert ids.pk_of("DdLBlHchN22" + "k" * 28) == "3984285244001148342"


@pytest.mark.parametrize("bad", [None, "", "abc", "0", "-5", "9" * 20, "4_x", "12"])
def test_other_numbers_hold_no_time(bad):
    assert ids.created_at(bad) is None


@given(st.text(max_size=60))
def test_ids_never_fail(value):
    ids.created_at(value)
    ids.shortcode_of(value)
    ids.media_pk(value)
    number = ids.pk_of(value)
    assert number is None or 0 < int(number) < 2**63
