"""Where jobs run: one port, and its adapters (scrapyd nodes; processes of this machine)."""

from fetchworker.platforms.base import (
    Chunk,
    JobOptions,
    JobSpec,
    JobState,
    JobStatus,
    NodeStatus,
    Placement,
    Platform,
)

__all__ = [
    "Chunk",
    "JobOptions",
    "JobSpec",
    "JobState",
    "JobStatus",
    "NodeStatus",
    "Placement",
    "Platform",
]
