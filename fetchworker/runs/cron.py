"""When a schedule is due, and what is to be done then (pure).

Times are those of a clock on the wall somewhere. A time that the wall clock skips in spring comes when it has skipped;
one that it shows twice in autumn comes the first time alone, unless the hour or the minute is ``*``: what comes every
half hour does so all through.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple
from zoneinfo import ZoneInfo

from croniter import croniter
from croniter.croniter import CroniterError

from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Overlap = Literal["skip", "queue", "allow"]
Misfire = Literal["skip", "once", "all"]
#: what stands in an expression, and what each may be
_FIELDS = {
    "minute": "0 to 59, or *, lists, ranges and steps of them",
    "hour": "0 to 23, or *, lists, ranges and steps of them",
    "day of month": "1 to 31, or *, lists, ranges and steps of them",
    "month": "1 to 12 or jan to dec, or *, lists, ranges and steps of them",
    "day of week": "0 to 7 or sun to sat, or *, lists, ranges and steps of them",
}
_RANDOM = re.compile(r"(?<![a-z])[rh](?![a-z])", re.IGNORECASE)
#: seconds that a start may come late and not be missed
LATE = 60.0
#: missed times that are made up for, the latest of them
MOST = 100
#: times by which it is gone back further than that: some are shown twice by the clock, and come once
_SPARE = 200


class Plan(NamedTuple):
    """What is to be done: times to start a run for now, and times that wait for the run before them."""

    starts: list[datetime]
    waiting: list[datetime]


def check(cron: str, timezone: str) -> None:
    """Refuse what never comes.

    Raises:
        ArgumentError: naming the field.
    """
    try:
        ZoneInfo(timezone)
    except (OSError, ValueError, LookupError):
        raise ArgumentError(f"timezone: {timezone!r} is none, such as Europe/Berlin", fields=["timezone"]) from None
    parts = cron.split()
    if len(parts) != len(_FIELDS):
        told = f"cron: {cron!r} is not five fields: {', '.join(_FIELDS)}"
        raise ArgumentError(told, fields=["cron"])
    for place, (part, (name, may)) in enumerate(zip(parts, _FIELDS.items(), strict=True)):
        alone = ["*"] * len(_FIELDS)
        alone[place] = part
        # R and H are croniter's: a time that nobody has said
        if _RANDOM.search(part) or not croniter.is_valid(" ".join(alone)):
            raise ArgumentError(f"cron: {part!r} is no {name}: {may}", fields=["cron"])
    if not croniter.is_valid(cron):
        raise ArgumentError(f"cron: {cron!r} cannot be read", fields=["cron"])
    if following(cron, timezone, datetime.now(UTC)) is None:
        raise ArgumentError(f"cron: {cron!r} never comes", fields=["cron"])


def following(cron: str, timezone: str, after: datetime) -> datetime | None:
    """The first time after another one, in UTC; None when there is none."""
    zone = ZoneInfo(timezone)
    times = croniter(cron, after.astimezone(zone))
    minute, hour = cron.split()[:2]
    fixed = "*" not in minute + hour
    try:
        found: datetime = times.get_next(datetime).astimezone(UTC)
        while fixed and found.astimezone(zone).fold:
            found = times.get_next(datetime).astimezone(UTC)
    except CroniterError:
        return None
    return found


def passed(cron: str, timezone: str, first: datetime, now: datetime) -> tuple[list[datetime], datetime | None]:
    """The times from ``first`` until now, the latest :data:`MOST` and one of them, and the one after now."""
    found: list[datetime] = []
    time = _long_before(cron, timezone, first, now)
    while time is not None and time <= now:
        found.append(time)
        time = following(cron, timezone, time)
    return found[-MOST - 1 :], time


def _long_before(cron: str, timezone: str, first: datetime, now: datetime) -> datetime | None:
    """The time to begin at, with enough of them between it and now: ``first``, where there are not."""
    times = croniter(cron, now.astimezone(ZoneInfo(timezone)))
    time = now
    try:
        for _ in range(MOST + _SPARE):
            time = times.get_prev(datetime).astimezone(UTC)
            if time <= first:
                return first
    except CroniterError:
        return first
    return following(cron, timezone, time)


def plan(
    times: Sequence[datetime], waiting: Sequence[datetime], now: datetime, *,
    overlap: Overlap, misfire: Misfire, running: bool,
) -> Plan:  # fmt: skip
    """What is to be done now.

    Args:
        times: that have come since the last look.
        waiting: that wait for the run before them.
        now: the time.
        overlap: what becomes of a time that comes while the run before it goes on.
        misfire: what becomes of times that nobody was there for.
        running: whether the run before goes on.
    """
    late = [time for time in times if (now - time).total_seconds() > LATE]
    fresh = list(times[len(late) :])
    made_up: Mapping[str, list[datetime]] = {"all": [*late, *fresh][-MOST:], "once": fresh or late[-1:], "skip": fresh}
    due = made_up[misfire]
    if overlap == "allow":
        return Plan([*waiting, *due], [])
    if overlap == "skip":
        return Plan([] if running else [*waiting, *due][-1:], [])
    queue = [*waiting, *due]
    return Plan([], queue[-MOST:]) if running else Plan(queue[:1], queue[1:][-MOST:])
