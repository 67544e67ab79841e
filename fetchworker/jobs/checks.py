"""Whether a job can be one."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError
from fetchworker.jobs.model import is_job_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.jobs.model import JobOptions, JobSpec

_SPIDER = re.compile(r"[^\s/-][^\s/]*\Z")
_NAME = re.compile(r"[^=\s-][^=\s]*\Z")
#: names a folder of the crawl's state, and keys of Redis
_CRAWL_ID = "FETCHWORKER_CRAWL_ID"
_CRAWL = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z")
#: settings that say where a job's items and log go, and who is told of its end
_OURS = frozenset({"FEEDS", "FEED_URI", "LOG_FILE", "LOG_ENABLED", "EXTENSIONS_BASE"})


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
    if not _CRAWL.match(spec.settings.get(_CRAWL_ID, "x")):
        raise ConfigError(
            f"settings.{_CRAWL_ID}: has to be 1 to 64 letters, digits, dots, hyphens or underscores, no dot first",
            field="settings",
        )
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
