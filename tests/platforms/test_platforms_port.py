"""What the port promises, on both adapters, with real processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from fetchworker.errors import ConfigError, PlatformError
from fetchworker.jobs.folder import JobFolder
from fetchworker.platforms import JobOptions, JobSpec, JobState

from .conftest import SECRET, ended, odd, state, there

pytestmark = pytest.mark.slow


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_jobs_end_with_their_causes(place):
    async with place.open(slots=4) as platform:
        jobs = {
            "ok": odd("ok", "lines"),
            "start": odd("start", "starts"),
            "import": odd("import", "broken"),
            "oom": odd("oom", "grows", memory_mb=250),
            "dies": odd("dies", "dies"),
            "late": odd("late", "hangs", {"told": str(place.folder / "late")}, timeout_sec=4),
        }
        placed = {name: await platform.spawn(spec) for name, spec in jobs.items()}
        assert all(placement.fresh for placement in placed.values())
        ends = {name: await ended(platform, placement) for name, placement in placed.items()}
        causes = {name: end.exit_cause for name, end in ends.items()}
        assert causes == {
            "ok": "ok", "start": "failed", "import": "failed", "oom": "oom", "dies": "killed", "late": "timed_out",
        }  # fmt: skip
        assert ends["ok"].exit_code == 0
        assert ends["ok"].stats["item_scraped_count"] == 3
        assert (ends["dies"].exit_code, ends["dies"].signal) == (None, signal.SIGKILL)
        assert "250 are allowed" in ends["oom"].reasons[0]
        assert ends["oom"].peak_rss > 250 * 1024 * 1024
        assert "longer than 4 seconds" in ends["late"].reasons[0]
        assert all(end.started_at <= end.ended_at for end in ends.values())
        log = await platform.log(placed["import"].node, "import", offset=0, limit=1 << 20)
        assert b"no_such_module" in log.data
