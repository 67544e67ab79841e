"""The folder of one job: what it is, that it runs, how it ended, its items and its log.

``job.json`` what was asked for · ``start.json`` that a supervisor has begun · ``cancel.json`` that it shall end ·
``family.json`` its processes ·
``stats.json`` what the crawl told at its end ·
``spent.json`` what it has cost so far · ``end.json`` how it ended · ``items.jsonl`` · ``log``. Whoever holds the
lock on ``lock`` is the job's supervisor, as long as it lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from fetchworker.exports.private import private_opener

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: bytes kept free for what has to be written on a full disk as well
RESERVE = 64 * 1024
_FLOCK = "@hhqqi"  # struct flock of 64-bit Linux: type, whence, start, length, pid


class JobFolder:
    """A job's folder. Everything written is whole or not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items = path / "items.jsonl"
        self.log = path / "log"

    def read(self, name: str) -> dict[str, Any] | None:
        """``<name>.json``; None where there is none, or none that can be read."""
        try:
            found = json.loads((self.path / f"{name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def has(self, name: str) -> bool:
        """Whether there is a ``<name>.json``."""
        return (self.path / f"{name}.json").exists()

    def write(self, name: str, value: Mapping[str, Any]) -> None:
        """Write ``<name>.json``, in the place that :meth:`reserve` kept for it where it did.

        Raises:
            OSError: the disk refuses.
        """
        temporary = self.path / f".{name}"
        data = json.dumps(value, ensure_ascii=False).encode()
        with open(temporary, "r+b" if temporary.exists() else "wb", opener=private_opener) as file:
            file.write(data)
            file.flush()
            file.truncate(len(data))
            os.fsync(file.fileno())
        temporary.replace(self.path / f"{name}.json")
        self._sync()

    def reserve(self, name: str) -> None:
        """Keep place on the disk for ``<name>.json``.

        Raises:
            OSError: there is none.
        """
        with open(self.path / f".{name}", "wb", opener=private_opener) as file:
            os.posix_fallocate(file.fileno(), 0, RESERVE)

    def size(self) -> int:
        """Bytes of the items' file."""
        try:
            return self.items.stat().st_size
        except OSError:
            return 0

    def supervisor(self) -> int | None:
        """The process that holds the job's lock; None when nobody does."""
        try:
            fd = os.open(self.path / "lock", os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        finally:
            os.close(fd)
        return None if kind == fcntl.F_UNLCK else pid

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Hold the job's lock; gives whether it was free. The lock goes with the process."""
        fd = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
            else:
                yield True
        finally:
            os.close(fd)

    def _sync(self) -> None:
        with suppress(OSError):
            fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
