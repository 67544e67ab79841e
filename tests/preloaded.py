"""Python modules in forks of a process that has done their imports: most of what a short command costs.

Each is a process of its own still, with the environment, folder and files that it is given. ``TESTS_PRELOAD=0``
starts Python anew for each.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

PIPE = subprocess.PIPE
SERVER = Path(__file__).with_name("_preloaded.py")
ROOT = SERVER.parent.parent
#: what Python reads before its first import, but for what a fork reads anew
_EARLY = ("PYTHON", "LC_", "LANG", "LD_")
_ANEW = ("PYTHONPATH", "PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE")


@cache
def _control() -> socket.socket:
    """What commands are given to: the process that is forked."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, str(SERVER), str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
    theirs.close()

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours


class Popen(subprocess.Popen):
    """``subprocess.Popen`` of ``[sys.executable, "-m", module, …]``; of anything else the plain one."""

    _told: Any = None

    def _execute_child(self, *args: Any, **options: Any) -> None:
        given = inspect.signature(super()._execute_child).bind(*args, **options).arguments
        if not may_fork(given):
            super()._execute_child(*args, **options)
            return
        ours, theirs = os.pipe()
        env = os.environ if given["env"] is None else given["env"]
        message = {"argv": given["args"][2:], "env": dict(env), "cwd": str(given["cwd"] or Path.cwd())}
        message["session"] = bool(given["start_new_session"])
        files = [
            given[name] if given[name] != -1 else own for own, name in enumerate(("p2cread", "c2pwrite", "errwrite"))
        ]
        socket.send_fds(_control(), [json.dumps(message).encode()], [*files, theirs])
        os.close(theirs)
        self._told = os.fdopen(ours, "rb")
        self.pid = int(self._told.readline())
        self._child_created = True
        names = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
        self._close_pipe_fds(*(given[name] for name in names))

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._told is None:
            return super()._try_wait(wait_flags)
        if wait_flags & os.WNOHANG and not select.select([self._told], [], [], 0)[0]:
            return 0, 0
        status = self._told.readline()
        self._told.close()
        return self.pid, int(status or signal.SIGKILL)

    def _internal_poll(self, *args: Any, **options: Any) -> int | None:
        if self._told is None:
            return super()._internal_poll(*args, **options)
        if self.returncode is None and self._waitpid_lock.acquire(blocking=False):
            try:
                pid, status = (0, 0) if self.returncode is not None else self._try_wait(os.WNOHANG)
                if pid:
                    self._handle_exitstatus(status)
            finally:
                self._waitpid_lock.release()
        return self.returncode


def may_fork(given: dict[str, Any]) -> bool:
    """Whether a fork is what a new Python would be."""
    if sys.platform != "linux" or os.environ.get("TESTS_PRELOAD") == "0" or given["preexec_fn"] or given["pass_fds"]:
        return False
    if not isinstance(given["args"], list) or given["args"][:2] != [sys.executable, "-m"]:
        return False
    folder = Path(given["cwd"] or ".").resolve()
    if folder != ROOT and (folder / "fetchworker").exists():
        return False  # a copy of ours, which is to be imported
    return given["env"] is None or _early(given["env"]) == _early(dict(os.environ))


def _early(env: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_EARLY) and name not in _ANEW}


def run(command: list[str], *, timeout: float, stdin: str | None = None, **options: Any) -> Any:
    """``subprocess.run`` of a module: what it told, in text, and its exit status."""
    options = {"stdout": PIPE, "stderr": PIPE, "text": True, "stdin": None if stdin is None else PIPE, **options}
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(stdin, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
