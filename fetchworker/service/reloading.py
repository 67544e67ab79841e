"""``scrapy serve --reload``: the service in a process of its own, started anew when a source file changes."""

from __future__ import annotations

import logging
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

logger = logging.getLogger(__name__)

_TICK = 0.5
_PACKAGE = Path(__file__).parents[1]
_KINDS = (".py", ".yaml", ".lua")
_ENDING = 15
#: from here on, as below 0, a signal ended it
_SIGNALS = 128


def run_again(
    command: Sequence[str], *, folder: Path = _PACKAGE, also: Sequence[Path] = (), tick: float = _TICK
) -> int:
    """Run ``command``, and again whenever a file changed; its exit code when it was told to end.

    One that failed, over a file that is half written say, waits for the next change.

    Args:
        command: of the service.
        folder: what is watched.
        also: files that are watched beside it.
        tick: seconds between two looks.
    """
    while True:
        seen = _look(folder, also)
        process = subprocess.Popen(command)  # noqa: S603  # our own command line
        try:
            with _ends_it(process):
                while process.poll() is None and _look(folder, also) == seen:
                    time.sleep(tick)
                if _failed(process.returncode):
                    logger.warning("it ended with %d: waiting for a file to change", process.returncode)
                    while _look(folder, also) == seen:
                        time.sleep(tick)
        except KeyboardInterrupt:  # the terminal has told the service as well
            return _told(process.wait())
        if process.returncode is not None and not _failed(process.returncode):
            return _told(process.returncode)
        logger.warning("a file changed: starting anew")
        _end(process)


@contextmanager
def _ends_it(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Who ends the watcher ends the service with it."""

    def told(_: int, __: FrameType | None) -> None:
        process.send_signal(signal.SIGTERM)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, told)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _told(code: int) -> int:
    """An exit code as shells tell it."""
    return _SIGNALS - code if code < 0 else code


def _failed(code: int | None) -> bool:
    return code is not None and 0 < code < _SIGNALS


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _look(folder: Path, also: Sequence[Path]) -> dict[Path, int]:
    found = {}
    for path in (*(path for path in folder.rglob("*") if path.suffix in _KINDS), *also):
        try:
            found[path] = path.stat().st_mtime_ns
        except OSError:  # an editor puts it in place just now
            continue
    return found
