"""Can a place be written? Looked at before a crawl fetches what it could not keep."""

from __future__ import annotations

import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

from fetchworker.errors import ExportError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: bytes that a folder has to take: a block of most file systems
_BLOCK = 4096


def check_folder(folder: Path) -> None:
    """Write to the folder, or to the nearest one above it that exists; nothing is left there.

    Raises:
        OSError: it takes no file, or no byte.
    """
    existing = next(place for place in _upwards(folder) if place.exists())
    with tempfile.TemporaryFile(dir=existing) as file:
        file.write(bytes(_BLOCK))
        file.flush()


def check_file(path: Path, *, alone: bool = False) -> None:
    """See that a file could be opened for writing; it is neither made nor changed.

    Args:
        path: the file.
        alone: whether nobody else may be writing it.

    Raises:
        ExportError: it could not, naming it and the reason.
    """
    try:
        if not path.exists():
            check_folder(path.parent)
        elif path.is_file() or path.is_dir():
            _open(path, alone=alone)
        elif not os.access(path, os.W_OK):  # to open a pipe and close it would end its reader
            raise PermissionError(None, "Permission denied")
    except OSError as exc:
        raise ExportError(f"cannot write {path}: {exc.strerror or exc}") from exc


def _open(path: Path, *, alone: bool) -> None:
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if alone:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise being_written(path) from None
    finally:
        os.close(fd)


def being_written(path: Path) -> ExportError:
    """What to say of a file that may not be emptied."""
    return ExportError(f"{path} is being written by another process: append (-o), or name another")


def _upwards(folder: Path) -> Iterator[Path]:
    yield from (folder.absolute(), *folder.absolute().parents)
