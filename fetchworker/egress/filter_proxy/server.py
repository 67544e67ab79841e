"""The proxy itself: a listener on loopback, its runs, and the tasks of its connections."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import h11
from pydantic import SecretStr

from fetchworker.egress.filter_proxy.connection import Connection
from fetchworker.egress.filter_proxy.outside import Resolve, Ways, look_up
from fetchworker.egress.filter_proxy.run import Run, Upstream
from fetchworker.egress.filter_proxy.wire import Wire
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    import ssl

    from fetchworker.egress.policy import EgressPolicy

_SCHEMES = ("http", "https", "socks5h")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a connection may take: seconds, bytes, and how many there may be."""

    head_bytes: int = 64 * 1024
    """of a request's head"""
    head_seconds: float = 30
    """for a whole head to come, and between two requests"""
    connect_seconds: float = 20
    """to look a name up, connect, and open a tunnel through an upstream"""
    answer_seconds: float = 60
    """that the answer to a plain request may keep still"""
    idle_seconds: float = 300
    """without a byte in a tunnel; it is noticed at the latest after twice as long"""
    connections: int = 2048
    """of all runs together; more are not taken"""


class FilterProxy:
    """A forward proxy that judges every target; an async context manager.

    Args:
        policy: what may be reached, for runs that bring none of their own.
        resolve: looks up names of targets, where a run has no upstream; the host's resolver otherwise.
        limits: of connections.
        upstream_tls: whom to trust behind ``https`` upstreams; the host's authorities otherwise.
    """

    def __init__(
        self,
        policy: EgressPolicy,
        *,
        resolve: Resolve = look_up,
        limits: Limits | None = None,
        upstream_tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy, self._limits = policy, limits or Limits()
        self._ways = Ways(resolve, self._limits.connect_seconds, upstream_tls)
        self._runs: dict[str, Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._nobody = SecretStr(secrets.token_urlsafe(24))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """``http://127.0.0.1:port``, without credentials."""
        if self._server is None:
            raise RuntimeError("the proxy does not listen")
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        """Listen on a free port of 127.0.0.1.

        Raises:
            OSError: there is none.
        """
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)

    async def close(self, *, grace: float = 0) -> None:
        """Take no more connections, give those that are busy ``grace`` seconds, then cut all; none is left then."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while busy := [run for run in self._runs.values() if run.connections]:
                    await asyncio.gather(*(run.idle() for run in busy))
        for run in list(self._runs.values()):
            await run.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if server is not None:
            await server.wait_closed()

    def open_run(
        self,
        *,
        policy: EgressPolicy | None = None,
        upstream: Upstream | None = None,
        max_bytes: int | None = None,
        deadline: float | None = None,
        max_connections: int = 256,
    ) -> Run:
        """A run with fresh credentials.

        Args:
            policy: what it may reach; the proxy's own otherwise.
            upstream: the proxy it goes by (http, https or socks5h), which looks names up; None to connect from here.
            max_bytes: to and from targets together; the run ends when they are used up.
            deadline: seconds from now until it ends.
            max_connections: how many it may have at once.

        Raises:
            ConfigError: the upstream's scheme is none of the three.
        """
        if upstream is not None and upstream.scheme not in _SCHEMES:
            raise ConfigError(f"upstream: the scheme is not known; use a proxy of one of {', '.join(_SCHEMES)}")
        run = Run(
            self.url,
            policy=policy or self._policy,
            upstream=upstream,
            max_bytes=max_bytes,
            deadline=deadline,
            max_connections=max_connections,
            on_close=self._forget,
        )
        self._runs[run.username] = run
        return run

    def _forget(self, run: Run) -> None:
        self._runs.pop(run.username, None)

    def _find(self, username: str, password: str) -> Run | None:
        run = self._runs.get(username)
        known = run.password if run else self._nobody  # the same work whoever asks
        good = secrets.compare_digest(known.get_secret_value().encode(), password.encode())
        return run if good else None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= self._limits.connections:
            writer.transport.abort()
            return
        client = Wire(h11.SERVER, reader, writer, head_bytes=self._limits.head_bytes)
        connection = Connection(client, find=self._find, ways=self._ways, limits=self._limits)
        task = asyncio.create_task(connection.serve(), name="fetchworker-filter-proxy")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
