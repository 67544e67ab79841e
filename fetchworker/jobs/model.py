"""What a job is, and what is known of one."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_SPIDER = re.compile(r"[^\s/-][^\s/]*\Z")
_NAME = re.compile(r"[^=\s-][^=\s]*\Z")
#: settings that say where a job's items and log go, and who is told of its end
_OURS = frozenset({"FEEDS", "FEED_URI", "LOG_FILE", "LOG_ENABLED", "EXTENSIONS_BASE"})


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
class Chunk:
    """Bytes of a file of a job from ``offset`` on; ``size`` is the whole file's now."""

    data: bytes
    offset: int
    size: int


def is_job_id(text: str) -> bool:
    """Whether this may be a job's id: it becomes the name of a folder and a part of URLs."""
    return bool(_ID.match(text))


def checked(spec: JobSpec) -> JobSpec:
    """The same job, if it can be one (pure).

    Raises:
        ConfigError: naming the field and what to write instead.
    """
    if not is_job_id(spec.job_id):
        raise ConfigError(
            f"job_id: {spec.job_id[:80]!r} has to be 1 to 64 letters, digits, dots, hyphens or underscores, a letter "
            "or digit first",
            field="job_id",
        )
    for name, value in (("spider", spec.spider), ("project", spec.project)):
        if not _SPIDER.match(value) or value in {".", ".."}:
            raise ConfigError(f"{name}: {value[:80]!r} is no name of one", field=name)
    _check_texts("arguments", spec.arguments)
    _check_texts("settings", spec.settings)
    for name in sorted(_OURS & spec.settings.keys()):
        raise ConfigError(f"settings.{name}: where a job's items and log go is not the job's to say", field="settings")
    _check_options(spec.options)
    return spec


def _check_texts(field_name: str, texts: Mapping[str, str]) -> None:
    for name, value in texts.items():
        if not _NAME.match(name):
            raise ConfigError(f"{field_name}: {name[:80]!r} is no name of one", field=field_name)
        if not isinstance(value, str) or "\0" in value:
            raise ConfigError(f"{field_name}.{name}: has to be a text without NUL", field=field_name)


def _check_options(options: JobOptions) -> None:
    if options.memory_mb is not None and options.memory_mb < 1:
        raise ConfigError(f"options.memory_mb: {options.memory_mb} has to be 1 or more", field="options.memory_mb")
    if options.timeout_sec is not None and not 0 < options.timeout_sec < math.inf:
        raise ConfigError(
            f"options.timeout_sec: {options.timeout_sec} has to be more than 0", field="options.timeout_sec"
        )
    if not math.isfinite(options.priority):
        raise ConfigError(f"options.priority: {options.priority} has to be a number", field="options.priority")
