"""Processes of this machine, read from Linux's ``/proc``: who descends from whom, and what they hold."""

from __future__ import annotations

import ctypes
import os
import signal
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: set in the environment of a job's processes, by which they are found when nobody is left who knows them
MARK = "FW_JOB_DIR"

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
# places in /proc/<pid>/stat behind the name (proc_pid_stat(5), 2024)
_STATE, _PARENT, _SESSION, _STARTED, _RSS = 0, 1, 3, 19, 21


#: looks after which all processes are read again
_ALL = 60


@dataclass(frozen=True, slots=True)
class Process:
    """A process; ``rss`` is its resident memory in bytes, ``started`` when it began (ticks since the machine did)."""

    pid: int
    parent: int
    rss: int
    session: int = 0
    started: int = 0


def die_with_parent(parent: int) -> None:
    """Be killed when the parent dies; at once when it has already."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parents end."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def living() -> list[Process]:
    """All processes that run; those that have ended and wait to be taken note of hold nothing."""
    return [process for pid in _pids() if (process := _read(pid)) is not None]


def alive(pid: int) -> bool:
    """Whether there is a process of this number that runs."""
    return _read(pid) is not None


def descendants(root: int) -> list[Process]:
    """All processes below one."""
    return below(root, living())


def below(root: int, processes: list[Process]) -> list[Process]:
    """Those of these processes that descend from one (pure)."""
    children = defaultdict(list)
    for process in processes:
        children[process.parent].append(process)
    found: list[Process] = []
    left = [root]
    while left:
        for process in children.pop(left.pop(), ()):
            found.append(process)
            left.append(process.pid)
    return found


class Family:
    """The processes below one, looked at again and again: those of others are read once and then left out.

    Nobody else's process becomes a descendant, so only new numbers are of interest. As numbers are used again, all are
    read now and then.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._others: set[int] = set()
        self._looks = 0

    def look(self) -> list[Process]:
        """Those that run now."""
        self._looks += 1
        pids = set(_pids())
        self._others = self._others & pids if self._looks % _ALL else set()
        read = [process for pid in pids - self._others if (process := _read(pid)) is not None]
        found = below(self._root, read)
        self._others = pids - {process.pid for process in found}
        return found


def marked(folder: Path) -> list[int]:
    """The processes of the job in this folder, whoever their parents are now."""
    wanted = f"{MARK}={folder}".encode()
    return [pid for pid in _pids() if wanted in _environment(pid) and _read(pid) is not None]


def kin(known: Iterable[Sequence[int]], processes: list[Process]) -> list[int]:
    """Which of these processes are known ones (number, begin), or in their sessions, or below either (pure).

    A number that stands for another process now has another begin; the session of one that is gone is nobody else's as
    long as somebody is in it.
    """
    there = {process.pid: process for process in processes}
    known = [(pid, started) for pid, started in known]
    same = {pid for pid, started in known if pid in there and there[pid].started == started}
    other = {pid for pid, _ in known if pid in there} - same
    first = {pid: started for pid, started in known if pid not in other}
    found = same | {each.pid for each in processes if each.session in first and each.started >= first[each.session]}
    return sorted(found | {each.pid for pid in found for each in below(pid, processes)})


def kill(pids: list[int]) -> None:
    """KILL them; those that are gone are gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> Iterator[int]:
    return (int(entry) for entry in os.listdir(_PROC) if entry.isdigit())  # noqa: PTH208  # thousands of times an hour


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:  # gone, or somebody else's
        return []


def _read(pid: int) -> Process | None:
    try:
        text = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    if fields[_STATE] in {b"Z", b"X"}:
        return None
    rss, session, started = int(fields[_RSS]) * _PAGE, int(fields[_SESSION]), int(fields[_STARTED])
    return Process(pid, int(fields[_PARENT]), rss, session, started)
