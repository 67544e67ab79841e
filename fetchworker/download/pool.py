"""The clients of a process, in a bounded number."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING

from fetchworker.download.client import CurlClient

if TYPE_CHECKING:
    from fetchworker.download.client import ClientOptions


class ClientPool:
    """The clients of a process: the stateless one and at most ``limit`` identities, least recently used out first."""

    def __init__(self, options: ClientOptions, *, limit: int = 200) -> None:
        self._options = options
        self._limit = limit
        self._stateless: CurlClient | None = None
        self._clients: OrderedDict[str, CurlClient] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, key: str | None) -> CurlClient:
        """The client of an identity, or the stateless one for None."""
        if key is None:
            if self._stateless is None:
                self._stateless = CurlClient(self._options, stateless=True)
            return self._stateless
        client = self._clients.get(key)
        if client is None:
            client = self._clients[key] = CurlClient(self._options)
            self._evict()
        else:
            self._clients.move_to_end(key)
        return client

    def _evict(self) -> None:
        if len(self._clients) <= self._limit:
            return
        idle = [key for key, client in self._clients.items() if not client.active]
        for key in idle[: len(self._clients) - self._limit]:
            task = asyncio.ensure_future(self._clients.pop(key).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def __len__(self) -> int:
        return len(self._clients)

    async def close(self) -> None:
        """Close all clients."""
        clients = [*self._clients.values(), *([self._stateless] if self._stateless else [])]
        self._clients.clear()
        self._stateless = None
        await asyncio.gather(*(client.close() for client in clients), *self._closing)
