"""The port to what runs jobs. A job is one crawl in a process of its own; a node is what holds jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fetchworker.jobs import Chunk, JobOptions, JobSpec, JobState, JobStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    #: hears of the node that is about to be asked to take a job; None: that none has it
    Intend = Callable[[str | None], Awaitable[None]]

__all__ = ["Chunk", "JobOptions", "JobSpec", "JobState", "JobStatus", "NodeStatus", "Placement", "Platform"]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job went. ``node`` is the adapter's name of it; ``fresh`` is False for one that was there already."""

    job_id: str
    node: str
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """A node: whether it answers, what it can take. ``incarnation`` changes when it is started anew."""

    name: str
    up: bool
    incarnation: str = ""
    tags: frozenset[str] = frozenset()
    slots: int = 0
    running: int = 0
    queued: int = 0
    error: str = ""


class Platform(Protocol):
    """What runs jobs. All methods raise :class:`~fetchworker.errors.PlatformError` where a node cannot be asked."""

    async def nodes(self) -> Sequence[NodeStatus]:
        """All nodes, also those that are down."""

    async def spawn(
        self,
        spec: JobSpec,
        *,
        avoid: frozenset[str] = frozenset(),
        at: str | None = None,
        intend: Intend | None = None,
    ) -> Placement:
        """Start a job, or find the one with this id.

        Args:
            spec: the job.
            avoid: nodes that it shall not go to.
            at: the node that may have been asked before, and whose answer was lost: nobody else is asked.
            intend: is told, before it is asked, which node may have the job from now on; None when none has taken it.
                A platform of one node need not say so.

        Raises:
            ConfigError: no node could ever take it (its tags, its spider).
            PlatformError: none can take it now.
        """

    async def statuses(self, node: str, job_ids: Sequence[str]) -> Mapping[str, JobStatus]:
        """What a node knows of jobs, by one call; each one asked for is in the answer."""

    async def items(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """The job's durable JSON lines from a byte on, at most ``limit`` bytes."""

    async def log(self, node: str, job_id: str, *, offset: int, limit: int) -> Chunk:
        """The job's log from a byte on (negative: so many before its end)."""

    async def cancel(self, node: str, job_id: str, *, grace: float) -> None:
        """TERM to its process group, KILL after ``grace`` seconds; returns once that is under way.

        The job is over when :meth:`statuses` says so.
        """

    async def forget(self, node: str, job_id: str) -> None:
        """Delete the files of a job that has ended."""

    async def close(self) -> None:
        """Give back what the adapter holds; local jobs go on."""
