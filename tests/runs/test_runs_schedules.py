"""Runs that the clock starts, by a clock that is given: once for each time, whoever comes, whatever was missed."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies
from pydantic import ValidationError
from sqlalchemy import select, update

from fetchworker.db.runtables import scrape_runs
from fetchworker.errors import ArgumentError, EgressDeniedError, RunNotFoundError, RunStateError
from fetchworker.runs import cron
from fetchworker.runs.schedulemodels import ScheduleRequest
from fetchworker.runs.schedules import Schedules

from .conftest import opened

BERLIN = "Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(expression: str, after: str, count: int, zone: str = BERLIN) -> list[str]:
    found, time = [], utc(after)
    for _ in range(count):
        time = cron.following(expression, zone, time)
        found.append(time.strftime("%m-%d %H:%M"))
    return found


def test_a_daily_time_comes_each_day_once_whatever_the_clocks_do():
    assert times("30 2 * * *", "2026-10-23 12:00", 4) == ["10-24 00:30", "10-25 00:30", "10-26 01:30", "10-27 01:30"]
    assert times("30 2 * * *", "2026-03-27 12:00", 4) == ["03-28 01:30", "03-29 01:00", "03-30 00:30", "03-31 00:30"]
    assert times("0 12 * * *", "2026-03-28 00:00", 2) == ["03-28 11:00", "03-29 10:00"]


def test_what_comes_every_half_hour_comes_through_the_night_of_autumn():
    found = times("*/30 * * * *", "2026-10-24 23:30", 6)
    assert found == ["10-25 00:00", "10-25 00:30", "10-25 01:00", "10-25 01:30", "10-25 02:00", "10-25 02:30"]
    assert times("5 * * * *", "2026-03-29 00:00", 3) == ["03-29 00:05", "03-29 01:05", "03-29 02:05"]


@pytest.mark.parametrize(
    ("expression", "zone", "field"),
    [
        ("* * * *", "UTC", "cron"), ("* * * * * *", "UTC", "cron"), ("61 * * * *", "UTC", "cron"),
        ("@daily", "UTC", "cron"), ("0 0 30 2 *", "UTC", "cron"), ("0 0 * * *", "Mars/Base", "timezone"),
        ("0 0 * * *", "../etc/passwd", "timezone"),
    ],
)  # fmt: skip
def test_what_never_comes_is_refused(expression, zone, field):
    with pytest.raises(ArgumentError) as caught:
        cron.check(expression, zone)
    assert caught.value.context["fields"] == [field]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("60 * * * *", "'60' is no minute: 0 to 59"),
        ("0 24 * * *", "'24' is no hour: 0 to 23"),
        ("0 0 * 13 *", "'13' is no month"),
        ("R 3 * * *", "'R' is no minute"),
        ("0 r(1-5) * * *", "is no hour"),
        ("H/5 * * * *", "is no minute"),
        ("0 3 * * * *", "is not five fields"),
    ],
)
def test_a_wrong_field_is_named(expression, told):
    with pytest.raises(ArgumentError, match=re.escape(told)):
        cron.check(expression, "UTC")


def test_names_of_months_and_days_are_good():
    cron.check("0 3 * mar-apr,oct fri,thu", "UTC")


@pytest.mark.parametrize("enabled", ["yes", 1, "false"])
def test_enabled_is_a_boolean(enabled):
    with pytest.raises(ValidationError):
        wanted(enabled=enabled)


NOON = utc("2026-05-04 12:00")
HOURS = [NOON - timedelta(hours=back) for back in (2, 1, 0)]


@pytest.mark.parametrize(
    ("overlap", "misfire", "running", "starts", "waiting"),
    [
        ("allow", "all", True, HOURS, []),
        ("allow", "once", True, HOURS[2:], []),
        ("skip", "once", False, HOURS[2:], []),
        ("skip", "once", True, [], []),
        ("queue", "all", True, [], HOURS),
        ("queue", "all", False, HOURS[:1], HOURS[1:]),
        ("queue", "skip", True, [], HOURS[2:]),
    ],
)
def test_what_is_done_with_times_that_were_missed_or_meet(overlap, misfire, running, starts, waiting):
    found = cron.plan(HOURS, [], NOON, overlap=overlap, misfire=misfire, running=running)
    assert (found.starts, found.waiting) == (starts, waiting)


def test_missed_times_alone():
    late = NOON + timedelta(minutes=30)
    alone = {"overlap": "allow", "running": False}
    assert cron.plan(HOURS, [], late, misfire="once", **alone).starts == HOURS[2:]
    assert cron.plan(HOURS, [], late, misfire="skip", **alone).starts == []
    assert cron.plan(HOURS, [], late, misfire="all", **alone).starts == HOURS


def test_of_years_of_missed_minutes_the_latest_count():
    found, following = cron.passed("* * * * *", "UTC", NOON - timedelta(days=400), NOON)
    assert found == [NOON - timedelta(minutes=back) for back in range(cron.MOST, -1, -1)]
    assert following == NOON + timedelta(minutes=1)
    found, following = cron.passed("* * 1 1 *", BERLIN, utc("2015-01-01 00:00"), NOON)
    assert (len(found), found[-1], following) == (101, utc("2026-01-01 22:59"), utc("2026-12-31 23:00"))


def one_by_one(expression, zone, first, now):
    """The times until now, all of them walked through, and the one after."""
    found, time = [], first
    while time is not None and time <= now:
        found.append(time)
        time = cron.following(expression, zone, time)
    return found[-cron.MOST - 1 :], time


EXPRESSIONS = [
    "*/7 * * * *",
    "30 2 * * *",
    "15,45 * * * *",
    "5 1-4 * * *",
    "*/20 2 * * *",
    "0 0 * * 1",
    "30 1,2,3 * * 0",
    "0 2 1 * *",
]
#: nights in which the clocks of the zones below change, and one in which none does
NIGHTS = [
    utc(f"2026-{night}")
    for night in ("03-29 01:00", "10-25 01:00", "11-01 06:00", "03-08 07:00", "04-04 15:00", "07-01 00:00")
]


@given(
    expression=strategies.sampled_from(EXPRESSIONS),
    zone=strategies.sampled_from(["UTC", BERLIN, "America/New_York", "Australia/Lord_Howe"]),
    night=strategies.sampled_from(NIGHTS),
    minutes=strategies.integers(-4000, 4000),
    back=strategies.integers(1, 20_000),
)
@settings(max_examples=60, deadline=None)
def test_what_was_missed_is_what_is_found_one_by_one(expression, zone, night, minutes, back):
    now = night + timedelta(minutes=minutes)
    first = cron.following(expression, zone, now - timedelta(minutes=back))
    assert cron.passed(expression, zone, first, now) == one_by_one(expression, zone, first, now)


class Clock:
    """Stands still until it is put on."""

    def __init__(self, text: str) -> None:
        self.now = utc(text)

    def __call__(self) -> datetime:
        return self.now


def wanted(**more) -> ScheduleRequest:
    run = {"workspaceId": "w1", "runs": [{"actor": "fetch", "input": "https://site.example/?rows=1"}]}
    return ScheduleRequest.model_validate({"name": "nightly", "cron": "0 3 * * *", "run": run, **more})


async def count(runs) -> int:
    return len((await runs.list()).runs)


def kept(runs, clock) -> Schedules:
    return Schedules(runs.store, runs._actors, runs._callbacks, clock=clock)


async def test_a_time_starts_one_run_though_two_processes_come(url, nodes):
    clock = Clock("2026-05-04 12:00")
    async with opened(url, nodes, engine=False) as one, opened(url, nodes, engine=False) as two:
        first, second = kept(one, clock), kept(two, clock)
        made = await first.add(wanted(), principal="ann")
        assert made.next_at.startswith("2026-05-05T03:00")
        assert await first.turn() == 0
        clock.now = utc("2026-05-05 03:00:02")
        assert sorted(await asyncio.gather(first.turn(), second.turn())) == [0, 1]
        assert await count(one) == 1
        told = await second.get(made.schedule_id)
        assert told.next_at.startswith("2026-05-06T03:00")
        [run] = await one.store.read(select(scrape_runs))
        assert (told.last_run_id, run.principal, run.workspace_id) == (run.run_id, "ann", "w1")


async def test_overlap_and_misfire_hold_over_restarts(url, nodes):
    clock = Clock("2026-05-04 12:00")
    async with opened(url, nodes, engine=False) as runs:
        made = await kept(runs, clock).add(wanted(cron="0 * * * *", overlap="queue", misfire="all"))
    clock.now = utc("2026-05-04 15:00:30")  # nobody was there at 13 and 14
    async with opened(url, nodes, engine=False) as runs:
        again = kept(runs, clock)
        assert await again.turn() == 1
        told = await again.get(made.schedule_id)
        assert [time[11:13] for time in told.waiting] == ["14", "15"]
        assert await again.turn() == 0  # the first goes on
        for left in (1, 0):
            ends = update(scrape_runs).values(state="succeeded")
            await runs.store.execute(ends)
            assert await again.turn() == 1
            assert len((await again.get(made.schedule_id)).waiting) == left
        assert await count(runs) == 3


async def test_after_months_of_rest_the_last_missed_time_is_made_up_for(sqlite_url, nodes):
    clock = Clock("2026-02-12 12:00:10")
    async with opened(sqlite_url, nodes, engine=False) as runs:
        made = await kept(runs, clock).add(wanted(cron="* * * * *", misfire="once", overlap="allow"))
        late = await kept(runs, clock).add(wanted(name="late", cron="0 * * * *", misfire="once", overlap="allow"))
        clock.now = utc("2026-05-04 15:30:40")
        assert await kept(runs, clock).turn() == 2
        told = [await runs.schedules.get(one.schedule_id) for one in (made, late)]
        assert [one.last_at[:16] for one in told] == ["2026-05-04T15:30", "2026-05-04T15:00"]
        assert [one.next_at[:16] for one in told] == ["2026-05-04T15:31", "2026-05-04T16:00"]


async def test_schedules_are_changed_switched_and_forgotten(sqlite_url, nodes):
    clock = Clock("2026-05-04 12:00")
    async with opened(sqlite_url, nodes, engine=False) as runs:
        all_ = kept(runs, clock)
        made = await all_.add(wanted())
        with pytest.raises(RunStateError, match="already"):
            await all_.add(wanted())
        changed = await all_.change(made.schedule_id, wanted(cron="0 5 * * *", timezone=BERLIN))
        assert changed.next_at.startswith("2026-05-05T03:00")
        assert (await all_.switch(made.schedule_id, on=False)).next_at is None
        clock.now = utc("2026-05-09 12:00")
        assert await all_.turn() == 0
        on = await all_.switch(made.schedule_id, on=True)
        assert on.next_at.startswith("2026-05-10T03:00")  # what was missed at rest is not made up for
        assert await all_.list(workspaces=["w2"]) == []
        for act in (all_.get, all_.drop):
            with pytest.raises(RunNotFoundError):
                await act(made.schedule_id, workspaces=["w2"])
        await all_.drop(made.schedule_id, workspaces=["w1"])
        assert await all_.list() == []


async def test_a_schedule_of_what_cannot_be_started_is_not_kept(sqlite_url, nodes):
    bad = {"workspaceId": "w1", "runs": [{"actor": "instagram", "input": {"usr": "x"}}]}
    private = {**wanted().run.model_dump(by_alias=True), "callbackWebhook": "http://10.0.0.1/"}
    async with opened(sqlite_url, nodes, engine=False) as runs:
        with pytest.raises(ArgumentError, match=r"runs\[0\]\.input\.usr"):
            await runs.schedules.add(wanted(run=bad))
        with pytest.raises(EgressDeniedError):
            await runs.schedules.add(wanted(run=private))
        assert await runs.schedules.list() == []


async def test_the_engine_starts_what_is_due(sqlite_url, nodes):
    from .conftest import until

    async with opened(sqlite_url, nodes) as runs:
        made = await runs.schedules.add(wanted(cron="* * * * *"))
        await runs.schedules._store.execute(_due(made.schedule_id))

        async def ended():
            told = await runs.schedules.get(made.schedule_id)
            return told.last_run_id and (await runs.get(told.last_run_id)).ended

        await until(ended)


def _due(schedule_id):
    from fetchworker.db.runtables import schedules
    from fetchworker.runs.store import now

    return update(schedules).where(schedules.c.schedule_id == schedule_id).values(next_at=now())
