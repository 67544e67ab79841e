"""What ``scrapy sessions`` does without fetching anything; each act gives the exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ArgumentError, SessionError
from fetchworker.pooling import facts
from fetchworker.pooling.facts import plain
from fetchworker.pooling.place import opened
from fetchworker.sessions.keys import check_session_id, is_session_id
from fetchworker.sessions.pool import Lease
from fetchworker.sessions.poolkeys import jar_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy.settings import BaseSettings

    from fetchworker.pooling.place import Home

DONE, REFUSED = 0, 2


async def show_all(settings: BaseSettings, sites: Sequence[str], *, as_json: bool) -> int:
    """List the sessions of sites."""
    async with opened(settings, list(sites)) as place:
        found = [one for site in sites for one in await _all_of(place.home(site))]
    if as_json:
        _print(orjson.dumps(one).decode() for one in found)
    elif found:
        _print(facts.lines(found))
    else:
        _print([f"no sessions of {', '.join(sites)}"])
    return DONE


async def _all_of(home: Home) -> list[dict[str, Any]]:
    pooled = [facts.listed(home.site, one) for one in await home.pool.standings()]
    own = sorted([name async for name in home.store.ids(home.site) if jar_of(name) is None])
    locks = await home.pool.locks(own)
    return pooled + [told for name in own if (told := await _named(home, name, locks.get(name))) is not None]


async def _named(home: Home, name: str, lock: tuple[str, float] | None) -> dict[str, Any] | None:
    try:
        session = await home.store.load(home.site, name)
    except SessionError as exc:
        _complain(exc.message)
        return None
    return None if session is None else facts.named(home.site, session, lock)


async def show(settings: BaseSettings, site: str, names: Sequence[str], *, as_json: bool) -> int:
    """Show sessions in full, but for what is secret."""
    async with opened(settings, [site]) as place:
        home = place.home(site)
        standings = {one.id: one for one in await home.pool.standings()}
        locks = await home.pool.locks(list(map(check_session_id, names)))
        missing = []
        for name in map(check_session_id, names):
            session = await home.store.load(site, name)
            if session is None and name not in standings:
                missing.append(name)
                continue
            one = facts.listed(site, standings[name]) if name in standings else {}
            if session is not None:
                one = (one or facts.named(site, session, locks.get(name))) | facts.shown(session)
            _print([orjson.dumps(one).decode()] if as_json else facts.told(one))
    return _missing(site, missing)


async def drop(
    settings: BaseSettings, site: str, names: Sequence[str], *, every: bool, yes: bool, as_json: bool
) -> int:
    """Forget sessions: these, or all of the pool."""
    if bool(names) == every:
        raise ArgumentError("write scrapy sessions drop SITE ID …, or --all for all sessions of the pool")
    if every and not yes:
        raise ArgumentError("--all drops all sessions of the pool, those in use too: add --yes to do it")
    async with opened(settings, [site]) as place:
        home = place.home(site)
        chosen = [one.id for one in await home.pool.standings()] if every else list(map(check_session_id, names))
        missing = [name for name in chosen if not await _dropped(home, name)]
    _report(site, "dropped", [name for name in chosen if name not in missing], as_json=as_json)
    return _missing(site, missing)


async def _dropped(home: Home, name: str) -> bool:
    counted, _ = await home.pool.quarantine(Lease(name, 0), "dropped by hand", seconds=0)
    if not is_session_id(name):  # something in the pool that is called as no session may be
        return counted
    return await home.store.delete(home.site, name) or counted


def _report(site: str, what: str, names: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        _print([orjson.dumps({"site": site, what: list(map(plain, names))}).decode()])
    else:
        _print([f"{site}: {len(names)} {what}"])


def _missing(site: str, names: Sequence[str]) -> int:
    for name in names:
        _complain(f"{site} has no session {plain(name)}")
    return REFUSED if names else DONE


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")


def _complain(what: str) -> None:
    sys.stderr.write(f"scrapy sessions: {what}\n")
