"""Checks that a crawl's needs are met; each says what it found or what to do."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from fetchworker.errors import FetchworkerError
from fetchworker.runtime import connect, database, load_configuration, proxy_manager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.sites import Sites

#: free space (bytes) below which a crawl is likely to end with a full disk
_LITTLE_SPACE = 200 * 1024 * 1024
#: seconds to wait for Redis
_REDIS_LIMIT = 3.0
#: what is known to work together: package → the versions tested
_TESTED = {"Scrapy": "2.19.", "curl_cffi": "0.17."}


@dataclass(frozen=True, slots=True)
class Check:
    """One check's answer."""

    name: str
    good: bool
    told: str


def run_checks(settings: BaseSettings) -> Iterator[Check]:
    """All checks, the cheap ones first; without a readable configuration the rest is left out."""
    yield _python()
    yield from (_package(name, tested) for name, tested in _TESTED.items())
    yield _impersonation()
    try:
        environment, sites = load_configuration(settings)
    except FetchworkerError as exc:
        yield Check("configuration", good=False, told=exc.message)
        return
    yield Check("configuration", good=True, told=f"{sites.path}: {', '.join(sites)}")
    yield _guarded("state folder", lambda: _state_folder(environment.state_dir))
    yield _guarded("proxies", lambda: _proxies(environment, sites))
    yield _guarded("redis", lambda: asyncio.run(_redis(environment)))
    if environment.stores:
        yield _guarded("database", lambda: asyncio.run(_database(environment)))


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    try:
        return check()
    except (FetchworkerError, OSError) as exc:
        return Check(name, good=False, told=str(exc))


def _python() -> Check:
    found = sys.version_info[:2]
    good = (3, 11) <= found < (3, 14)
    return Check("python", good, f"{found[0]}.{found[1]}" + ("" if good else ": 3.11, 3.12 or 3.13 is needed"))


def _package(name: str, tested: str) -> Check:
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(name, good=False, told=f"not installed: pip install {name}")
    good = found.startswith(tested)
    return Check(
        name, good, found + ("" if good else f": tested with {tested}x; pip install -c constraints.txt {name}")
    )


def _impersonation() -> Check:
    from fetchworker.download.profiles import get_profile, profile_names  # noqa: PLC0415  # reads a file

    newest = get_profile("chrome")
    return Check(
        "impersonation", good=True, told=f"chrome is {newest.name}; profiles: {', '.join(sorted(profile_names()))}"
    )


def _state_folder(folder: Path) -> Check:
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / f".doctor-{os.getpid()}"
    probe.write_bytes(b"x")
    probe.unlink()
    free = shutil.disk_usage(folder).free
    told = f"{folder} is writable, {free // 1024 // 1024} MiB free"
    return Check("state folder", free > _LITTLE_SPACE, told + ("" if free > _LITTLE_SPACE else ": make room"))


def _proxies(environment: Environment, sites: Sites) -> Check:
    manager = proxy_manager(environment)
    needing = [name for name, config in sites.items() if config.proxy == "required"]
    if not len(manager) and needing:
        return Check("proxies", good=False, told=f"none, but {', '.join(needing)} require one: set FETCHWORKER_PROXIES")
    return Check(
        "proxies", good=True, told=f"{len(manager)} configured" if len(manager) else "none: requests go out directly"
    )


async def _redis(environment: Environment) -> Check:
    redis = await connect(environment, limit=_REDIS_LIMIT)
    try:
        info = await redis.info("server")
    finally:
        await redis.aclose()
    where = "configured" if environment.redis_url else "embedded, started by us"
    return Check("redis", good=True, told=f"{info['redis_version']} answers ({where})")


async def _database(environment: Environment) -> Check:
    from fetchworker.db.store import ItemStore  # noqa: PLC0415  # SQLAlchemy is heavy

    place = database(environment)
    await (await ItemStore.open(place, patience=0)).close()
    return Check("database", good=True, told=f"{place.label} answers, its tables are up to date")
