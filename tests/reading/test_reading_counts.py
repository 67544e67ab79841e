from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.spiders.reading.counts import count, first_count


@pytest.mark.parametrize(
    ("shown", "number"),
    [
        ("2,362", 2362), ("224", 224), ("1.2m", 1_200_000), ("11K", 11_000), ("1,234,567", 1_234_567), ("2.362", 2362),
        ("3,4M", 3_400_000), ("1,234K", 1_234_000), ("0", 0), ("1.15B", 1_150_000_000), (" 5 K ", 5000),
        ("3,4 mil", 3400), ("2,3 Tsd.", 2300), ("1,5 Mio.", 1_500_000), ("12万", 120_000), ("1 234", 1234),
        ("3,4 тыс.", 3400), ("2,4 bin", 2400), ("12,5 rb", 12_500), ("1,1 mi", 1_100_000), ("3.2만", 32_000),
        ("1\u00a0234\u00a0567", 1_234_567), ("1'234", 1234), ("7 mila", 7000), ("2 tys.", 2000),
        ("1.5", None), ("1,23", None), ("", None), ("many", None), ("1.2.3M", None), (None, None), ("-3", None),
        ("1,2345", None), ("12 bids", None), ("3 meals", None), ("1 23", None), ("1.234,567", None),
    ],
)  # fmt: skip
def test_counts_as_people_read_them(shown, number):
    assert count(shown) == number


@pytest.mark.parametrize(
    ("shown", "number"),
    [
        ("12 bids", 12), ("(2,834)", 2834), ("45+ sold", 45), ("99.8K items sold", 99_800), ("none", None),
        ("4.5 of 5", None), ("10 millimetres", 10), ("1.2万人", 12_000), ("팔로워 3.2만명", 32_000), (None, None),
    ],
)  # fmt: skip
def test_the_first_count_of_a_text(shown, number):
    assert first_count(shown) == number


@given(st.integers(0, 10**12), st.sampled_from([",", ".", " ", "\u00a0", "'"]))
def test_grouped_numbers_are_read_whatever_groups_them(number, mark):
    assert count(f"{number:,}".replace(",", mark)) == number


@given(st.integers(1, 999), st.integers(0, 99), st.sampled_from([("K", 10**3), ("M", 10**6), ("mil", 10**3)]))
def test_scaled_numbers_are_exact(whole, hundredths, scale):
    word, factor = scale
    assert count(f"{whole}.{hundredths:02d}{word}") == whole * factor + hundredths * factor // 100


@given(st.text(alphabet="0123456789.,KMB '\u00a0mil(%)", max_size=40))
def test_never_fails(text):
    for found in (count(text), first_count(text)):
        assert found is None or found >= 0
