"""The recorded pages: parsers and outcome rules hold against what sites really sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.captures
@pytest.mark.timeout(300)
def test_instagram_holds_against_the_recorded_pages(captures, project):
    done = subprocess.run(
        [
            sys.executable,
            str(captures / "check.py"),
            "--site",
            "instagram",
            "--scrapy",
            f"{sys.executable} -m scrapy",
            "--min-outcomes",
            "0.95",
            "--show",
        ],
        cwd=ROOT,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
