"""Locks, files and sockets that :mod:`fetchworker._redis_server` is made of."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: how errors end: what the user can do instead
WAY_OUT = "or set REDIS_URL to a server that runs already"

_MAX_SOCKET_PATH = 100  # bytes; the kernel's limit is 108 on Linux and 104 on macOS


def make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def open_lock(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


@contextmanager
def locked(path: Path, *, wait: float) -> Iterator[None]:
    """Hold a lock against all other processes and threads; ``wait`` seconds at most for those who have it now."""
    lock = open_lock(path)
    try:
        for pause in pauses(wait):
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            time.sleep(pause)
        else:
            raise RedisUnavailableError(f"another process has held {path} for {wait:g} s. End it, {WAY_OUT}")
        yield
    finally:
        os.close(lock)


def is_held(path: Path) -> bool:
    """Whether anyone holds the lock, shared or not."""
    lock = open_lock(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def pauses(wait: float) -> Iterator[float]:
    """Growing pauses between looks, for ``wait`` seconds; at least one look."""
    pause, deadline = 0.002, time.monotonic() + wait
    yield pause
    while time.monotonic() < deadline:
        pause = min(0.1, pause * 1.5)
        yield pause


def ask(path: Path, command: bytes) -> bytes | None:
    """The first bytes of the answer (none when the server hangs up), or None when nobody answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(2.0)
        try:
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(512)
        except OSError:
            return None


def socket_path(folder: Path) -> Path:
    """In the folder; where that path is too long for a socket, in a private runtime or temporary folder."""
    short = f"fetchworker-{os.geteuid()}-{hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]}"
    if _fits(folder / "redis.sock"):
        return folder / "redis.sock"
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108 (owner checked below)
        if base and _fits(Path(base) / short / "redis.sock") and _make_own(Path(base) / short):
            return Path(base) / short / "redis.sock"
    raise RedisUnavailableError(f"the path of {folder} is too long for a socket. Shorten it, {WAY_OUT}")


def _make_own(place: Path) -> bool:
    """Make a folder for this user alone; False where that cannot be."""
    try:
        place.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    found = place.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def _fits(path: Path) -> bool:
    """Short enough for the kernel, and text, since redis-py takes a socket as part of a URL."""
    try:
        return len(str(path).encode()) <= _MAX_SOCKET_PATH
    except UnicodeEncodeError:
        return False


def has_open(pid: int, path: Path) -> bool:
    """Whether a process has a file open; never certain without /proc."""
    try:
        return any(entry.samefile(path) for entry in Path(f"/proc/{pid}/fd").iterdir() if entry.exists())
    except OSError:
        return False


def write(path: Path, content: bytes) -> None:
    """Whole or not at all, readable for the owner."""
    new = path.with_name(f"{path.name}.new")
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:  # noqa: PTH123 (a mode)
        file.write(content)
    new.replace(path)


def quoted(path: Path) -> str:
    """A path in Redis's configuration syntax."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "\\r") + '"'


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
