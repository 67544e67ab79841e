"""The demo in a process of its own, for tests and scripts that are not asynchronous."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from fetchworker.demo.log import Record, read_log

_START_SECONDS = 30.0
_STOP_SECONDS = 10.0


class DemoProcess:
    """Runs ``python -m fetchworker.demo serve``; a context manager.

    Args:
        state_dir: where the process keeps ``ca.pem``, ``log.jsonl`` and ``stderr.txt``.
        arguments: more of the command line, such as ``("--behaviour", "demo", "--proxies", "3")``.

    Attributes:
        ready: what the process said when it was up (see ``serve --help``).
    """

    def __init__(self, state_dir: Path | str, *arguments: str) -> None:
        self.state_dir = Path(state_dir)
        self.arguments = arguments
        self.ready: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    @property
    def ca(self) -> str:
        """Path of the certificate that clients have to trust."""
        return str(self.ready["upstream"]["ca"])

    @property
    def https_port(self) -> int:
        """Where the upstream speaks TLS."""
        return int(self.ready["upstream"]["https_port"])

    @property
    def http_port(self) -> int:
        """Where the upstream speaks plain HTTP."""
        return int(self.ready["upstream"]["http_port"])

    @property
    def proxies(self) -> list[str]:
        """Addresses of the proxies, with credentials made for this start."""
        return list(self.ready["proxies"])

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None, "not started"
        return self._process.pid

    def start(self) -> None:
        """Start the process and wait until it serves.

        Raises:
            RuntimeError: it ended, or said nothing for half a minute.
        """
        self.state_dir.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "fetchworker.demo",
            "serve",
            "--state-dir",
            str(self.state_dir),
            *self.arguments,
        ]
        with self._stderr.open("wb") as stderr:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        try:
            self.ready = json.loads(self._first_line())
        except ValueError as exc:
            self.stop()
            raise RuntimeError(f"the demo did not start:\n{self._stderr.read_text()[-2000:]}") from exc

    def stop(self) -> None:
        """End the process; without effect when it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(BrokenPipeError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def log(self, kind: str | None = None) -> list[Record]:
        """What the upstream and the proxies wrote down so far, all of it or the records of one type."""
        return [record for record in read_log(self.state_dir / "log.jsonl") if kind in (None, record["type"])]

    @property
    def _stderr(self) -> Path:
        return self.state_dir / "stderr.txt"

    def _first_line(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        end = time.monotonic() + _START_SECONDS
        while time.monotonic() < end and self._process.poll() is None:
            if select.select([self._process.stdout], [], [], 0.2)[0]:
                return self._process.stdout.readline()
        return b""
