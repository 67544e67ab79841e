"""Which days and groups are asked for, and how they are shown."""

from __future__ import annotations

from datetime import date

import pytest

from fetchworker.errors import ArgumentError
from fetchworker.usage import Key, Used
from fetchworker.usage.report import as_json, as_text, days_of, grouped, parts_of

TODAY = date(2026, 11, 30)


def key(**parts: str) -> Key:
    return Key("evomi", "residential", "instagram", "profile", "ann", "ok")._replace(**parts)


USED = {
    ("2026-11-29", key()): Used(100, 2000, 3),
    ("2026-11-30", key()): Used(1, 2, 1),
    ("2026-11-30", key(outcome="blocked")): Used(10, 20, 1),
    ("2026-11-30", key(provider="direct", tier="-")): Used(1 << 20, 5 << 20, 1),
}


@pytest.mark.parametrize(
    ("day", "since", "until", "days"),
    [
        (None, None, None, ["2026-11-30"]),
        ("2026-01-01", None, None, ["2026-01-01"]),
        (None, "2026-11-29", None, ["2026-11-29", "2026-11-30"]),
        (None, "2026-02-27", "2026-03-01", ["2026-02-27", "2026-02-28", "2026-03-01"]),
        (None, None, "2026-11-01", ["2026-11-01"]),
    ],
)
def test_days(day, since, until, days):
    assert days_of(day, since, until, today=TODAY) == days


@pytest.mark.parametrize(
    ("day", "since", "until", "told"),
    [
        ("yesterday", None, None, "--day yesterday: write a day as 2026-11-30"),
        (None, "2026-02-30", None, "--since 2026-02-30"),
        (None, "2026-11-30", "2026-11-01", "is after --until"),
        (None, "2026-12-01", None, "is after today"),
        ("2026-11-30", "2026-11-01", None, "stands alone"),
        (None, "2020-01-01", None, "400 at most"),
    ],
)
def test_what_are_no_days(day, since, until, told):
    with pytest.raises(ArgumentError, match=told):
        days_of(day, since, until, today=TODAY)


def test_parts():
    assert parts_of("day, provider") == ("day", "provider")
    for text, told in (("provider,colour", "'colour' is unknown"), ("site,site", "named twice"), ("", "unknown")):
        with pytest.raises(ArgumentError, match=told):
            parts_of(text)


def test_groups_the_greatest_first_and_days_in_order():
    rows = grouped(USED, ["provider"])
    assert [(row.group, row.used.total) for row in rows] == [(("direct",), 6 << 20), (("evomi",), 2133)]
    assert [row.group[0] for row in grouped(USED, ["day", "outcome"])] == ["2026-11-29", "2026-11-30", "2026-11-30"]


def test_json_has_whole_numbers():
    told = as_json(grouped(USED, ["outcome"]), ["outcome"], ["2026-11-29", "2026-11-30"])
    assert told["rows"][1] == {"outcome": "blocked", "bytes_up": 10, "bytes_down": 20, "transfers": 1}
    assert told["total"] == {"bytes_up": (1 << 20) + 111, "bytes_down": (5 << 20) + 2022, "transfers": 6}
    assert (told["since"], told["until"], told["by"]) == ("2026-11-29", "2026-11-30", ["outcome"])


def test_the_table():
    assert as_text(grouped(USED, ["provider", "tier"]), ["provider", "tier"]) == [
        "provider  tier              up     down    total  transfers",
        "direct    -            1.0 MiB  5.0 MiB  6.0 MiB          1",
        "evomi     residential    111 B  2.0 KiB  2.1 KiB          5",
        "total                  1.0 MiB  5.0 MiB  6.0 MiB          6",
    ]
