"""scrapyd's components on our jobs: queue, poller, launcher and job storage are four views of one store."""

from __future__ import annotations

import datetime as dt
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapyd.interfaces import IJobStorage, IPoller, ISpiderQueue
from scrapyd.utils import get_project_list
from twisted.application.service import Service
from twisted.internet.threads import deferToThread
from twisted.logger import Logger
from zope.interface import implementer

from fetchworker.jobs.model import JobOptions, JobSpec
from fetchworker.scrapyd_ext.node import Node, node_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scrapyd.config import Config
    from twisted.internet.defer import Deferred

log = Logger()

Message = dict[str, Any]
"""A pending job as scrapyd's own parts have it: ``name``, ``_job``, ``_version``, ``settings`` and the arguments."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as scrapyd's own pages know one."""

    project: str
    spider: str
    job: str
    start_time: dt.datetime
    end_time: dt.datetime
    pid: int | None = None


@implementer(ISpiderQueue)
class JobQueue:
    """The jobs of a project that wait."""

    def __init__(self, config: Config, project: str) -> None:
        self._node = node_of(config)
        self._project = project

    def add(self, name: str, priority: float = 0.0, **arguments: Any) -> None:
        """Make a job, unless there is one with its id."""
        settings = {key: str(value) for key, value in arguments.pop("settings", {}).items()}
        version = arguments.pop("_version", None)
        spec = JobSpec(
            job_id=arguments.pop("_job", None) or secrets.token_hex(16),
            spider=name,
            arguments=arguments,
            settings=settings,
            options=JobOptions(priority=priority),
            project=self._project,
        )
        self._node.store.create(spec, self._node.launch(self._project, version))

    def pop(self) -> None:
        """Jobs are started by their store, which the poller asks to."""

    def count(self) -> int:
        """How many wait."""
        return len(self.list())

    def list(self) -> Sequence[Message]:
        """Those that wait, the next one first."""
        store = self._node.store
        records = (store.record(job_id) for job_id in store.tally().queued)
        return [_message(record) for record in records if record and record["project"] == self._project]

    def remove(self, wanted: Callable[[Message], bool]) -> int:
        """End those that a function says."""
        found = [message["_job"] for message in self.list() if wanted(message)]
        for job_id in found:
            self._node.store.cancel(job_id, grace=0)
        return len(found)

    def clear(self) -> None:
        """End all."""
        self.remove(lambda _: True)


@implementer(IPoller)
class Poller:
    """Starts jobs as places come free, those that a scrapyd before this one has left as well."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._node = node_of(config)
        self.update_projects()

    def update_projects(self) -> None:
        """See which projects there are."""
        self.queues = {project: JobQueue(self._config, project) for project in get_project_list(self._config)}

    def poll(self) -> Deferred[None]:
        """Start what can be started; told every ``poll_interval`` seconds."""
        return deferToThread(self._pump)

    def next(self) -> None:
        """There is nobody to ask: see :meth:`JobQueue.pop`."""

    def _pump(self) -> None:
        try:
            self._node.store.pump(self._node.slots)
        except OSError as exc:
            log.error(  # noqa: TRY400  # no bug of ours
                "jobs cannot be started now: {error}", error=exc
            )


class Launcher(Service):
    """Tells which jobs run. They are independent of it: a scrapyd that ends leaves them to the next."""

    name = "launcher"

    def __init__(self, config: Config, app: Any) -> None:
        self._node = node_of(config)
        self.max_proc = self._node.slots
        self.finished = app.getComponent(IJobStorage)

    def startService(self) -> None:
        """Say what there is."""
        tally = self._node.store.tally()
        log.info(
            "node {name} {tags}: {slots} places, {running} jobs run, {queued} wait",
            name=self._node.name,
            tags=sorted(self._node.tags),
            slots=self._node.slots,
            running=len(tally.running),
            queued=len(tally.queued),
        )
        super().startService()  # type: ignore[no-untyped-call]

    @property
    def processes(self) -> dict[int, Job]:
        """The jobs that run."""
        store = self._node.store
        found = (_job(self._node, job_id, running=True) for job_id in store.tally().running)
        return dict(enumerate(job for job in found if job is not None))


@implementer(IJobStorage)
class JobStorage:
    """The jobs that have ended, the last one first, as many as ``finished_to_keep``; all are kept."""

    def __init__(self, config: Config) -> None:
        self._node = node_of(config)

    def add(self, job: Any) -> None:
        """A job that ends is there already."""

    def list(self) -> Sequence[Job]:
        """The jobs."""
        return [*self]

    def __len__(self) -> int:
        return len(self._ended())

    def __iter__(self) -> Iterator[Job]:
        for job_id in self._ended()[: self._node.keep]:
            job = _job(self._node, job_id, running=False)
            if job is not None:
                yield job

    def _ended(self) -> Sequence[str]:
        ends = self._node.store.ended()
        return sorted(ends, key=ends.__getitem__, reverse=True)


def _message(record: Mapping[str, Any]) -> Message:
    version = record["environment"].get("SCRAPYD_EGG_VERSION")
    own = {"name": record["spider"], "_job": record["job_id"], "settings": record["settings"]}
    return {**record["arguments"], **own, **({"_version": version} if version else {})}


def _job(node: Node, job_id: str, *, running: bool) -> Job | None:
    record = node.store.record(job_id)
    if record is None:
        return None
    status = node.store.status(job_id)
    began = status.started_at or record["created_at"]
    return Job(
        record["project"],
        record["spider"],
        job_id,
        dt.datetime.fromtimestamp(began),  # noqa: DTZ006  # scrapyd's times are local and naive
        dt.datetime.fromtimestamp(status.ended_at or began),  # noqa: DTZ006  # as above
        node.store.process(job_id) if running else None,
    )
