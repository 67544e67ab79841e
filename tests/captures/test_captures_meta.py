"""The recorded pages of Facebook, Threads and the Ad Library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.captures
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("site", "outcomes"),
    [("facebook", "0.98"), ("threads", "0.98"), ("meta", "0.98")],
)
def test_parsers_hold_against_the_recorded_pages(captures, project, site, outcomes):
    check = [
        sys.executable,
        str(captures / "check.py"),
        "--site",
        site,
        "--scrapy",
        f"{sys.executable} -m scrapy",
        "--show",
    ]
    done = subprocess.run(
        [*check, "--min-facts", "0.97", "--min-outcomes", outcomes],
        cwd=ROOT,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
