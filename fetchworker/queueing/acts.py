"""What ``scrapy queue`` does, each giving the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import orjson
from redis.exceptions import NoPermissionError
from scrapy.spiderloader import get_spider_loader

from fetchworker.errors import ArgumentError
from fetchworker.frontier.report import read_report
from fetchworker.queueing import letters, status
from fetchworker.queueing.place import opened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from scrapy.settings import BaseSettings

    from fetchworker.frontier.keys import Namespace
    from fetchworker.frontier.report import Report
    from fetchworker.queueing.letters import Letter
    from fetchworker.queueing.place import Place

    Chosen = list[Letter] | AsyncIterator[Letter]

DONE, REFUSED = 0, 2
_DLQ = ("list", "retry", "drop")


async def show(
    settings: BaseSettings, sites: Sequence[str], crawl_id: str | None, *, verbose: bool, as_json: bool
) -> int:
    """Tell how queues stand: those of ``sites``, or of all."""
    async with opened(settings) as place:
        reports = await _of(place, sites, crawl_id) if sites else await _of_all(place, crawl_id)
    if as_json:
        _print_json(status.as_json(reports))
    elif reports:
        _print(status.as_text(reports, verbose=verbose))
    else:
        _print([f"nothing in the queue{'' if len(sites) == 1 else 's'} of {', '.join(sites) or 'any site'}"])
    return DONE


async def _of(place: Place, sites: Iterable[str], crawl_id: str | None) -> list[Report]:
    return [report for site in sites for report in await _reports(place, site, crawl_id)]


async def _of_all(place: Place, crawl_id: str | None) -> list[Report]:
    """Those of the sites that we may look at; the others are named."""
    found: list[Report] = []
    denied: list[str] = []
    for site in get_spider_loader(place.settings).list():
        try:
            found += await _reports(place, site, crawl_id)
        except NoPermissionError:
            denied.append(site)
    if denied:
        _complain(f"with the rights of our user of Redis may not be looked at: {', '.join(denied)}")
    return found


async def _reports(place: Place, site: str, crawl_id: str | None) -> list[Report]:
    names = [place.names(site, crawl_id)] if crawl_id else await place.namespaces(site)
    found = [await read_report(place.redis, each) for each in names]
    return [report for report in found if not report.nothing]


# ── dead letters ─────────────────────────────────────────────────────────────────────────────────────────────────────


def check_dlq(what: str, ids: Sequence[str], *, everything: bool, yes: bool) -> None:
    """See that dead letters are named.

    Raises:
        ArgumentError: saying what to write.
    """
    if what not in _DLQ:
        raise ArgumentError(f"dlq: one of {', '.join(_DLQ)} is expected, not {what!r:.40}")
    if ids and everything:
        raise ArgumentError(f"dlq {what}: ids or --all, not both")
    if what != "list" and not ids and not everything:
        raise ArgumentError(f"dlq {what}: write the ids (scrapy queue dlq list SITE shows them), or --all")
    if what == "drop" and everything and not yes:
        raise ArgumentError("dlq drop --all: they will be gone; add --yes")


async def dlq(
    settings: BaseSettings, what: str, site: str, ids: Sequence[str], crawl_id: str | None, *, as_json: bool
) -> int:
    """List dead letters, put them back or drop them; all where no ids are given."""
    async with opened(settings) as place:
        names = place.names(site, crawl_id)
        named = await letters.these(place.redis, names, ids)
        missing = [id_ for id_, letter in named.items() if letter is None]
        for id_ in missing:
            _complain(f"{names} has no dead letter {id_!r:.80}")
        chosen = [letter for letter in named.values() if letter] if ids else letters.letters(place.redis, names)
        if what == "list":
            if not isinstance(chosen, list) and as_json:
                chosen = letters.in_order(place.redis, names, chosen)
            await _list(names, chosen, as_json=as_json)
        else:
            await _move(place, names, what, chosen, as_json=as_json)
    return REFUSED if missing else DONE


async def _each(chosen: Chosen) -> AsyncIterator[Letter]:
    if isinstance(chosen, list):
        for letter in chosen:
            yield letter
    else:
        async for letter in chosen:
            yield letter


async def _list(names: Namespace, chosen: Chosen, *, as_json: bool) -> None:
    rows = []
    async for letter in _each(chosen):
        if as_json:
            _print_json(letters.as_json(letter))
        else:
            rows.append(letters.row(letter))
    if rows:
        _print(letters.as_text(rows))
    elif not as_json and not isinstance(chosen, list):
        _print([f"{names}: no dead letters"])


async def _move(place: Place, names: Namespace, what: str, chosen: Chosen, *, as_json: bool) -> None:
    frontier = place.frontier(names)
    wanted = [letter.id async for letter in _each(chosen)]
    count = await (frontier.revive(wanted) if what == "retry" else frontier.drop(wanted))
    done = "retried" if what == "retry" else "dropped"
    if as_json:
        _print_json({"site": names.spider, "crawl": names.id, done: count, "left": len(wanted) - count})
        return
    _print([f"{names}: {count} dead letters {'are in the queue again' if what == 'retry' else 'are gone'}"])
    if count < len(wanted):
        _print([f"{len(wanted) - count} cannot be read, or were gone already: dlq list shows what is left"])


# ── the end of a queue ───────────────────────────────────────────────────────────────────────────────────────────────


async def purge(
    settings: BaseSettings, site: str, crawl_id: str | None, *, yes: bool, force: bool, seeds: bool, as_json: bool
) -> int:
    """Drop a queue with its leases, seen-set and dead letters, and with its seeds when told so."""
    async with opened(settings) as place:
        names = place.names(site, crawl_id)
        report = await read_report(place.redis, names)
        if refused := _why_not(report, yes=yes, force=force, seeds=seeds):
            _complain(refused)
            return REFUSED
        await place.frontier(names).purge()
        if seeds:
            await place.redis.unlink(names.seeds)
    if as_json:
        _print_json({"site": site, "crawl": crawl_id, "purged": _goes(report, seeds=seeds)})
    else:
        _print([f"{names}: {_told(report, seeds=seeds)} gone", *_seeds_left(report, seeds=seeds)])
    return DONE


def _why_not(report: Report, *, yes: bool, force: bool, seeds: bool) -> str | None:
    """Why a queue is not purged."""
    if report.nothing:
        return None
    if not yes:
        return f"{report.names}: {_told(report, seeds=seeds)} would be gone; add --yes"
    if report.alive and not force:
        owners = ", ".join(worker.owner for worker in report.alive)
        return f"{report.names} is worked on by {owners}: stop them, or add --force"
    return None


def _goes(report: Report, *, seeds: bool) -> dict[str, int]:
    found = {"queued": report.queued, "leased": report.leased, "delayed": report.delayed, "dead": report.dead}
    return found | {"seen": report.seen} | ({"seeds": report.seeds or 0} if seeds else {})


def _told(report: Report, *, seeds: bool) -> str:
    words = {"queued": "requests", "leased": "on lease", "dead": "dead letters", "seen": "fingerprints"}
    counts = _goes(report, seeds=seeds)
    return ", ".join(f"{count} {words.get(name, name)}" for name, count in counts.items() if count) or "nothing"


def _seeds_left(report: Report, *, seeds: bool) -> Iterable[str]:
    if not seeds and report.seeds:
        yield f"{report.seeds} seeds stay in {report.names.seeds} (--seeds drops them as well)"


def _complain(text: str) -> None:
    print(f"scrapy queue: {text}", file=sys.stderr)  # noqa: T201  # a command's output


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)  # noqa: T201  # as above


def _print_json(value: dict[str, Any]) -> None:
    print(orjson.dumps(value).decode())  # noqa: T201  # as above
