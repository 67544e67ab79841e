"""Waiting for a Redis that is away, and telling one that will never do."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from redis.asyncio.cluster import RedisCluster
from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import AuthenticationError, ClusterDownError, NoPermissionError, RedisError, ResponseError

from fetchworker.errors import RedisUnavailableError
from fetchworker.redis.clients import connect
from fetchworker.redis.endpoint import server
from fetchworker.redis.masters import AsyncMasterPool, no_master
from fetchworker.redis.sharing import shared
from fetchworker.redis.urls import credentials

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.redis.clients import Client
    from fetchworker.redis.endpoint import RedisEndpoint

#: oldest Redis that our scripts are written for
MIN_VERSION = (6, 2)

_WAY_OUT = "start it, or correct REDIS_URL"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between looks for a Redis that is away
_NO_CLUSTER = "cluster support disabled"
#: redis_mode of a server that a URL of one server is wrong for → what to write
_OTHER_MODES = {
    "cluster": "a node of a cluster: write redis+cluster://",
    "sentinel": "a sentinel: write redis+sentinel://",
}


class _OfNoUseError(Exception):
    """It answers, and no wait will make it do."""


async def wait_for_redis(endpoint: RedisEndpoint, *, limit: float = 30.0) -> None:
    """Return once Redis answers; a server of our own that has died is started again.

    Looks through the client that is shared for this endpoint, if there is one.

    Args:
        endpoint: from :func:`resolve_redis_url`.
        limit: seconds to try, with growing pauses; at least one try is made.

    Raises:
        RedisUnavailableError: it did not answer in that time; or at once: it refuses our credentials, denies what is
            needed, is too old, is no cluster, or its sentinels do not know the service.
    """
    deadline, pause = time.monotonic() + limit, _FIRST_PAUSE
    while True:
        reason = await _try(endpoint, max(1.0, deadline - time.monotonic()))
        left = deadline - time.monotonic()
        if reason is None:
            return
        if left <= 0:
            raise RedisUnavailableError(f"no Redis at {endpoint.label} within {limit:g} s: {reason}; {_WAY_OUT}")
        await asyncio.sleep(min(pause, left))
        pause = min(_LONGEST_PAUSE, pause * 2)


async def _try(endpoint: RedisEndpoint, seconds: float) -> str | None:
    """One look: None if Redis answers, else why not, where a later look may find it."""
    if endpoint.kind == "embedded":
        await asyncio.to_thread(server().ensure_running, endpoint.state_dir)
    try:
        async with _looking(endpoint) as client, asyncio.timeout(seconds):
            await _look(client)
    except (RedisError, OSError) as error:  # TimeoutError is an OSError
        return _without_credentials(str(error) or "no answer", endpoint)
    except _OfNoUseError as error:
        fault = _without_credentials(str(error), endpoint)
    else:
        return None
    raise RedisUnavailableError(f"Redis at {endpoint.label} is of no use: {fault}; {_WAY_OUT}")


@asynccontextmanager
async def _looking(endpoint: RedisEndpoint) -> AsyncIterator[Client]:
    if client := shared(endpoint):
        yield client
        return
    client = connect(endpoint, retries=0)
    try:
        yield client
    finally:
        await client.aclose()


async def _look(client: Client) -> None:
    try:
        await client.ping()
    except MasterNotFoundError as error:
        pool = client.connection_pool  # type: ignore[union-attr]  # a cluster has no sentinels
        assert isinstance(pool, AsyncMasterPool)
        told, final = await no_master(pool)
        raise (_OfNoUseError if final else RedisError)(told) from error
    except (RedisError, OSError) as error:
        if fault := _refusal(error):
            raise _OfNoUseError(fault) from error
        raise
    if isinstance(client, RedisCluster):
        await _look_at_cluster(client)
    if fault := _fault(await _info(client, "server"), client):
        raise _OfNoUseError(fault)


def _refusal(error: BaseException) -> str | None:
    """Why a look will never succeed: redis-py puts other errors around the one that tells."""
    link: BaseException | None = error
    while link is not None:
        if isinstance(link, AuthenticationError):
            return "it refuses our user name or password"
        if isinstance(link, NoPermissionError):
            return f"our user lacks a right ({link})"
        if _NO_CLUSTER in str(link):
            return "it is no cluster: write redis:// for a server by itself"
        link = link.__cause__ or link.__context__
    return None


async def _look_at_cluster(client: RedisCluster) -> None:
    try:
        state = await client.cluster_info(target_nodes=client.get_default_node())
    except ResponseError:
        return  # we may not ask
    if state.get("cluster_state") != "ok":
        covered = state.get("cluster_slots_ok", "?")
        raise ClusterDownError(f"the cluster is down, {covered} of 16384 slots are served")


async def _info(client: Client, section: str) -> dict[str, Any]:
    """What it tells of itself; nothing if we may not ask."""
    try:
        told = await client.info(section)
    except ResponseError:
        return {}
    return dict(told)


def _fault(info: dict[str, Any], client: Client) -> str | None:
    mode = str(info.get("redis_mode", ""))
    if mode in _OTHER_MODES and not isinstance(client, RedisCluster):
        return f"it is {_OTHER_MODES[mode]}"
    version = str(info.get("redis_version", ""))  # some services do not tell
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    wanted = ".".join(map(str, MIN_VERSION))
    return f"it is {version}, {wanted} is needed" if version and numbers < MIN_VERSION else None


def _without_credentials(text: str, endpoint: RedisEndpoint) -> str:
    for secret in credentials(endpoint.url.get_secret_value()):
        text = text.replace(secret, "***")
    return text
