"""``scrapy serve --reload``: the service in a process of its own, started anew when a source file changes."""

from __future__ import annotations

import logging
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger(__name__)

_TICK = 0.5
_PACKAGE = Path(__file__).parents[1]
_KINDS = (".py", ".yaml", ".lua")
_ENDING = 15


def run_again(command: Sequence[str], *, folder: Path = _PACKAGE, tick: float = _TICK) -> int:
    """Run ``command``, and again whenever a file in ``folder`` changed; its exit code when it ends by itself.

    Args:
        command: of the service.
        folder: what is watched.
        tick: seconds between two looks.
    """
    while True:
        seen = _look(folder)
        process = subprocess.Popen(command)  # noqa: S603  # our own command line
        try:
            while process.poll() is None and _look(folder) == seen:
                time.sleep(tick)
        except KeyboardInterrupt:  # the terminal has told the service as well
            return process.wait()
        if process.returncode is not None:
            return process.returncode
        logger.info("a source file changed: starting anew")
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _look(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in _KINDS and path.exists()}
