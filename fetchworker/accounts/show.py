"""``scrapy usage``: what was used."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
from scrapy.spiderloader import get_spider_loader

from fetchworker.queueing.place import check_sites, opened
from fetchworker.usage._redis import read_days
from fetchworker.usage.report import as_json, as_text, days_of, grouped, parts_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from scrapy.settings import BaseSettings

    from fetchworker.usage import Key, Used

DONE = 0


def today() -> date:
    """Usage is kept by days of UTC."""
    return datetime.now(UTC).date()


async def show(
    settings: BaseSettings,
    sites: Sequence[str],
    *,
    day: str | None,
    since: str | None,
    until: str | None,
    by: str,
    json: bool,
) -> int:
    """Print what ``sites``, or all of them, have used.

    Raises:
        ArgumentError: it cannot be asked so.
        ConfigError: the environment or sites.yaml is wrong.
        RedisUnavailableError: there is no Redis.
    """
    days, parts = days_of(day, since, until, today=today()), parts_of(by)
    rows = grouped(await used_by(settings, sites, days), parts)
    if json:
        write([orjson.dumps(as_json(rows, parts, days)).decode()])
    elif rows:
        write(as_text(rows, parts))
    else:
        write([f"no usage of {', '.join(sites) or 'any site'} on {told(days)}"])
    return DONE


async def used_by(settings: BaseSettings, sites: Sequence[str], days: Sequence[str]) -> dict[tuple[str, Key], Used]:
    """What sites, or all of the project that we may look at, have used on these days."""
    check_sites(settings, sites)
    found: dict[tuple[str, Key], Used] = {}
    denied = []
    async with opened(settings) as place:
        for site in sites or get_spider_loader(settings).list():
            used = await read_days(place.redis, site, days)
            if used is None:
                denied.append(site)
            else:
                found |= used
    if denied:
        print(f"scrapy usage: our user of Redis may not look at {', '.join(denied)}", file=sys.stderr)  # noqa: T201
    return found


def told(days: Sequence[str]) -> str:
    """The days in words."""
    return days[0] if len(days) == 1 else f"the days from {days[0]} to {days[-1]}"


def write(lines: Sequence[str]) -> None:
    """Print lines; a pipe that was closed is the command's to notice."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
