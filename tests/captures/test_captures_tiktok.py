"""The recorded pages of TikTok Shop and of its ads: parsers and rules hold against what the site really sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.captures
@pytest.mark.timeout(300)
@pytest.mark.parametrize("site", ["tiktok_shop", "tiktok_ads"])
def test_the_recorded_pages_are_read(captures, project, site):
    command = [sys.executable, str(captures / "check.py"), "--site", site, "--show", "--min-facts", "0.97",
               "--min-outcomes", "0.98", "--scrapy", f"{sys.executable} -m scrapy"]  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=project.environment(), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
