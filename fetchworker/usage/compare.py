"""Ours beside what was billed, and what could explain the difference (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.config.sizes import show_size
from fetchworker.usage.report import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.usage import Key, Used

#: percent of what was billed up to which both are said to agree
AGREES = 2.0
_HEADS = ("day", "tier", "ours", "billed", "difference")


@dataclass(frozen=True, slots=True)
class Line:
    """A day and a tier: bytes that we counted and bytes that were billed, both ways."""

    day: str
    tier: str
    ours: int
    billed: int

    @property
    def percent(self) -> float | None:
        """How much more (or less) was billed than counted, in percent of ours; None where we counted nothing."""
        return (self.billed - self.ours) / self.ours * 100 if self.ours else None


def lines_of(used: Mapping[tuple[str, Key], Used], billed: Mapping[tuple[str, str], int], provider: str) -> list[Line]:
    """Day by day and tier by tier, those of which either side knows something."""
    ours: dict[tuple[str, str], int] = {}
    for (day, key), each in used.items():
        if key.provider == provider:
            ours[day, key.tier] = ours.get((day, key.tier), 0) + each.total
    places = sorted({*ours, *(place for place, size in billed.items() if size)})
    return [Line(*place, ours.get(place, 0), billed.get(place, 0)) for place in places]


def sum_of(lines: Sequence[Line]) -> Line:
    """All lines together."""
    return Line("total", "", sum(line.ours for line in lines), sum(line.billed for line in lines))


def reasons(lines: Sequence[Line], notes: Sequence[str], *, today: str, tiers: Sequence[str]) -> list[str]:
    """What could explain the difference, a sentence each; nothing where both agree."""
    all_ = sum_of(lines)
    percent = all_.percent
    if percent is not None and abs(percent) <= AGREES:
        return []
    told = []
    if any(line.day == today for line in lines):
        told.append("today is not over, and a provider's figures come late")
    unknown = sorted({line.tier for line in lines} - set(tiers))
    if unknown:
        told.append(f"it tells no figures of tier {', '.join(unknown)}: name the tier in the proxy list")
    if all_.billed > all_.ours:
        told += [
            "other programs, or people, use the same account",
            "another fetchworker keeps its usage in another Redis, or in none",
            "a worker that is killed loses the last seconds of its usage",
            "packets' own headers and what was sent again are billed, and not counted here",
        ]
    else:
        told += [
            "failed tries, and talk with the proxy itself, may be free there, and are counted here",
            "proxies of another account are listed under the same provider",
        ]
    return [*told, "a day there may begin at another hour than 00:00 UTC", *notes]


def as_text(lines: Sequence[Line], why: Sequence[str]) -> list[str]:
    """A table with the sizes in units, and the reasons."""
    shown = table([_HEADS, *(_shown(line) for line in (*lines, sum_of(lines)))], words=2)
    return [*shown, *(["", "what could explain it:", *(f"- {each}" for each in why)] if why else [])]


def _shown(line: Line) -> tuple[str, ...]:
    percent = "-" if line.percent is None else f"{line.percent:+.1f} %"
    return line.day, line.tier, show_size(line.ours), show_size(line.billed), percent


def as_json(provider: str, lines: Sequence[Line], why: Sequence[str]) -> dict[str, Any]:
    """Whole numbers of bytes."""
    return {
        "provider": provider,
        "rows": [{"day": line.day, "tier": line.tier, **_numbers(line)} for line in lines],
        "total": _numbers(sum_of(lines)),
        "reasons": list(why),
    }


def _numbers(line: Line) -> dict[str, Any]:
    percent = None if line.percent is None else round(line.percent, 2)
    return {"bytes": line.ours, "billed_bytes": line.billed, "difference_percent": percent}
