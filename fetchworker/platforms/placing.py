"""Jobs that are on their way to nodes, whose own answers do not tell of them yet."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fetchworker.platforms.base import NodeStatus

#: seconds for which a job that has arrived is remembered: longer than a node has to say how it is
_KEPT = 30.0


@dataclass(slots=True)
class _Way:
    """A job on its way; ``arrived``: when its node has said that it has it."""

    node: str
    arrived: float | None = None


class Placing:
    """What this process is placing now.

    Args:
        clock: the time, which never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ways: list[_Way] = []

    def now(self) -> float:
        """The time, as :meth:`load` wants it."""
        return self._clock()

    @contextmanager
    def on(self, node: str) -> Iterator[None]:
        """A job is being placed on a node; an error says that it is not there."""
        way = _Way(node)
        self._ways.append(way)
        try:
            yield
        except BaseException:
            self._ways.remove(way)
            raise
        way.arrived = self._clock()

    def load(self, node: NodeStatus, job_id: str, asked: float) -> tuple[float, int]:
        """What a job finds on a node: the share of its places that are taken, and a turn among equals.

        Args:
            node: as it said.
            job_id: the job.
            asked: when it was asked; what has arrived since is not in its answer.
        """
        old = self._clock() - _KEPT
        self._ways = [way for way in self._ways if way.arrived is None or way.arrived > old]
        coming = sum(way.node == node.name and (way.arrived is None or way.arrived > asked) for way in self._ways)
        return (node.running + node.queued + coming) / max(1, node.slots), crc32(f"{job_id} {node.name}".encode())
