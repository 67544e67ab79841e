"""The services of a node: scrapyd's own with more told, and ours that the platform's adapter asks."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ConfigError
from fetchworker.jobs.model import JobOptions, JobSpec, JobState
from fetchworker.jobs.records import spec_from_json, status_to_json
from fetchworker.scrapyd_ext.answering import Answering, Fields
from fetchworker.scrapyd_ext.spiders import is_spider, listed
from fetchworker.secretnames import CREDENTIALS, SHORT, any_of
from fetchworker.telemetry.redaction import MASK, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.scrapyd_ext.parts import Job

#: job ids of one call
IDS_MAX = 10_000
#: our states → scrapyd's
_STATES = {
    JobState.QUEUED: "pending",
    JobState.RUNNING: "running",
    JobState.ENDED: "finished",
    JobState.UNKNOWN: None,
}
#: names of fields whose values are not shown
_SECRET = re.compile(rf"{any_of(*CREDENTIALS)}|{SHORT}|_url\Z", re.IGNORECASE)
_VERSION = re.compile(r"[^\x00/]{1,200}\Z")


class Schedule(Answering):
    """``schedule.json``; further fields are the spider's arguments. The same ``jobid`` twice is one job."""

    plain = True

    def post(self, fields: Fields, _: Any) -> dict[str, Any]:
        """Make a job that waits."""
        project = self.project(fields.take("project"))
        spider, version = fields.take("spider"), fields.take("_version", "") or None
        job_id, priority = fields.take("jobid", "") or secrets.token_hex(16), fields.take("priority", "0")
        pairs = [setting.partition("=") for setting in fields.all("setting")]
        try:
            options = JobOptions(priority=float(priority))
        except ValueError:
            raise ConfigError(f"priority: {priority!r} is no number", field="priority") from None
        settings = {name: value for name, _, value in pairs}
        spec = JobSpec(job_id, spider, fields.rest(), settings, options, project)
        _create(self, spec, version)
        return {"jobid": job_id}


class Spawn(Answering):
    """``spawn.json``: a job as JSON, with all that it may have."""

    def post(self, _: Fields, body: Any) -> dict[str, Any]:
        """Make a job that waits."""
        spec = spec_from_json(_object(body))
        self.project(spec.project)
        if missing := spec.options.tags - self.node.tags:
            raise ConfigError(f"options.tags: this node lacks {', '.join(sorted(missing))}", field="options.tags")
        return {"jobid": spec.job_id, "fresh": _create(self, spec, body.get("version"))}


class Cancel(Answering):
    """``cancel.json``: TERM, then KILL after ``grace`` seconds (the node's own, if not told)."""

    plain = True

    def post(self, fields: Fields, _: Any) -> dict[str, Any]:
        """Have a job end."""
        project, job_id = fields.take("project", ""), fields.take("job")
        if project:
            self.project(project)
        grace = _grace(fields.take("grace", ""), fields.take("signal", ""), self.node.store.launch.grace)
        record = self.node.store.record(job_id)
        if record is None or (project and record["project"] != project):
            return {"prevstate": None}
        before = self.node.store.status(job_id).state
        self.node.store.cancel(job_id, grace=grace)
        return {"prevstate": _STATES[before] if before is not JobState.ENDED else None}


class Status(Answering):
    """``status.json`` of one job."""

    plain = True

    def get(self, fields: Fields, _: Any) -> dict[str, Any]:
        """Where the job is, and how it ended."""
        job_id, project = fields.take("job"), fields.take("project", "")
        if project:
            self.project(project)
        record = self.node.store.record(job_id)
        if record is None or (project and record["project"] != project):
            return {"currstate": None}
        status = self.node.store.status(job_id)
        return {"currstate": _STATES[status.state], **_how(status_to_json(status))}


class JobStatuses(Answering):
    """``jobstatus.json``: many jobs by one call, ``{"jobs": [id, …]}``."""

    def post(self, _: Fields, body: Any) -> dict[str, Any]:
        """What is known of each."""
        ids = _object(body).get("jobs")
        if not isinstance(ids, list) or not all(isinstance(job_id, str) for job_id in ids):
            raise ConfigError("jobs: has to be a list of ids", field="jobs")
        if len(ids) > IDS_MAX:
            raise ConfigError(f"jobs: {len(ids)} ids, {IDS_MAX} are allowed in one call", field="jobs")
        return {"jobs": [status_to_json(status) for status in self.node.store.statuses(ids).values()]}


