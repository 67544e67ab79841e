"""The end of a process that somebody else started, and how much memory a group of processes holds."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PROC = Path("/proc")
_GROUP = 2  # place of the process group in /proc/PID/stat, counted after the name
_PAGE = os.sysconf("SC_PAGE_SIZE")
_RESIDENT = 1  # place in /proc/PID/statm


class EndWatch:
    """Calls ``ended`` once when a process ends, however it does; where the system cannot tell (not Linux), never."""

    def __init__(self, pid: int, ended: Callable[[], None]) -> None:
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._descriptor: int | None = None
        if hasattr(os, "pidfd_open"):
            try:
                self._descriptor = os.pidfd_open(pid)
            except ProcessLookupError:  # it has ended already
                self._loop.call_soon(ended)
                return
            except OSError:
                return
            self._loop.add_reader(self._descriptor, self._notice)

    def _notice(self) -> None:
        self.close()
        self._ended()

    def close(self) -> None:
        """Watch no longer."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)


def group_memory(leader: int) -> int:
    """Resident bytes of the processes of a group; 0 where the system does not tell."""
    found = 0
    for folder in _PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[_GROUP]) == leader:
                found += int((folder / "statm").read_text().split()[_RESIDENT]) * _PAGE
    return found
