"""What a crawl could not do, as JSON lines: failures (requests), rejects (items) and the pages that show why.

Files under ``<state dir>/crawls/<crawl id>/``, made at the first line: ``failures.jsonl``, ``rejects.jsonl`` and
``drift/`` (:mod:`fetchworker.exports.drift`).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ExportError
from fetchworker.exports.drift import DriftRecords
from fetchworker.exports.lines import LineFile
from fetchworker.exports.private import PRIVATE_FILE, private_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class CrawlRecords:
    """The record files of one crawl.

    Attributes:
        failures: how many failure lines are written.
        rejects: how many rejected items are.

    They hold what callers sent, passwords and cookies too: nobody else may read them. ``lost`` is called when a line
    cannot be written.
    """

    def __init__(self, folder: Path, lost: Callable[[ExportError], None]) -> None:
        self.folder = folder
        self.failures = 0
        self.rejects = 0
        self._lost = lost
        self._files: dict[str, LineFile] = {}
        self.drift = DriftRecords(folder / "drift")

    @property
    def failures_path(self) -> Path:
        """Where failures go."""
        return self.folder / "failures.jsonl"

    @property
    def rejects_path(self) -> Path:
        """Where rejected items go."""
        return self.folder / "rejects.jsonl"

    def failure(self, record: dict[str, Any]) -> None:
        """Write one failure line."""
        self.failures += self._write(self.failures_path, record)

    def reject(self, record: dict[str, Any]) -> None:
        """Write one rejected item with its reason."""
        self.rejects += self._write(self.rejects_path, record)

    def _write(self, path: Path, record: dict[str, Any]) -> int:
        """The number of lines written: 0 for a lost one."""
        stamped = {"at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), **record}
        try:
            self._file(path).write(_line(stamped))
        except ExportError as exc:
            self._lost(exc)
            return 0
        return 1

    def _file(self, path: Path) -> LineFile:
        file = self._files.get(path.name)
        if file is None:
            try:
                private_folder(path.parent)
            except OSError as exc:
                raise ExportError(f"cannot write {path}: {exc.strerror or exc}") from exc
            file = self._files[path.name] = LineFile(path, mode=PRIVATE_FILE)
        return file

    def close(self) -> None:
        """Put everything on disk."""
        for file in self._files.values():
            try:
                file.close()
            except ExportError as exc:
                self._lost(exc)
        self._files.clear()


def _line(record: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(record, default=str) + b"\n"
    except TypeError:  # half a character, a number beyond 64 bits, nesting without end
        return json.dumps(record, default=str).encode() + b"\n"
