"""What a crawl could not do, as JSON lines: failures (requests), rejects (items) and the pages that show why.

Files under ``<state dir>/crawls/<crawl id>/``, made at the first line: ``failures.jsonl``, ``rejects.jsonl`` and
``drift/`` (:mod:`fetchworker.exports.drift`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.exports.drift import DriftRecords
from fetchworker.exports.lines import LineFile

if TYPE_CHECKING:
    from pathlib import Path


class CrawlRecords:
    """The record files of one crawl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.failures = 0
        self.rejects = 0
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
        self.failures += 1
        self._write(self.failures_path, record)

    def reject(self, record: dict[str, Any]) -> None:
        """Write one rejected item with its reason."""
        self.rejects += 1
        self._write(self.rejects_path, record)

    def _write(self, path: Path, record: dict[str, Any]) -> None:
        file = self._files.get(path.name)
        if file is None:
            file = self._files[path.name] = LineFile(path)
        stamped = {"at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), **record}
        file.write(orjson.dumps(stamped, default=str) + b"\n")

    def close(self) -> None:
        """Put everything on disk."""
        for file in self._files.values():
            file.close()
        self._files.clear()
