"""Usage as people and programs ask for it: days, grouped by parts of the key (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from fetchworker.config.sizes import show_size
from fetchworker.errors import ArgumentError
from fetchworker.usage.ledger import Key, Used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: what usage can be grouped by
PARTS = ("day", *Key._fields)
#: days that can be asked for at once
MOST_DAYS = 400
_HEADS = ("up", "down", "total", "transfers")


@dataclass(frozen=True, slots=True)
class Row:
    """What one group has used."""

    group: tuple[str, ...]
    used: Used


def days_of(day: str | None, since: str | None, until: str | None, *, today: date) -> list[str]:
    """The days that are asked for, in order; today unless told.

    Raises:
        ArgumentError: there are none, too many, or one is no day.
    """
    if day is not None and (since is not None or until is not None):
        raise ArgumentError("--day stands alone; for several days write --since and --until")
    if day is not None:
        return [str(_day(day, "--day"))]
    last = today if until is None else _day(until, "--until")
    first = last if since is None else _day(since, "--since")
    if first > last:
        raise ArgumentError(f"--since {first} is after {'today' if until is None else '--until'}, {last}")
    count = (last - first).days + 1
    if count > MOST_DAYS:
        raise ArgumentError(f"{count} days are asked for, {MOST_DAYS} at most")
    return [str(first + timedelta(number)) for number in range(count)]


def _day(text: str, option: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentError(f"{option} {text}: write a day as 2026-11-30 (UTC)") from None


def parts_of(text: str) -> tuple[str, ...]:
    """The parts that usage is to be grouped by.

    Raises:
        ArgumentError: one is unknown or named twice.
    """
    parts = tuple(part.strip() for part in text.split(","))
    for part in parts:
        if part not in PARTS:
            raise ArgumentError(f"--by {text}: {part!r} is unknown; write some of {', '.join(PARTS)}")
    if len(set(parts)) < len(parts):
        raise ArgumentError(f"--by {text}: a part is named twice")
    return parts


def grouped(used: Mapping[tuple[str, Key], Used], by: Sequence[str]) -> list[Row]:
    """What each group has used, the greatest first; days in their order."""
    groups: dict[tuple[str, ...], Used] = {}
    for (day, key), each in used.items():
        group = tuple(day if part == "day" else getattr(key, part) for part in by)
        groups.setdefault(group, Used()).add(each.up, each.down, each.transfers)
    day_at = by.index("day") if "day" in by else None
    rows = [Row(group, each) for group, each in groups.items()]
    return sorted(rows, key=lambda row: ("" if day_at is None else row.group[day_at], -row.used.total, row.group))


def total(rows: Sequence[Row]) -> Used:
    """All groups together."""
    found = Used()
    for row in rows:
        found.add(row.used.up, row.used.down, row.used.transfers)
    return found


def as_json(rows: Sequence[Row], by: Sequence[str], days: Sequence[str]) -> dict[str, Any]:
    """Whole numbers of bytes."""
    return {
        "since": days[0],
        "until": days[-1],
        "by": list(by),
        "rows": [{**dict(zip(by, row.group, strict=True)), **_numbers(row.used)} for row in rows],
        "total": _numbers(total(rows)),
    }


def _numbers(used: Used) -> dict[str, int]:
    return {"bytes_up": used.up, "bytes_down": used.down, "transfers": used.transfers}


def as_text(rows: Sequence[Row], by: Sequence[str]) -> list[str]:
    """A table with the sizes in units."""
    lines = [(*by, *_HEADS), *((*row.group, *_shown(row.used)) for row in rows)]
    if len(rows) > 1:
        lines.append(("total", *("" for _ in by[1:]), *_shown(total(rows))))
    return table(lines, len(by))


def table(lines: Sequence[Sequence[str]], words: int) -> list[str]:
    """Columns of a width; the first ``words`` of them begin at the left, the others end at the right."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return ["  ".join(_cell(text, at, widths[at], words) for at, text in enumerate(line)).rstrip() for line in lines]


def _cell(text: str, at: int, width: int, words: int) -> str:
    return text.ljust(width) if at < words else text.rjust(width)


def _shown(used: Used) -> tuple[str, str, str, str]:
    return show_size(used.up), show_size(used.down), show_size(used.total), str(used.transfers)
