"""A copy of the project that a test may write in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".fetchworker", ".hypothesis", "__pycache__", "build",
                                   "dist", "*.egg-info", "demo-out")  # fmt: skip


@dataclass
class Copy:
    """The project in a folder of its own; commands run there and import what is there."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def python(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        ours = ("FETCHWORKER_", "REDIS_URL", "PYTEST_")
        clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**clean, "FETCHWORKER_REDIS_KEEP_RUNNING": "false", "PYTHONDONTWRITEBYTECODE": "1", **self.env},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            **options,
        )

    def scrapy(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "scrapy", *arguments, **options)

    def files(self) -> dict[str, bytes]:
        """What stands in it, by path."""
        found = (path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}


def copied(folder: Path) -> Copy:
    shutil.copytree(ROOT, folder, ignore=_LEFT_OUT, symlinks=True)
    return Copy(folder)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A fresh copy for each test."""
    return copied(tmp_path / "project")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy with new sites of several names in it."""
    made = copied(tmp_path_factory.mktemp("grown") / "project")
    made.before = made.files()
    made.told = {}
    for name, *options in SITES:
        done = made.scrapy("newsite", name, *options)
        assert done.returncode == 0, done.stderr
        made.told[name] = done.stdout
    return made


#: the shortest and the longest names, before and after others in the order of imports
SITES = (
    ("shop",),
    ("aa", "--domain", "www.aa.example", "--operation", "x"),
    ("z" * 29 + "9", "--domain", f"{'d' * 60}.{'e' * 10}.example", "--operation", "o" * 29 + "9"),
    ("base_camp", "--operation", "list_all"),
)
