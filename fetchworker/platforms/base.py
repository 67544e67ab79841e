"""The port to what runs jobs. A job is one crawl in a process of its own; a node is what holds jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class JobState(StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    ENDED = "ended"
    """Its process is gone, and how it ended is known."""
    UNKNOWN = "unknown"
    """Its node has never heard of it, or has lost it."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """What a job may use.

    ``memory_mb``: resident memory of its processes together. ``timeout_sec``: from its start. ``priority``: higher
    first. ``tags``: a node has to have them all.
    """

    memory_mb: int | None = None
    timeout_sec: float | None = None
    priority: float = 0.0
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job to be.

    ``job_id`` is ``[A-Za-z0-9._-]{1,64}`` and begins with a letter or digit; spawning it twice starts it once.
    ``arguments`` are the spider's (``-a``), ``settings`` Scrapy's (``-s``); neither may hold a secret. ``context`` is
    written into the job's record as it is, and means nothing to the node.
    """

    job_id: str
    spider: str
    arguments: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    options: JobOptions = field(default_factory=JobOptions)
    project: str = "fetchworker"
    context: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job went. ``node`` is the adapter's name of it; ``fresh`` is False for one that was there already."""

    job_id: str
    node: str
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class JobStatus:
    """What a node knows of a job. Times are POSIX seconds, sizes bytes.

    ``exit_cause`` is one of ok, degraded, blocked, failed, oom, killed, timed_out, no_egress, storage_error, aborted
    and is set when the state is ``ended``; ``reasons`` say why in words. ``items_bytes`` is the size of its durable
    JSON lines now; ``stats`` are Scrapy's at its end, of types JSON has.
    """

    job_id: str
    state: JobState
    exit_cause: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    reasons: tuple[str, ...] = ()
    started_at: float | None = None
    ended_at: float | None = None
    peak_rss: int | None = None
    items_bytes: int = 0
    stats: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


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


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of a file of a job from ``offset`` on; ``size`` is the whole file's now."""

    data: bytes
    offset: int
    size: int


class Platform(Protocol):
    """What runs jobs. All methods raise :class:`~fetchworker.errors.PlatformError` where a node cannot be asked."""

    async def nodes(self) -> Sequence[NodeStatus]:
        """All nodes, also those that are down."""

    async def spawn(self, spec: JobSpec, *, avoid: frozenset[str] = frozenset()) -> Placement:
        """Start a job, or find the one with this id; ``avoid`` names nodes that it shall not go to.

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
