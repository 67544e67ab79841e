"""A run: who may use the proxy, by which way, for how many bytes and how long."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pydantic import SecretStr

from fetchworker.egress.filter_proxy.reasons import FilterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fetchworker.egress.policy import EgressPolicy

#: how many refusals a run remembers
_REMEMBERED = 500


class Upstream(Protocol):
    """The proxy that a run goes by: a :class:`fetchworker.proxies.Proxy` is one."""

    @property
    def scheme(self) -> str: ...  # http, https or socks5h
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def username(self) -> str | None: ...
    @property
    def password(self) -> SecretStr | None: ...


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that a run was not given: ``target`` as ``host:port``, and why."""

    target: str
    reason: str
    layer: str = ""


class Run:
    """One use of the proxy, with credentials of its own; made by :meth:`FilterProxy.open_run`.

    ``sent`` and ``received`` are bytes to and from targets: what tunnels carry (TLS included), and plain requests and
    answers with their heads. What is said to an upstream proxy before a tunnel stands is not counted. ``ended`` is
    empty while the run may go on, then ``byte_cap``, ``deadline`` or ``closed``; ``on_end`` is called with it once.
    ``refusals`` are the last 500.
    """

    def __init__(
        self,
        url: str,
        *,
        policy: EgressPolicy,
        upstream: Upstream | None,
        max_bytes: int | None,
        deadline: float | None,
        max_connections: int,
        on_close: Callable[[Run], None],
    ) -> None:
        self.url, self.username, self.password = url, secrets.token_hex(8), SecretStr(secrets.token_urlsafe(24))
        self.policy, self.upstream = policy, upstream
        self.sent = self.received = 0
        self.ended = ""
        self.refusals: deque[Refusal] = deque(maxlen=_REMEMBERED)
        self._max_bytes, self._max_connections = max_bytes, max_connections
        self._on_close = on_close
        self.on_end: Callable[[str], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(deadline, self._end, "deadline") if deadline is not None else None

    def __repr__(self) -> str:
        return f"<Run {self.ended or 'open'} sent={self.sent} received={self.received}>"

    @property
    def connections(self) -> int:
        """How many are busy now."""
        return len(self._tasks)

    def allow(self, more: int | None, *, afresh: bool) -> None:
        """Set how many bytes may go from now on; None for no limit.

        Args:
            more: bytes to and from targets together.
            afresh: whether what was allowed before and not used is forgotten.
        """
        if more is None:
            self._max_bytes = None
        elif afresh or self._max_bytes is None:
            self._max_bytes = self.sent + self.received + more
        else:
            self._max_bytes += more

    async def close(self) -> None:
        """Cut the run's connections and forget its credentials; returns when nothing of it is left."""
        self._end("closed")
        self._on_close(self)
        tasks = self._tasks - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)

    # for the proxy

    async def idle(self) -> None:
        """Wait until no connection is busy."""
        await self._idle.wait()

    @contextmanager
    def connection(self, task: asyncio.Task[None]) -> Iterator[None]:
        """The task serves the run until the end of the block: it is cancelled when the run ends.

        Raises:
            FilterError: the run is over, or has all the connections that it may have.
        """
        if self.ended:
            raise FilterError(self.ended if self.ended != "closed" else "credentials")
        if len(self._tasks) >= self._max_connections:
            raise FilterError("connections")
        self._tasks.add(task)
        self._idle.clear()
        try:
            yield
        finally:
            self._tasks.discard(task)
            if not self._tasks:
                self._idle.set()

    def count(self, *, sent: int = 0, received: int = 0) -> None:
        """Bytes that are about to go out, or have come in.

        Raises:
            FilterError: they are more than the run may use, and must go no further.
        """
        if self._max_bytes is not None and self.sent + self.received + sent + received > self._max_bytes:
            self.received += received  # they have come, whatever becomes of them
            self._end("byte_cap")
            raise FilterError("byte_cap")
        self.sent += sent
        self.received += received

    def _end(self, why: str) -> None:
        if not self.ended:
            self.ended = why
            if self.on_end is not None:
                self.on_end(why)
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