class Forget(Answering):
    """``forget.json``: the files of a job that has ended are deleted."""

    def post(self, fields: Fields, _: Any) -> dict[str, Any]:
        """Delete them."""
        self.node.store.forget(fields.take("job"))
        return {}


class NodeInfo(Answering):
    """``node.json``: what the node is and what it can take."""

    def get(self, _: Fields, __: Any) -> dict[str, Any]:
        """Tell it."""
        tally = self.node.store.tally()
        return {
            "name": self.node.name,
            "incarnation": self.node.incarnation,
            "tags": sorted(self.node.tags),
            "slots": self.node.slots,
            "running": len(tally.running),
            "queued": len(tally.queued),
            "projects": sorted(self.root.poller.queues),
        }


class ListSpiders(Answering):
    """``listspiders.json``, of now."""

    plain = True

    def get(self, fields: Fields, _: Any) -> dict[str, Any]:
        """The names."""
        project, version = self.project(fields.take("project")), fields.take("_version", "") or None
        return {"spiders": list(listed(self.root, project, version))}


class ListJobs(Answering):
    """``listjobs.json`` with how jobs ended; values that may be secret are not shown."""

    plain = True

    def get(self, fields: Fields, _: Any) -> dict[str, Any]:
        """The jobs that wait, that run, and the last that ended."""
        wanted = fields.take("project", "")
        projects = [self.project(wanted)] if wanted else list(self.root.poller.queues)
        waiting = [_waiting(name, message) for name in projects for message in self.root.poller.queues[name].list()]
        launcher = self.root.launcher
        running = [self._running(job) for job in launcher.processes.values() if job.project in projects]
        finished = [self._finished(job) for job in launcher.finished if job.project in projects]
        return {"pending": waiting, "running": running, "finished": finished}

    def _running(self, job: Job) -> dict[str, Any]:
        return {**self._of(job), "pid": job.pid}

    def _finished(self, job: Job) -> dict[str, Any]:
        how = _how(status_to_json(self.node.store.status(job.job)))
        return {**self._of(job), "end_time": str(job.end_time), **how}

    def _of(self, job: Job) -> dict[str, Any]:
        return {
            "id": job.job,
            "project": job.project,
            "spider": job.spider,
            "start_time": str(job.start_time),
            "log_url": self.root.get_log_url(job),
            "items_url": self.root.get_item_url(job),
        }


def _create(service: Answering, spec: JobSpec, version: Any) -> bool:
    """Make a job that waits and have it started."""
    if version is not None and not (isinstance(version, str) and _VERSION.match(version)):
        raise ConfigError("version: is none of an egg", field="version")
    if version and service.root.eggstorage.get(spec.project, version) == (None, None):
        raise ConfigError(f"version '{version}' not found", field="version")
    if not is_spider(service.root, spec.project, version, spec.spider):
        raise ConfigError(f"spider '{spec.spider}' not found", field="spider")
    fresh = service.node.store.create(spec, service.node.launch(spec.project, version))
    service.node.store.pump(service.node.slots)
    return fresh


def _grace(told: str, signal: str, default: float) -> float:
    if signal in {"KILL", "9"}:
        return 0.0
    try:
        grace = float(told) if told else default
    except ValueError:
        grace = -1.0
    if not grace >= 0:
        raise ConfigError(f"grace: {told!r} has to be seconds, 0 or more", field="grace")
    return grace


def _how(status: Mapping[str, Any]) -> dict[str, Any]:
    names = ("exit_cause", "reasons", "exit_code", "signal", "peak_rss", "started_at", "ended_at", "items_bytes")
    return {name: status[name] for name in names}


def _waiting(project: str, message: Mapping[str, Any]) -> dict[str, Any]:
    known = {"name", "_job", "_version", "settings"}
    return {
        "id": message["_job"],
        "project": project,
        "spider": message["name"],
        "version": message.get("_version"),
        "settings": _shown(message["settings"]),
        "args": _shown({name: value for name, value in message.items() if name not in known}),
    }


def _shown(values: Mapping[str, str]) -> dict[str, str]:
    return {name: MASK if _SECRET.search(name) else redact(value) for name, value in values.items()}


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise ConfigError("the body has to be a JSON object (Content-Type: application/json)")
    return body
