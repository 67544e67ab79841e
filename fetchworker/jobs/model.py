"""What a job is, and what is known of one. Light to import: each supervisor does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


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
class JobStatus:
    """What a node knows of a job. Times are POSIX seconds, sizes bytes.

    ``exit_cause`` is one of ok, degraded, blocked, failed, oom, killed, timed_out, no_egress, storage_error, aborted
    and is set when the state is ``ended``; ``reasons`` say why in words. ``items_bytes`` is the size of its durable
    JSON lines now; ``stats`` are Scrapy's at its end, of types JSON has; ``spent`` is what it has cost, as
    :meth:`fetchworker.usage.Account.told` has it, also of one that was killed: then as of some seconds before.
    ``interrupted``: it was killed since its supervisor was ended, or the machine went down, and not for anything that
    it did.
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
    interrupted: bool = False
    stats: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    spent: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes of a file of a job from ``offset`` on; ``size`` is the whole file's now."""

    data: bytes
    offset: int
    size: int


def is_job_id(text: str) -> bool:
    """Whether this may be a job's id: it becomes the name of a folder and a part of URLs."""
    return bool(_ID.match(text))
