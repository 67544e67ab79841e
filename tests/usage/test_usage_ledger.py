"""Charges, the ledger, and how the keeper hands bytes on: each once, whatever happens on the way."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.errors import RedisUnavailableError
from fetchworker.usage import Keeper, Key, Ledger, Used
from fetchworker.usage.keys import DOWN, UP, field_parts, read_field


class Clock:
    def __init__(self) -> None:
        self.now, self.day = 100.0, "2026-11-30"

    def ledger(self) -> Ledger:
        return Ledger(clock=lambda: self.now, today=lambda: self.day)


class Memory:
    """A shelf that can be away before or after it has added."""

    def __init__(self) -> None:
        self.days: dict[str, dict[Key, Used]] = {}
        self.last = 0
        self.fails: list[str] = []
        self.calls = 0
        self.added = asyncio.Event()

    async def add(self, number, day, used):
        self.calls += 1
        fails = self.fails.pop(0) if self.fails else ""
        if fails == "before":
            raise RedisUnavailableError("away")
        if number and number != self.last:
            self.last = number
            for key, each in used.items():
                self.days.setdefault(day, {}).setdefault(key, Used()).add(each.up, each.down, each.transfers)
            self.added.set()
        if fails == "after":
            raise RedisUnavailableError("away")
        found = Counter()
        for key, each in self.days.get(day, {}).items():
            found[key.tier] += each.total
        return found

    def sum(self, day="2026-11-30") -> tuple[int, int, int]:
        each = self.days.get(day, {}).values()
        return sum(u.up for u in each), sum(u.down for u in each), sum(u.transfers for u in each)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def stats():
    return Counter()


@pytest.fixture
def keeper(clock, stats):
    def make(shelf, **options):
        return Keeper(clock.ledger(), shelf, lambda name, by: stats.update({name: by}), **options)

    return make


def used(ledger: Ledger, up: int, down: int, outcome: str | None = "ok", **key):
    charge = ledger.open("fetch", operation="page", **key)
    charge.add(up, down)
    charge.end("unjudged")
    if outcome is not None:
        charge.judge(outcome)
    return charge


def test_a_charge_counts_as_it_is_judged(clock):
    ledger = clock.ledger()
    used(ledger, 10, 20, provider="evomi", tier="residential", session="ann")
    ((at, each),) = ledger.drain().items()
    assert at.day == "2026-11-30"
    assert at.key == Key("evomi", "residential", "fetch", "page", "ann", "ok")
    assert (each.up, each.down, each.transfers) == (10, 20, 1)
    assert ledger.drain() == {}


def test_one_that_nobody_judges_counts_as_it_ended_after_a_while(clock):
    ledger = clock.ledger()
    charge = used(ledger, 10, 20, outcome=None)
    assert ledger.drain(older=2) == {}
    assert ledger.held()["-"] == 30, "it counts against a budget already"
    clock.now += 2
    ((at, _),) = ledger.drain(older=2).items()
    assert at.key.outcome == "unjudged"
    charge.judge("ok")
    assert ledger.drain() == {}, "too late"


def test_bytes_after_the_judgement_have_the_same_key(clock):
    ledger = clock.ledger()
    charge = used(ledger, 10, 20)
    ledger.drain()
    clock.day = "2026-12-01"
    charge.add(24, 31)
    ((at, each),) = ledger.drain().items()
    assert (at.day, at.key.outcome, each.up, each.down, each.transfers) == ("2026-12-01", "ok", 24, 31, 0)


async def test_stats_have_every_part(keeper, stats):
    kept = keeper(None)
    used(kept.ledger, 10, 20, provider="evomi", tier="residential", session="ann")
    used(kept.ledger, 1, 2, outcome="blocked")
    await kept.finish()
    assert (stats["bytes/up"], stats["bytes/down"]) == (11, 22)
    assert stats["bytes/provider/evomi/down"] == 20
    assert stats["bytes/provider/direct/down"] == 2
    assert stats["bytes/tier/residential/up"] == 10
    assert stats["bytes/operation/page/down"] == 22
    assert stats["bytes/session/ann/down"] == 20
    assert stats["bytes/outcome/blocked/up"] == 1


async def test_stats_tell_a_hundred_sessions_apart(keeper, stats):
    kept = keeper(None)
    for number in range(130):
        used(kept.ledger, 1, 0, session=f"s{number}")
    await kept.flush(older=0)
    sessions = [name for name in stats if name.startswith("bytes/session/") and name.endswith("/up")]
    assert len(sessions) == 101
    assert stats["bytes/session/(others)/up"] == 30


async def test_without_a_shelf_spending_is_this_process_s(keeper):
    kept = keeper(None)
    used(kept.ledger, 10, 20, tier="residential")
    assert kept.spent()["residential"] == 30
    await kept.flush(older=0)
    assert kept.spent()["residential"] == 30


@pytest.mark.parametrize("fails", [["before"], ["after"], ["after", "before", "after"]])
async def test_what_was_not_confirmed_is_sent_again_and_counts_once(keeper, fails, caplog):
    shelf = Memory()
    kept = keeper(shelf)
    shelf.fails = list(fails)
    for number in range(len(fails) + 1):
        used(kept.ledger, 10, 20, session=f"s{number % 2}")
        assert sum(kept.spent().values()) >= 30 * (number + 1)
        await kept.flush(older=0)
    await kept.flush(older=0)
    count = len(fails) + 1
    assert shelf.sum() == (10 * count, 20 * count, count)
    assert sum(kept.spent().values()) == 30 * count
    assert len([r for r in caplog.records if "sent later" in r.message]) == 1, "told once"


async def test_many_keys_go_in_batches(keeper):
    shelf = Memory()
    kept = keeper(shelf)
    for number in range(1100):
        used(kept.ledger, 1, 1, session=f"s{number}")
    await kept.flush(older=0)
    assert shelf.sum() == (1100, 1100, 1100)
    assert shelf.calls == 3


async def test_days_are_kept_apart_and_spending_begins_anew(keeper, clock):
    shelf = Memory()
    kept = keeper(shelf)
    used(kept.ledger, 1, 2)
    await kept.flush(older=0)
    clock.day = "2026-12-01"
    assert sum(kept.spent().values()) == 0
    used(kept.ledger, 10, 20)
    assert sum(kept.spent().values()) == 30
    await kept.flush(older=0)
    assert (shelf.sum(), shelf.sum("2026-12-01")) == ((1, 2, 1), (10, 20, 1))
    assert sum(kept.spent().values()) == 30


async def test_a_clock_that_goes_back_loses_nothing(keeper, clock):
    shelf = Memory()
    kept = keeper(shelf)
    used(kept.ledger, 1, 2)
    clock.day = "2026-11-29"
    used(kept.ledger, 10, 20)
    await kept.flush(older=0)
    assert (shelf.sum(), shelf.sum("2026-11-29")) == ((1, 2, 1), (10, 20, 1))


async def test_it_hands_on_by_itself_and_closes_what_has_bytes_left(keeper):
    shelf = Memory()
    kept = keeper(shelf, interval=0.01)
    kept.start()
    charge = used(kept.ledger, 1, 2)
    async with asyncio.timeout(10):
        await shelf.added.wait()
    assert shelf.sum() == (1, 2, 1)

    async def close():
        charge.add(24, 24)

    kept.before_close(close)
    await kept.finish()
    assert shelf.sum() == (25, 26, 1)


async def test_what_could_not_be_sent_is_told_at_the_end(keeper, caplog):
    shelf = Memory()
    shelf.fails = ["before"] * 5
    kept = keeper(shelf)
    used(kept.ledger, 1, 2)
    await kept.finish()
    assert "usage of 3 bytes" in caplog.text


texts = st.text(max_size=20)


@given(texts, texts, texts, texts, texts)
def test_fields_are_read_as_they_were_written(provider, tier, operation, session, outcome):
    key = Key(provider, tier, "fetch", operation, session, outcome)
    head, middle, tail = field_parts(key)
    for what in (UP, DOWN):
        assert read_field("fetch", f"{head}{middle}|{tail}|{what}".encode()) == (key, what)


@given(st.binary(max_size=60))
def test_no_field_breaks_the_reader(field):
    read = read_field("fetch", field)
    assert read is None or read[1] in {"up", "down", "n"}
