"""Jobs as they are written down and read again; pure but for the reading."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ConfigError
from fetchworker.jobs.model import JobOptions, JobSpec, JobState, JobStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.jobs.folder import JobFolder
    from fetchworker.jobs.store import Launch

_FIELDS = frozenset({"job_id", "spider", "project", "arguments", "settings", "context", "options", "version"})
_OPTIONS = frozenset({"memory_mb", "timeout_sec", "priority", "tags"})
#: what makes two jobs the same
_ASKED = ("spider", "project", "arguments", "settings")


def record_of(spec: JobSpec, launch: Launch) -> dict[str, Any]:
    """A job's ``job.json``."""
    return {
        **spec_to_json(spec),
        "created_at": time.time(),
        "runner": launch.runner,
        "grace": launch.grace,
        "webhook": launch.webhook,
        "environment": dict(launch.environment),
    }


def spec_to_json(spec: JobSpec) -> dict[str, Any]:
    """A job to be as plain values."""
    options = spec.options
    return {
        "job_id": spec.job_id,
        "spider": spec.spider,
        "project": spec.project,
        "arguments": dict(spec.arguments),
        "settings": dict(spec.settings),
        "context": dict(spec.context),
        "options": {
            "memory_mb": options.memory_mb,
            "timeout_sec": options.timeout_sec,
            "priority": options.priority,
            "tags": sorted(options.tags),
        },
    }


def spec_from_json(value: Mapping[str, Any]) -> JobSpec:
    """The job to be that plain values tell.

    Raises:
        ConfigError: naming the field that is missing, unknown or of another type.
    """
    _check_names(value, _FIELDS, "")
    texts = {name: _texts(value, name) for name in ("arguments", "settings", "context")}
    options = value.get("options") or {}
    if not isinstance(options, dict):
        raise ConfigError("options: has to be an object", field="options")
    _check_names(options, _OPTIONS, "options.")
    tags = options.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ConfigError("options.tags: has to be a list of texts", field="options.tags")
    return JobSpec(
        job_id=_text(value, "job_id"),
        spider=_text(value, "spider"),
        project=_text({"project": "fetchworker", **value}, "project"),
        options=JobOptions(
            memory_mb=_number(options, "memory_mb"),
            timeout_sec=_number(options, "timeout_sec"),
            priority=_number(options, "priority") or 0.0,
            tags=frozenset(tags),
        ),
        **texts,
    )


def check_same(known: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """See that a job which is there is the one that is asked for.

    Raises:
        ConfigError: the id is another job's.
    """
    other = [name for name in _ASKED if known.get(name) != asked.get(name)]
    if other:
        raise ConfigError(
            f"job_id: {asked['job_id']} is another job's, whose {' and '.join(other)} differ: give each its own",
            field="job_id",
        )


def status_of(folder: JobFolder, job_id: str, state: JobState) -> JobStatus:
    """What the folder of a job tells."""
    if state is JobState.UNKNOWN:
        return JobStatus(job_id, state)
    told = (folder.read("end") if state is JobState.ENDED else folder.read("start")) or {}
    return JobStatus(
        job_id,
        state,
        exit_cause=told.get("exit_cause", "failed") if state is JobState.ENDED else None,
        exit_code=told.get("exit_code"),
        signal=told.get("signal"),
        reasons=tuple(told.get("reasons", ())),
        started_at=told.get("started_at"),
        ended_at=told.get("ended_at"),
        peak_rss=told.get("peak_rss"),
        items_bytes=folder.size(),
        interrupted=told.get("interrupted") is True,
        stats=MappingProxyType(told.get("stats", {})),
        spent=MappingProxyType(told.get("spent", {})),
    )


def status_to_json(status: JobStatus) -> dict[str, Any]:
    """What is known of a job as plain values."""
    return {
        "job_id": status.job_id,
        "state": str(status.state),
        "exit_cause": status.exit_cause,
        "exit_code": status.exit_code,
        "signal": status.signal,
        "reasons": list(status.reasons),
        "started_at": status.started_at,
        "ended_at": status.ended_at,
        "peak_rss": status.peak_rss,
        "items_bytes": status.items_bytes,
        "interrupted": status.interrupted,
        "stats": dict(status.stats),
        "spent": dict(status.spent),
    }


def status_from_json(value: Mapping[str, Any]) -> JobStatus:
    """What plain values tell of a job.

    Raises:
        KeyError, ValueError: they tell of none.
    """
    rest = {
        name: value.get(name) for name in ("exit_cause", "exit_code", "signal", "started_at", "ended_at", "peak_rss")
    }
    return JobStatus(
        value["job_id"],
        JobState(value["state"]),
        reasons=tuple(value.get("reasons", ())),
        items_bytes=value.get("items_bytes", 0),
        interrupted=value.get("interrupted") is True,
        stats=MappingProxyType(value.get("stats") or {}),
        spent=MappingProxyType(value.get("spent") or {}),
        **rest,
    )


def _check_names(value: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    for name in value.keys() - known:
        told = f"{where}{str(name)[:80]}"
        raise ConfigError(f"{told}: there is no such field; known: {', '.join(sorted(known))}", field=told)


def _text(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise ConfigError(f"{name}: has to be a text", field=name)
    return found


def _texts(value: Mapping[str, Any], name: str) -> dict[str, str]:
    found = value.get(name) or {}
    if not isinstance(found, dict) or not all(isinstance(text, str) for pair in found.items() for text in pair):
        raise ConfigError(f"{name}: has to be an object of texts", field=name)
    return found


def _number(options: Mapping[str, Any], name: str) -> Any:
    found = options.get(name)
    if found is not None and (isinstance(found, bool) or not isinstance(found, int | float)):
        raise ConfigError(f"options.{name}: has to be a number", field=f"options.{name}")
    return found
