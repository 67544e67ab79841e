"""Sees a job through: starts its process, watches memory and time, ends it when told, and writes how it ended.

One process for each job, started by whoever has places for jobs and independent of it: that one may end, be killed and
come again. The job's own processes do not outlive the supervisor.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fetchworker.jobs.causes import Ending, Thresholds, judge
from fetchworker.jobs.processes import MARK, Family, Process, adopt_orphans, descendants, kill
from fetchworker.jobs.webhook import SECRET, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.jobs.folder import JobFolder

#: seconds between two looks at the job's memory
LOOK = 0.5
#: seconds between two looks at processes that were killed
_AGAIN = 0.02
#: bytes without which a disk is called full
_FULL = 1024 * 1024
_MB = 1024 * 1024


class Supervisor:
    """The supervisor of one job, in a process of its own.

    Args:
        folder: the job's.
        record: its ``job.json``.
    """

    def __init__(self, folder: JobFolder, record: Mapping[str, Any]) -> None:
        self._folder = folder
        self._record = record
        self._options: Mapping[str, Any] = record["options"]
        self._main: int | None = None
        self._status: int | None = None
        self._peak = 0
        self._family = Family(os.getpid())
        self._started = time.time()
        self._begun = time.monotonic()
        self._known: list[list[int]] = []
        self._stopped: tuple[str, str] | None = None
        self._interrupted = False
        self._kill_at: float | None = None
        self._grace = float(record["grace"])
        self._woken, self._wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def run(self) -> None:
        """See the job through; returns when its processes are gone and its end is written."""
        self._listen()
        adopt_orphans()
        fault: OSError | None = None
        try:
            self._prepare()
            if not self._folder.has("cancel"):
                self._start()
        except OSError as exc:
            fault = exc
        if self._main is None and fault is None:
            self._stopped = ("aborted", "it was ended before it began")
        while self._main is not None and self._status is None:
            self._turn()
        self._clear()
        self._finish(fault)

    def _listen(self) -> None:
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _prepare(self) -> None:
        for name in ("stats", "spent", "end"):
            self._folder.reserve(name)
        self._folder.write("start", {"pid": os.getpid(), "started_at": self._started})

    def _start(self) -> None:
        own = {MARK: str(self._folder.path), "PYTHONUNBUFFERED": "1"}
        inherited = {name: value for name, value in os.environ.items() if name != SECRET}
        with self._folder.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603  # a module of ours or the node's, a path and a number
                [sys.executable, "-m", self._record["runner"], str(self._folder.path), str(os.getpid())],
                env={**inherited, **self._record["environment"], **own},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._main = process.pid
        process.returncode = 0  # reaped here, with all other descendants
        with suppress(OSError):  # it runs, whoever is told of its number
            self._folder.write("start", {"pid": os.getpid(), "started_at": self._started, "main": process.pid})

    def _turn(self) -> None:
        """Wait for news or for the next look, and act on what is there."""
        ready, _, _ = select.select([self._woken], [], [], self._patience())
        if ready:
            self._hear(os.read(self._woken, 512))
        self._reap()
        if self._status is None:
            self._look()

    def _patience(self) -> float:
        now = time.monotonic()
        return LOOK if self._kill_at is None else max(0.0, min(LOOK, self._kill_at - now))

    def _hear(self, numbers: bytes) -> None:
        """A TERM is the word of somebody who wants the job to end, or this machine to."""
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            cancel = self._folder.read("cancel")
            if cancel is None:
                self._interrupted = self._stopped is None
                self._stop("killed", "its supervisor was told to end, as when the machine goes down")
                return
            self._grace = float(cancel.get("grace", self._grace))
            self._stop("aborted", "it was told to end")

    def _look(self) -> None:
        family = self._family.look()
        self._note(family)
        memory = sum(process.rss for process in family)
        self._peak = max(self._peak, memory)
        limit, timeout = self._options["memory_mb"], self._options["timeout_sec"]
        if limit is not None and memory > limit * _MB:
            self._stop("oom", f"its processes held {memory / _MB:.0f} MB, {limit} are allowed")
            self._kill_at = time.monotonic()  # it goes on growing meanwhile
        if timeout is not None and time.monotonic() - self._begun > timeout:
            self._stop("timed_out", f"it ran longer than {timeout:g} seconds")
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            kill([process.pid for process in descendants(os.getpid())])

    def _note(self, family: list[Process]) -> None:
        """Write down who is there, as nobody else knows should this process be killed.

        Those in the job's session are found by the one that it is called by.
        """
        known = sorted(
            [each.pid, each.started] for each in family if each.session != self._main or each.pid == self._main
        )
        if known != self._known:
            self._known = known
            with suppress(OSError):  # it is for the worst alone
                self._folder.write("family", {"processes": known})

    def _stop(self, why: str, detail: str) -> None:
        """TERM to the job's group, once; KILL to all when the grace is over."""
        if self._stopped is not None:
            return
        self._stopped = (why, detail)
        self._kill_at = time.monotonic() + self._grace
        assert self._main is not None
        with suppress(ProcessLookupError):
            os.killpg(self._main, signal.SIGTERM)

    def _reap(self) -> None:
        """Take note of descendants that have ended."""
        with suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._main:
                    self._status = status
                    self._peak = max(self._peak, usage.ru_maxrss * 1024)

    def _clear(self) -> None:
        """End what the job's process has left behind."""
        while left := descendants(os.getpid()):
            kill([process.pid for process in left])
            time.sleep(_AGAIN)
            self._reap()

    def _finish(self, fault: OSError | None) -> None:
        ending, told = self._ending(fault)
        cause, reasons = judge(ending, Thresholds(**told.get("thresholds", {})))
        end = {
            "exit_cause": cause,
            "reasons": list(reasons),
            "interrupted": self._interrupted,
            "exit_code": ending.exit_code,
            "signal": ending.signal,
            "peak_rss": self._peak,
            "started_at": self._started,
            "ended_at": time.time(),
            "stats": dict(ending.stats),
            "spent": self._folder.read("spent") or {},
        }
        self._folder.write("end", end)
        tell(self._record.get("webhook"), os.environ.get(SECRET), self._record["job_id"], end)

    def _ending(self, fault: OSError | None) -> tuple[Ending, dict[str, Any]]:
        told = self._folder.read("stats") or {}
        code = None if self._status is None else os.waitstatus_to_exitcode(self._status)
        stopped, detail = self._stopped or (None, "")
        refused = told.get("refused")
        ending = Ending(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            stopped=stopped,
            detail=detail,
            finish_reason=told.get("finish_reason"),
            stats=told.get("stats", {}),
            refused=(refused[0], refused[1]) if refused else None,
            fault=fault,
            disk_full=shutil.disk_usage(self._folder.path).free < _FULL,
        )
        return ending, told
