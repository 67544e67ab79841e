"""What docs/api.md tells to type does what it says."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from fetchworker.artifacts import ArtifactStore
from fetchworker.config import Environment
from tests.service.test_service_documents import PDF, serving_files

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "api.md").read_text()
COMMANDS = re.findall(r"^\$ (curl .*)$", TEXT, re.MULTILINE)
FETCHING = [command for command in COMMANDS if "/documents" not in command]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def documented(service, demo, tmp_path_factory):
    """A service in a shell with the demo's variables."""
    from tests.service.conftest import Serving

    made = Serving(tmp_path_factory.mktemp("documented"))
    made.project.use(demo, proxies=False)
    places = json.loads(made.project.env["FETCHWORKER_HOST_MAP"])
    with serving_files() as files:  # where the examples of documents fetch one
        own = {"example.org:80": files.removeprefix("http://")}
        made.project.env["FETCHWORKER_HOST_MAP"] = json.dumps({**places, **own})
        with made:
            yield made


def kept(documented):
    """The id of an artifact of the service."""
    store = ArtifactStore.of(Environment(state_dir=documented.project.folder / "state"))
    return asyncio.run(store.put("bundle", b"{}", "application/json")).id


def test_there_are_examples_of_all_that_it_does():
    assert len(COMMANDS) >= 12
    for part in (
        "/fetch",
        "/linktree/profile",
        "application/x-ndjson",
        "/sessions/alice",
        "/refresh",
        "/pool/fetch/lease",
        "/extend",
        "/release",
        "/quarantine",
        "/documents",
        "/artifacts?kind=bundle",
        "/browser/runs",
        "/artifacts/$ARTIFACT/data",
        "/health",
    ):
        assert any(part in command for command in COMMANDS), part


def test_no_example_goes_to_a_site_that_is_not_the_demos():
    """Those of documents tell of the reader's own files and addresses."""
    assert not [command for command in FETCHING if re.search(r"//example\.(?:com|org|net)", command)]


def test_every_curl_example_works(documented, tmp_path):
    for name in ("invoice.pdf", "receipt.jpg", "scan.pdf"):  # what they are is told by their bytes
        (tmp_path / name).write_bytes(PDF)
    with documented.client() as client:
        leases = {name: client.post("/pool/fetch/lease", json={}).json()["lease"] for name in ("$LEASE", "$OTHER")}
    named = leases | {name: kept(documented) for name in ("$ARTIFACT", "$DROPPED")}
    for command in COMMANDS:
        meant = command.replace("http://127.0.0.1:8000", documented.url)
        for name, value in named.items():
            meant = meant.replace(name, value)
        words = shlex.split(meant)
        done = subprocess.run(
            [words[0], "-sS", "-w", "\n%{http_code}", *words[1:]],
            capture_output=True, text=True, timeout=60, check=True, cwd=tmp_path,
        )  # fmt: skip
        body, status = done.stdout.rsplit("\n", 1)
        assert status in ("200", "204"), f"{command}: {status} {body}"
