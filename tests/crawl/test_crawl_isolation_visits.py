"""The benchmark of isolation in small, and that it finds a client which is not kept apart."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPT = Path(__file__).parents[2] / "benchmarks" / "isolation.py"
BROKEN = """
import runpy, sys
from fetchworker.download.pool import ClientPool
kept = ClientPool.get
ClientPool.get = lambda pool, key: kept(pool, key and "one for all")
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(*command: str, environment: dict[str, str]) -> tuple[int, dict]:
    arguments = [sys.executable, *command, str(SCRIPT), "--requests", "300", "--sessions", "8"]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, timeout=55, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_sessions_strangers_proxies_and_users_of_a_gateway_share_nothing(project):
    code, found = run(environment=project.environment())
    assert found["violations"] == []
    assert code == 0
    assert found["requests"] >= 300
    assert found["identities"] > 20
    assert found["exits"] > 8, "both proxies, and users of the gateway"
    assert found["resumed"] > 10, "who comes back resumes, as a browser does"
    assert found["connections"] < found["requests"] / 2, "and reuses connections"
    assert found["with_cookies"] > found["requests"] / 2


def test_one_client_for_all_is_found_out(project):
    code, found = run("-c", BROKEN, environment=project.environment())
    assert code == 1
    assert any("offered a ticket of" in told for told in found["violations"])
