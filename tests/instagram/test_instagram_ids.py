from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.spiders.instagram import ids
from fetchworker.spiders.reading import values


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
