"""LinkedIn's parsers and outcome rules hold against what the site really sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.captures
@pytest.mark.timeout(300)
def test_linkedin_holds_against_the_recorded_pages(captures, project):
    scrapy = f"{sys.executable} -m scrapy"
    command = [sys.executable, str(captures / "check.py"), "--site", "linkedin", "--scrapy", scrapy, "--show"]
    done = subprocess.run(
        [*command, "--min-facts", "0.97", "--min-outcomes", "0.98"],
        cwd=ROOT,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
