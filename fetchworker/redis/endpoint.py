"""Which Redis a project uses: the configured one, or a server of its own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from pydantic import SecretStr

from fetchworker.errors import RedisUnavailableError
from fetchworker.redis.clients import check
from fetchworker.redis.urls import read_url

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType


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
        url: what REDIS_URL says: ``redis://``, ``rediss://``, ``unix://``, ``redis+sentinel://`` or ``redis+cluster://``
            (docs/redis.md); None or "" for the project's own.
        state_dir: the folder of our own state. All processes of one folder share one server.
        keep_running: of the project's own server: leave it running for the next process, or let the last process that
            used it stop it. Its data stay either way.

    Raises:
        ConfigError: the URL is none of Redis; names the fault, holds no credentials.
        RedisUnavailableError: there is no server, or it does not start; says what to do.
    """
    if url and url.strip():
        target = read_url(url.strip())
        check(target)
        return RedisEndpoint(SecretStr(url.strip()), target.label, "url", state_dir)
    path = server().ensure_running(state_dir, keep_running=keep_running)
    return RedisEndpoint(SecretStr(f"unix://{quote(str(path))}"), f"unix://{path}", "embedded", state_dir)


def release(endpoint: RedisEndpoint) -> None:
    """Done with the endpoint in this process; happens by itself when the process ends. Close the clients first."""
    if endpoint.kind == "embedded":
        server().release(endpoint.state_dir)


def stop_embedded(state_dir: Path) -> bool:
    """Stop the project's own server, whoever uses it; False if none runs. Its data stay."""
    return bool(server().stop(state_dir))


def server() -> ModuleType:
    """The embedded server, which needs locks that Windows does not have."""
    if sys.platform == "win32":
        raise RedisUnavailableError("fetchworker runs no Redis of its own on Windows; set REDIS_URL")
    from fetchworker import _redis_server  # noqa: PLC0415 (see above)

    return _redis_server
