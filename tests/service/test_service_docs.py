"""What docs/api.md tells to type does what it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "api.md").read_text()
COMMANDS = re.findall(r"^\$ (curl .*)$", TEXT, re.MULTILINE)
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def documented(service, demo, tmp_path_factory):
    """A service for which example.com is a site of the demo."""
    from tests.service.conftest import Serving

    made = Serving(tmp_path_factory.mktemp("documented"))
    made.project.use(demo, proxies=False)
    places = json.loads(made.project.env["FETCHWORKER_HOST_MAP"])
    upstream = next(place for host, place in places.items() if host.startswith("lab.example"))
    made.project.env["FETCHWORKER_HOST_MAP"] = json.dumps(
        {**places, "example.com:80": f"127.0.0.1:{demo.http_port}"},
    )
    assert upstream
    with made:
        yield made


def test_there_are_examples_of_all_that_it_does():
    assert len(COMMANDS) >= 12
    for part in (
        "/fetch",
        "/linktree/profile",
        "application/x-ndjson",
        "/sessions/alice",
        "/refresh",
        "/pool/",
        "/health",
    ):
        assert any(part in command for command in COMMANDS), part


def test_every_curl_example_works(documented):
    for command in COMMANDS:
        words = shlex.split(command.replace("http://127.0.0.1:8000", documented.url))
        done = subprocess.run(
            [words[0], "-sS", "-w", "\n%{http_code}", *words[1:]],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        body, status = done.stdout.rsplit("\n", 1)
        assert status in ("200", "204"), f"{command}: {status} {body}"
