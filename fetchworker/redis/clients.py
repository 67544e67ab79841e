"""Clients of one server, of a sentinels' master and of a cluster, with few connections and bytes for replies."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import redis
import redis.asyncio
from redis.asyncio.cluster import ClusterNode as AsyncClusterNode
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.asyncio.connection import Connection
from redis.asyncio.connection import SSLConnection as AsyncSSLConnection
from redis.asyncio.connection import parse_url as parse_async
from redis.asyncio.retry import Retry as AsyncRetry
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.cluster import ClusterNode
from redis.connection import SSLConnection
from redis.connection import parse_url as parse_sync
from redis.exceptions import RedisClusterException, RedisError
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry
from redis.sentinel import Sentinel

from fetchworker.redis.cluster import PatientCluster
from fetchworker.redis.fair import FairPool
from fetchworker.redis.masters import AsyncMasterPool, MasterPool
from fetchworker.redis.packing import PACKED
from fetchworker.redis.urls import ENCODE, Target, UrlFaultError, read_url

if TYPE_CHECKING:
    from fetchworker.redis.endpoint import RedisEndpoint

#: what talks to Redis, whichever kind it is; a cluster takes commands and scripts whose keys share a hash tag
Client: TypeAlias = redis.asyncio.Redis | AsyncRedisCluster
SyncClient: TypeAlias = redis.Redis | redis.RedisCluster

#: connections of a client to one server at most
MAX_CONNECTIONS = 2
#: seconds until a connection stands; that a command may take; that it may wait for a free connection
CONNECT_TIMEOUT, COMMAND_TIMEOUT, POOL_TIMEOUT = 5.0, 15.0, 15.0
#: the same of sentinels, of which the next one is asked when one is silent
_SENTINEL_CONNECT, _SENTINEL_COMMAND = 1.0, 2.0
#: further tries of a command whose connection broke
RETRIES = 3
#: seconds that a connection may lie idle before it is tested
HEALTH_CHECK_INTERVAL = 30

_BACKOFF = ExponentialBackoff(base=0.05, cap=1.0)  # seconds
#: not for a URL's query to change, as our code relies on them; RESP2 answers alike in every version of the library.
#: No driver_info: CLIENT SETINFO, which an ACL may deny, is not sent
_FIXED: dict[str, Any] = {
    "decode_responses": False,
    "protocol": 2,
    "driver_info": None,
    "maint_notifications_config": MaintNotificationsConfig(enabled=False),
}


def connect(endpoint: RedisEndpoint, *, retries: int = RETRIES) -> Client:
    """A client that owns its connections: ``await client.aclose()`` ends them. Makes no connection yet.

    Of sentinels it talks to the master, and to the new one after a failover. Replies are bytes. A command whose
    connection broke is sent again, so it may have run twice. A blocking command must wait for less than
    :data:`COMMAND_TIMEOUT`. Most code wants :func:`~fetchworker.redis.share`.
    """
    return _client(read_url(endpoint.url.get_secret_value()), retries)


def connect_sync(endpoint: RedisEndpoint, *, retries: int = RETRIES) -> SyncClient:
    """As :func:`connect`, for code that may block; ``client.close()`` ends it. Of a cluster it connects at once."""
    target = read_url(endpoint.url.get_secret_value())
    retry = Retry(_BACKOFF, retries)
    options = _options(parse_sync(target.url))
    if target.kind == "cluster":
        return _sync_cluster(target, options, retry)
    if target.kind == "single":
        return redis.Redis.from_pool(redis.BlockingConnectionPool(**_pooled(options), retry=retry))
    theirs = _sentinel_options(parse_sync(target.sentinel_url), SSLConnection, Retry(NoBackoff(), 0))
    sentinel = Sentinel(target.hosts, sentinel_kwargs=theirs)
    pool = MasterPool(target.service, sentinel, **_pooled(_tls(options, SSLConnection)), retry=retry)
    return redis.Redis.from_pool(pool)


def check(target: Target) -> None:
    """See whether the options are such that clients can be made.

    Raises:
        ConfigError: they are not; tells none of them.
    """
    fits = False
    with suppress(ValueError, TypeError, RedisError, RedisClusterException):
        client = _client(target, 0)
        if isinstance(client, redis.asyncio.Redis):
            client.connection_pool.make_connection()
        fits = True
    if not fits:
        raise UrlFaultError(f"it cannot be read; {ENCODE}, and check the options after ?")


def _client(target: Target, retries: int) -> Client:
    retry = AsyncRetry(_BACKOFF, retries)
    options = _options(dict(parse_async(target.url)))
    if target.kind == "cluster":
        options = _tls(options, AsyncSSLConnection)
        nodes = [AsyncClusterNode(host, port) for host, port in target.hosts]
        return PatientCluster(startup_nodes=nodes, **_without_place(options), retry=retry)
    if target.kind == "single":
        options["connection_class"] = PACKED[options.get("connection_class", Connection)]
        return redis.asyncio.Redis.from_pool(FairPool(**_pooled(options), retry=retry))
    theirs = _sentinel_options(dict(parse_async(target.sentinel_url)), AsyncSSLConnection, AsyncRetry(NoBackoff(), 0))
    sentinel = AsyncSentinel(target.hosts, sentinel_kwargs=theirs)
    pool = AsyncMasterPool(target.service, sentinel, **_pooled(_tls(options, AsyncSSLConnection)), retry=retry)
    return redis.asyncio.Redis.from_pool(pool)


def _sync_cluster(target: Target, options: dict[str, Any], retry: Retry) -> redis.RedisCluster:
    options = _tls(options, SSLConnection)
    nodes = [ClusterNode(host, port) for host, port in target.hosts]
    return redis.RedisCluster(startup_nodes=nodes, **_without_place(options), retry=retry)


def _options(given: dict[str, Any]) -> dict[str, Any]:
    ours = {
        "max_connections": MAX_CONNECTIONS,
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "socket_timeout": COMMAND_TIMEOUT,
        "health_check_interval": HEALTH_CHECK_INTERVAL,
        "client_name": "fetchworker",
    }
    return ours | given | _FIXED


def _sentinel_options(given: dict[str, Any], secure: type, retry: object) -> dict[str, Any]:
    timeouts = {"socket_connect_timeout": _SENTINEL_CONNECT, "socket_timeout": _SENTINEL_COMMAND}
    return _without_place(_tls(_options(timeouts | given), secure)) | {"retry": retry}


def _pooled(options: dict[str, Any]) -> dict[str, Any]:
    return {"timeout": POOL_TIMEOUT} | options


def _tls(options: dict[str, Any], secure: type) -> dict[str, Any]:
    """Options for what chooses the class of its connections itself."""
    return options | {"ssl": True} if options.pop("connection_class", None) is secure else options


def _without_place(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in ("host", "port", "db")}
