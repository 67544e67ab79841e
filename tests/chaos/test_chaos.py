"""Nothing is lost or doubled when workers and Redis are killed in the midst of a crawl (benchmarks/chaos.py, small)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHAOS = Path(__file__).resolve().parents[2] / "benchmarks" / "chaos.py"
PAGES, LEAVES = 150, 30

pytestmark = pytest.mark.slow


def chaos(folder: Path, *arguments: str) -> tuple[int, dict]:
    """Exit code and report of a run."""
    command = [sys.executable, str(CHAOS), "--folder", str(folder), "--quiet", "30", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = process.communicate(timeout=150)
    finally:
        process.terminate()  # it ends what it has started
        process.wait()
    assert (folder / "report.json").exists(), said
    return process.returncode, json.loads((folder / "report.json").read_text())


@pytest.mark.timeout(180)
def test_every_page_is_stored_once_whatever_dies(tmp_path):
    disturbances = ("--workers", "2", "--kills", "6", "--stops", "1", "--redis-kills", "1")
    code, report = chaos(tmp_path, "--pages", str(PAGES), "--lease", "2", *disturbances)
    assert report["violations"] == []
    assert code == 0
    assert (report["kills"], report["stops past the lease"], report["Redis killed"]) == (6, 1, 1)
    assert report["pages"] == report["pages stored"] == PAGES + LEAVES
    assert report["tries spoilt by the upstream"] > PAGES // 5
    assert report["worker starts"] >= 8


@pytest.mark.timeout(180)
def test_every_page_is_stored_once_by_sessions_of_a_pool(tmp_path):
    """Fewer sessions than requests at once: what killed and halted workers held comes back, and nothing is in use."""
    disturbances = ("--workers", "2", "--kills", "3", "--stops", "1", "--redis-kills", "1", "--pool", "12")
    code, report = chaos(tmp_path, "--pages", "60", "--lease", "2", "--faults", "0.2", *disturbances)
    assert report["violations"] == []
    assert code == 0
    assert (report["kills"], report["stops past the lease"], report["Redis killed"]) == (3, 1, 1)
    assert report["pages"] == report["pages stored"] == 60 + 12


@pytest.mark.timeout(180)
def test_every_seed_of_the_shared_queue_is_done_whatever_dies(tmp_path):
    disturbances = ("--workers", "2", "--kills", "2", "--stops", "0", "--redis-kills", "1", "--seed", "5")
    code, report = chaos(tmp_path, "--shared", "--pages", "60", "--lease", "2", *disturbances)
    assert report["violations"] == []
    assert code == 0
    assert (report["kills"], report["Redis killed"]) == (2, 1)
    assert report["pages"] == report["pages stored"] == 60 + 12
