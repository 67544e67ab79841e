"""The folder of an engine: what its processes are started by, their ids, and what they leave on disk."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from fetchworker.errors import BrowserError

_PREFIX = "fetchworker-browser-"
_OURS = re.compile(_PREFIX + r"(\d+)-.*")
_BOUND = Path(__file__).with_name("_bound.py")


class EnginePlace:
    """A private folder below the machine's folder for temporary files; those of processes that are gone are swept.

    Raises:
        BrowserError: it cannot be made.
    """

    def __init__(self) -> None:
        sweep()
        try:
            self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
            self.temporary.mkdir()
            self.home.mkdir()
        except OSError as exc:
            told = f"no folder for the browser in {tempfile.gettempdir()}: {exc.strerror}; TMPDIR names another one"
            raise BrowserError("browser_process", told) from exc

    @property
    def temporary(self) -> Path:
        """Where the driver and the browser put temporary files, profiles and downloads."""
        return self.path / "tmp"

    @property
    def home(self) -> Path:
        """The browser's HOME: it must not see a user's certificates, nor leave traces there."""
        return self.path / "home"

    def bound(self, name: str, program: str, *, parent: int = 0, unset: tuple[str, ...] = ()) -> str:
        """Write a command that starts ``program`` so that it dies with its parent; :meth:`pid` tells its id then."""
        script = self.path / name
        before = [f"unset {variable}" for variable in unset]
        python = [sys.executable, "-IS", str(_BOUND), str(self.path / f"{name}.pid"), str(parent), program]
        lines = [
            "#!/bin/sh",
            *before,
            f"TMPDIR={shlex.quote(str(self.temporary))}; export TMPDIR",
            f'exec {shlex.join(python)} "$@"',
            "",
        ]
        script.write_text("\n".join(lines))
        script.chmod(0o700)
        return str(script)

    def pid(self, name: str) -> int | None:
        """The id of the process that was started last by this command."""
        with suppress(OSError, ValueError):
            return int((self.path / f"{name}.pid").read_text())
        return None

    def remove(self) -> None:
        """Forget it all."""
        shutil.rmtree(self.path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        found = _OURS.fullmatch(folder.name)
        with suppress(OSError):
            if found and folder.stat().st_uid == os.getuid() and not _alive(int(found[1])):
                shutil.rmtree(folder, ignore_errors=True)


def kill_group(pid: int | None) -> None:
    """End a process that leads a group, with all that is in it."""
    if pid is not None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
