"""All jobs of a machine, one folder each; who starts processes asks here what there is to start.

``<root>/<job id>`` is a job's folder. ``<root>/.active/<job id>`` says that nobody has seen the job's end yet: empty,
it waits; else its supervisor was started. All is on disk: a process that ends or is killed loses nothing, and the next
one goes on.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fetchworker.errors import PlatformError
from fetchworker.exports.private import private_folder
from fetchworker.jobs.checks import checked
from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.model import Chunk, JobSpec, JobState, JobStatus, is_job_id
from fetchworker.jobs.processes import MARK, alive, kill, kin, living, marked
from fetchworker.jobs.records import check_same, record_of, status_of
from fetchworker.jobs.webhook import SECRET

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: seconds that a job's supervisor has to begin, and that the sign of a job may be there before its folder
BEGIN = 60.0
#: variables of whoever starts jobs that are no business of theirs
_NOT_THE_JOBS = frozenset({
    MARK, SECRET, "FETCHWORKER_CONTROL_SECRET", "FETCHWORKER_RUNS_CALLBACK_SECRET", "FETCHWORKER_NODES",
    "FETCHWORKER_SERVE_KEYS", "SCRAPYD_PASSWORD", "SCRAPYD_USERNAME",
})  # fmt: skip
#: seconds between two looks at processes that were killed
_AGAIN = 0.02


@dataclass(frozen=True, slots=True)
class Launch:
    """How a job's process is started. ``grace`` is the seconds between TERM and KILL at a limit.

    ``webhook`` is the control's URL that is told of the end, ``secret`` signs it. ``environment`` holds no secrets, as
    it is written down: those are in the environment of whoever starts jobs.
    """

    runner: str = "fetchworker.jobs.runner"
    grace: float = 40.0
    webhook: str | None = None
    secret: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Tally:
    """The jobs that have not ended."""

    running: tuple[str, ...] = ()
    queued: tuple[str, ...] = ()
    """In the order in which they are to start."""


class JobStore:
    """The jobs under one folder. Threads may share it, and so may processes.

    Args:
        root: the folder; made where it is missing.
        launch: how jobs are started.

    Raises:
        OSError: the folder cannot be made.
    """

    def __init__(self, root: Path, launch: Launch | None = None) -> None:
        self.root = root.absolute()
        self.launch = launch or Launch()
        self._active = self.root / ".active"
        self._supervisors: dict[str, int] = {}
        self._order: dict[str, tuple[float, float]] = {}
        self._lock = threading.RLock()
        private_folder(self.root)
        private_folder(self._active)

    def create(self, spec: JobSpec, launch: Launch | None = None) -> bool:
        """Make a job that waits; False when there is one with its id already.

        Raises:
            ConfigError: it cannot be one, or the id is another job's.
            PlatformError: the disk refuses.
        """
        record = record_of(checked(spec), launch or self.launch)
        made = self.root / f".new-{secrets.token_hex(8)}"
        with self._lock:
            if (known := self._folder(spec.job_id).read("job")) is not None:
                check_same(known, record)
                return False
            try:
                (self._active / spec.job_id).touch(mode=0o600)
                made.mkdir(mode=0o700)
                JobFolder(made).write("job", record)
                for file in (JobFolder(made).items, JobFolder(made).log):
                    file.touch(mode=0o600)
                made.rename(self.root / spec.job_id)
            except OSError as exc:
                shutil.rmtree(made, ignore_errors=True)
                if self._folder(spec.job_id).has("job"):  # another process was quicker
                    return False
                raise PlatformError(f"cannot keep job {spec.job_id}: {exc.strerror or exc}") from exc
        return True

    def record(self, job_id: str) -> dict[str, Any] | None:
        """What was asked for; None for a job that there is not."""
        return self._folder(job_id).read("job") if is_job_id(job_id) else None

    def process(self, job_id: str) -> int | None:
        """The process of a job that has begun; it may be gone."""
        began = self._folder(job_id).read("start") if is_job_id(job_id) else None
        return began.get("main") if began else None

    def ended(self) -> dict[str, float]:
        """All jobs that have ended, and when."""
        found = {}
        for entry in os.scandir(self.root):
            with suppress(OSError):
                if is_job_id(entry.name):
                    found[entry.name] = (self.root / entry.name / "end.json").stat().st_mtime
        return found

    def tally(self) -> Tally:
        """The jobs that have not ended; those that have are seen to their end."""
        with self._lock:
            self._reap()
            waiting = [entry.name for entry in os.scandir(self._active) if entry.stat().st_size == 0]
            begun = [entry.name for entry in os.scandir(self._active) if entry.name not in waiting]
            states = {job_id: self._settled(job_id) for job_id in begun}
            queued = [job_id for job_id in waiting if self._is_job(job_id)]
            queued += [job_id for job_id, state in states.items() if state is JobState.QUEUED]
            self._order = {job_id: self._order.get(job_id) or self._place(job_id) for job_id in queued}
            running = tuple(job_id for job_id, state in states.items() if state is JobState.RUNNING)
            return Tally(running, tuple(sorted(queued, key=self._order.__getitem__)))

    def pump(self, slots: int) -> Tally:
        """Start jobs that wait, as many as there are places for.

        Args:
            slots: how many may run at once.
        """
        with self._lock:
            tally = self.tally()
            free = max(0, slots - len(tally.running))
            for job_id in tally.queued[:free]:
                self.start(job_id)
            return self.tally() if free and tally.queued else tally

    def start(self, job_id: str) -> None:
        """Start a job's supervisor; what keeps it from being started is its end."""
        with self._lock:
            folder = self._folder(job_id)
            try:
                (self._active / job_id).write_text("begins")
                self._supervisors[job_id] = pid = self._spawn(folder)
                (self._active / job_id).write_text(f"begun {pid}")
            except OSError as exc:
                self._end(folder, "failed", f"its process could not be started: {exc.strerror or exc}")

    def statuses(self, job_ids: Iterable[str]) -> dict[str, JobStatus]:
        """What is known of jobs; each one asked for is in the answer."""
        return {job_id: self.status(job_id) for job_id in job_ids}

    def status(self, job_id: str) -> JobStatus:
        """What is known of a job."""
        if not is_job_id(job_id):
            return JobStatus(job_id, JobState.UNKNOWN)
        with self._lock:
            return status_of(self._folder(job_id), job_id, self._settled(job_id))

    def items(self, job_id: str, *, offset: int, limit: int) -> Chunk:
        """The job's durable JSON lines from a byte on.

        Raises:
            PlatformError: there is no such job.
        """
        return _chunk(self._known(job_id).items, offset, limit)

    def log(self, job_id: str, *, offset: int, limit: int) -> Chunk:
        """The job's log from a byte on (negative: so many before its end).

        Raises:
            PlatformError: there is no such job.
        """
        return _chunk(self._known(job_id).log, offset, limit)

    def cancel(self, job_id: str, *, grace: float) -> None:
        """Have a job end: TERM, and KILL after ``grace`` seconds; one that waits ends at once, one that ended has.

        Raises:
            PlatformError: the disk refuses.
        """
        with self._lock:
            state = self._settled(job_id) if is_job_id(job_id) else JobState.UNKNOWN
            if state in {JobState.ENDED, JobState.UNKNOWN}:
                return
            folder = self._folder(job_id)
            try:
                folder.write("cancel", {"grace": grace})
            except OSError as exc:
                raise PlatformError(f"cannot end job {job_id}: {exc.strerror or exc}") from exc
            if state is JobState.QUEUED:
                self._end(folder, "aborted", "it was ended before it began")
            elif (supervisor := folder.supervisor()) is not None:
                with suppress(ProcessLookupError):
                    os.kill(supervisor, signal.SIGTERM)

    def forget(self, job_id: str) -> None:
        """Delete a job that has ended; one that there is not is deleted already.

        Raises:
            PlatformError: it has not ended.
        """
        with self._lock:
            state = self._settled(job_id) if is_job_id(job_id) else JobState.UNKNOWN
            if state is JobState.UNKNOWN:
                return
            if state is not JobState.ENDED:
                raise PlatformError(f"job {job_id} has not ended: cancel it first")
            gone = self.root / f".gone-{secrets.token_hex(8)}"
            self._folder(job_id).path.rename(gone)
            shutil.rmtree(gone, ignore_errors=True)

    def _folder(self, job_id: str) -> JobFolder:
        return JobFolder(self.root / job_id)

    def _known(self, job_id: str) -> JobFolder:
        if self.record(job_id) is None:
            raise PlatformError(f"no job {job_id[:80]!r} here")
        return self._folder(job_id)

    def _is_job(self, job_id: str) -> bool:
        """Whether what a sign stands for is there; a sign that is left alone goes."""
        if self._folder(job_id).has("job"):
            return True
        with suppress(FileNotFoundError):
            if time.time() - (self._active / job_id).stat().st_mtime > BEGIN:
                (self._active / job_id).unlink()
        return False

    def _place(self, job_id: str) -> tuple[float, float]:
        record = self.record(job_id) or {}
        return -record.get("options", {}).get("priority", 0.0), record.get("created_at", 0.0)

    def _reap(self) -> None:
        """Take note of our own supervisors that have ended; those that go on after us are not ours to wait for."""
        for job_id, pid in [*self._supervisors.items()]:
            with suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            del self._supervisors[job_id]

    def _spawn(self, folder: JobFolder) -> int:
        environment = {name: value for name, value in os.environ.items() if name.upper() not in _NOT_THE_JOBS}
        if self.launch.secret:
            environment[SECRET] = self.launch.secret
        with folder.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  # our own module; its argument is a path
                [sys.executable, "-m", "fetchworker.jobs", str(folder.path)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        process.returncode = 0  # reaped by us
        return process.pid

    def _settled(self, job_id: str) -> JobState:
        """Where a job is; one whose supervisor is gone without a word is ended here."""
        folder = self._folder(job_id)
        if not folder.has("job"):
            return JobState.UNKNOWN
        if not folder.has("end"):
            if folder.supervisor() is not None:
                return JobState.RUNNING
            if folder.has("start"):
                self._bury(folder)
            elif not self._beginning(job_id):
                return JobState.QUEUED
            elif not self._has_died(job_id):
                return JobState.RUNNING
            elif not folder.has("end"):
                self._end(folder, "failed", "its supervisor ended before the job began: its log says more")
        self._seen(job_id)
        return JobState.ENDED

    def _has_died(self, job_id: str) -> bool:
        """Whether the supervisor that was started last is gone."""
        with suppress(OSError, ValueError):
            pid = int((self._active / job_id).read_text().split()[1])
            return not alive(pid)
        return False

    def _beginning(self, job_id: str) -> bool:
        try:
            sign = (self._active / job_id).stat()
        except FileNotFoundError:
            return False
        return sign.st_size > 0 and time.time() - sign.st_mtime < BEGIN

    def _bury(self, folder: JobFolder) -> None:
        """End what a dead supervisor has left, and write its end."""
        known = (folder.read("family") or {}).get("processes", ())
        while left := {*marked(folder.path), *kin(known, living())}:
            kill([*left])
            time.sleep(_AGAIN)
        if folder.has("cancel"):
            self._end(folder, "aborted", "it was told to end")
        else:
            self._end(folder, "killed", "its supervisor was killed, or the machine went down")

    def _end(self, folder: JobFolder, cause: str, reason: str) -> None:
        began = folder.read("start") or {}
        told = folder.read("stats") or {}
        end = {"exit_cause": cause, "reasons": [reason], "started_at": began.get("started_at"), "ended_at": time.time()}
        with folder.locked() as free:
            if free and not folder.has("end"):
                more = {"stats": told.get("stats", {}), "spent": folder.read("spent") or {}}
                folder.write("end", {**end, "interrupted": cause == "killed", **more})
        self._seen(folder.path.name)

    def _seen(self, job_id: str) -> None:
        """The job has ended: it need not be looked at any more."""
        (self._active / job_id).unlink(missing_ok=True)


def _chunk(path: Path, offset: int, limit: int) -> Chunk:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            start = max(0, size + offset) if offset < 0 else offset
            file.seek(start)
            return Chunk(file.read(max(0, min(limit, size - start))), start, size)
    except FileNotFoundError:
        return Chunk(b"", max(0, offset), 0)
