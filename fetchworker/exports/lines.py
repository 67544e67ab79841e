"""JSON lines that are whole and on disk.

Each line is one ``write`` to a file opened for appending, so that a killed process leaves whole lines; ``fsync`` runs
in batches in a thread, and :meth:`LineFile.durable` waits for the batch that holds all lines written so far.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Self

import orjson

from fetchworker.errors import ExportError
from fetchworker.exports.probe import being_written

#: how long (seconds) a batch gathers lines before it is synced
BATCH_WINDOW = 0.01
_TAIL = 64 * 1024


class LineFile:
    """A file of JSON lines, opened for appending.

    With ``overwrite`` the file starts anew; else a torn last line, left by a crash, is cut off first. Not thread-safe;
    two processes may append to one file.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False, mode: int = 0o644) -> None:
        self.path = Path(path)
        # counts of lines: a line is on disk when the second count has passed it
        self._written = self._synced = 0
        #: why nothing more is written: after a line that was lost none may follow, its cursor would lead past it
        self.failed: ExportError | None = None
        self._batch: asyncio.Task[None] | None = None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, mode)
            self.repaired = self._start_anew() if overwrite else self._repair()
            fcntl.flock(self._fd, fcntl.LOCK_SH)
        except OSError as exc:
            raise ExportError(f"cannot write {self.path}: {exc.strerror or exc}") from exc

    def _start_anew(self) -> int:
        """Empty the file, unless another process writes it."""
        if os.path.isfile(self.path):  # noqa: PTH113  # a pipe or a terminal holds nothing
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(self._fd)
                raise being_written(self.path) from None
            os.ftruncate(self._fd, 0)
        return 0

    def _repair(self) -> int:
        """Cut a torn last line; returns the bytes cut. Nothing is cut while another process writes the file."""
        if not os.path.isfile(self.path):  # noqa: PTH113  # a pipe or a terminal has no last line
            return 0
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0
        size = os.fstat(self._fd).st_size
        start = _last_line_start(self._fd, size)
        if start == size:
            return 0
        if is_json(os.pread(self._fd, size - start, start)):
            os.write(self._fd, b"\n")
            return 0
        os.ftruncate(self._fd, start)
        return size - start

    def write(self, line: bytes) -> None:
        """Append one line, its line end included.

        Raises:
            ExportError: the disk took less than the line; what it took is taken back.
        """
        if self.failed is not None:
            raise self.failed
        try:
            written = os.write(self._fd, line)
        except OSError as exc:
            self.failed = ExportError(f"cannot write {self.path}: {exc.strerror or exc}")
            raise self.failed from exc
        if written != len(line):
            self._take_back(written)
            self.failed = ExportError(f"cannot write {self.path}: no space left for a whole line")
            raise self.failed
        self._written += 1

    def _take_back(self, written: int) -> None:
        """Undo the half line that this process has just written, and nothing that another one wrote behind it."""
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            return  # what a pipe took is gone
        end = os.lseek(self._fd, 0, os.SEEK_CUR)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = os.fstat(self._fd).st_size == end
        except BlockingIOError:
            alone = False
        if alone:
            os.ftruncate(self._fd, end - written)
        else:
            self._blank(end - written, written)
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def _blank(self, start: int, length: int) -> None:
        """Put blanks, which JSON allows before a line, where the half line was."""
        flags = fcntl.fcntl(self._fd, fcntl.F_GETFL)
        fcntl.fcntl(self._fd, fcntl.F_SETFL, flags & ~os.O_APPEND)  # with it Linux writes at the end alone
        try:
            os.pwrite(self._fd, b" " * length, start)
        finally:
            fcntl.fcntl(self._fd, fcntl.F_SETFL, flags)

    async def durable(self) -> None:
        """Return when every line written so far is on disk.

        Raises:
            ExportError: the disk refuses.
        """
        if self.failed is not None:
            raise self.failed
        wanted = self._written
        while self._synced < wanted:
            if self._batch is None:
                self._batch = asyncio.create_task(self._sync_batch())
            await asyncio.shield(self._batch)

    async def _sync_batch(self) -> None:
        await asyncio.sleep(BATCH_WINDOW)
        covered = self._written
        try:
            await asyncio.get_running_loop().run_in_executor(None, _fdatasync, self._fd, self.path)
            self._synced = covered
        except ExportError as exc:
            self.failed = exc  # the kernel reports a lost page once: a later sync would say that all is well
            raise
        finally:
            self._batch = None

    def sync(self) -> None:
        """Put everything on disk now, blocking."""
        covered = self._written
        try:
            _fdatasync(self._fd, self.path)
        except ExportError as exc:
            self.failed = exc  # as above
            raise
        self._synced = covered

    def close(self) -> None:
        """Sync and close."""
        if self._fd >= 0:
            try:
                self.sync()
            finally:
                os.close(self._fd)
                self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_json(line: bytes) -> bool:
    """Whether a line is a whole JSON value."""
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _last_line_start(fd: int, size: int) -> int:
    """Where the last line begins that has no line end; the file's size when all lines have one."""
    end = size
    while end > 0:
        start = max(0, end - _TAIL)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _fdatasync(fd: int, path: Path) -> None:
    try:
        os.fdatasync(fd)
    except OSError as exc:
        # pipes, terminals and some file systems know no fsync
        if exc.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise ExportError(f"cannot sync {path}: {exc.strerror or exc}") from exc
