"""Where a crawl keeps things: the state folder, Redis, the database."""

from __future__ import annotations

import os
import shutil
import time
from typing import TYPE_CHECKING, Any

from redis.exceptions import RedisError

from fetchworker.doctor.check import Check
from fetchworker.errors import RedisUnavailableError, SessionError
from fetchworker.runtime import connect, database, disconnect
from fetchworker.sessions import RedisSessionStore, Session

if TYPE_CHECKING:
    from pathlib import Path

    from fetchworker.config import Environment
    from fetchworker.redis import Client

#: free space (bytes) below which a crawl is likely to end with a full disk
LITTLE_SPACE = 200 * 1024 * 1024
#: seconds to wait for Redis
REDIS_LIMIT = 3.0
#: seconds: what a doctor that was killed has stored goes by itself
_PROBE_LIFE = 10
_SITE = "doctor"
_SAFE_POLICY = "noeviction"


def state_folder(folder: Path) -> Check:
    """Whether files can be made there, and whether there is room for them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".doctor-{os.getpid()}"
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as exc:
        todo = "make it writable, or name another folder in FETCHWORKER_STATE_DIR"
        return Check("state folder", good=False, told=f"{folder} cannot be written ({exc.strerror}): {todo}")
    free = shutil.disk_usage(folder).free
    told = f"{folder} is writable, {free // 1024 // 1024} MiB free"
    good = free > LITTLE_SPACE
    return Check("state folder", good, told + ("" if good else f": make room, {LITTLE_SPACE // 1024 // 1024} or more"))


async def redis(environment: Environment) -> Check:
    """Whether Redis answers, takes a session, and keeps what it has."""
    client = await connect(environment, limit=REDIS_LIMIT)
    try:
        return await _look_at(client, "configured" if environment.redis_url else "embedded, started by us")
    finally:
        await disconnect(client)


async def _look_at(client: Client, where: str) -> Check:
    try:
        await _store_a_session(client)
    except (RedisUnavailableError, SessionError) as exc:
        told = f"{exc}: it may be a replica, full, or closed to this user; correct it, or REDIS_URL"
        return Check("redis", good=False, told=told)
    info = await _info(client)
    told = f"{info.get('redis_version', 'a version that it does not tell')} answers ({where})"
    policy = info.get("maxmemory_policy", _SAFE_POLICY)
    if policy == _SAFE_POLICY or not int(info.get("maxmemory", 0)):
        return Check("redis", good=True, told=told)
    lost = "sessions" if policy.startswith("volatile") else "requests and sessions"
    todo = f"when it is full it forgets {lost} ({policy}): set maxmemory-policy noeviction"
    return Check("redis", good=False, told=f"{told}, and {todo}")


async def _store_a_session(client: Client) -> None:
    """What crawls do: under the same keys, with the same commands."""
    store = RedisSessionStore(client, ttl=_PROBE_LIFE)
    name = f"doctor-{os.getpid()}"
    await store.save(Session.fresh(name, site=_SITE, profile="chrome", proxy_id=None, now=time.time(), stored=True))
    await store.load(_SITE, name)
    await store.delete(_SITE, name)


async def _info(client: Client) -> dict[str, Any]:
    """What it tells of itself; nothing where this user may not ask."""
    try:
        return {**await client.info("server"), **await client.info("memory")}
    except RedisError:
        return {}


async def items(environment: Environment) -> Check:
    from fetchworker.db.store import ItemStore  # noqa: PLC0415  # SQLAlchemy is heavy

    place = database(environment)
    await (await ItemStore.open(place, patience=0)).close()
    return Check("database", good=True, told=f"{place.label} answers, its tables are up to date")
