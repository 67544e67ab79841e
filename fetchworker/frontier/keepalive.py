"""Keeps leases alive while the loop is busy: a thread that looks whether the loop still does it itself."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from fetchworker.frontier.vigil import AWAY
from fetchworker.redis import connect_sync

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.frontier.store import Frontier
    from fetchworker.redis import RedisEndpoint

logger = logging.getLogger(__name__)


class Keepalive:
    """Extends the leases of a worker whose callback holds the loop for long. It makes a connection only then.

    Args:
        endpoint: finds out where Redis is.
        frontier: the worker's queue; its ``heard`` says when Redis last heard of it.
        holds: whether the worker has leases.
    """

    def __init__(self, endpoint: Callable[[], RedisEndpoint], frontier: Frontier, holds: Callable[[], bool]) -> None:
        self._endpoint = endpoint
        self._frontier = frontier
        self._holds = holds
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fetchworker-leases", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """End; the thread may still be in the middle of a command."""
        self._over.set()

    def _run(self) -> None:
        lease = self._frontier.terms.lease
        while not self._over.wait(lease / 6):
            if self._holds() and time.monotonic() - self._frontier.heard > lease / 2:
                with suppress(*AWAY):
                    self._extend(lease)

    def _extend(self, lease: float) -> None:
        client = connect_sync(self._endpoint(), retries=0)
        try:
            seconds, micros = client.time()
            lapse = int((seconds + lease) * 1000 + micros / 1000)
            # only a worker that is still known: one whose leases have lapsed must not get them back
            client.zadd(f"{self._frontier.names.root}:workers", {self._frontier.owner: lapse}, xx=True)
            self._frontier.heard = time.monotonic()
            logger.warning("a callback holds the loop: its leases are extended from outside")
        finally:
            client.close()
