"""`scrapy doctor`: what a crawl will need, checked before it does."""

from __future__ import annotations

import json

import pytest


def checks(done) -> dict[str, dict]:
    assert "Traceback" not in done.stderr
    return {check["check"]: check for check in map(json.loads, done.stdout.splitlines())}


@pytest.fixture
def doctor(project):
    return lambda: project.scrapy("doctor", "--json")


def test_all_is_well(project, doctor):
    project.env["FETCHWORKER_PROXIES"] = "http://user:secretword@127.0.0.1:9"
    done = doctor()
    found = checks(done)
    assert done.returncode == 0, found
    assert list(found) == [
        "python", "Scrapy", "curl_cffi", "impersonation", "configuration", "state folder", "proxies", "redis",
    ]  # fmt: skip
    assert all(check["ok"] for check in found.values())
    assert found["proxies"]["told"] == "1 configured"
    assert "embedded" in found["redis"]["told"]
    assert "secretword" not in done.stdout + done.stderr
    assert (project.folder / "state" / "redis").is_dir()


def test_people_read_one_line_a_check(project):
    project.env["REDIS_URL"] = "redis://:secretword@127.0.0.1:9/0"
    done = project.scrapy("doctor")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok   python: 3.1")
    assert lines[-1].startswith("FAIL redis: no Redis at redis://127.0.0.1:9/0")
    assert "REDIS_URL" in lines[-1]
    assert "some checks failed" in done.stderr
    assert "secretword" not in done.stdout + done.stderr


def test_a_bad_proxy_list_stops_at_the_configuration(project, doctor):
    project.env["FETCHWORKER_PROXIES"] = "http://user:secretword@127.0.0.1:9\nnonsense:with:secretword2:x:y"
    done = doctor()
    found = checks(done)
    assert done.returncode == 1
    assert not found["configuration"]["ok"]
    assert "FETCHWORKER_PROXIES" in found["configuration"]["told"]
    assert "2" in found["configuration"]["told"]
    assert "redis" not in found
    assert "secretword" not in done.stdout + done.stderr


def test_a_state_folder_that_cannot_be_made(project, doctor):
    (project.folder / "file").write_text("")
    project.env["FETCHWORKER_STATE_DIR"] = str(project.folder / "file" / "state")
    done = doctor()
    found = checks(done)
    assert done.returncode == 1
    assert not found["state folder"]["ok"]
    assert str(project.folder / "file") in found["state folder"]["told"]


def test_a_site_that_requires_a_proxy_where_there_is_none(project, doctor):
    project.sites(policy="required")
    found = checks(doctor())
    assert not found["proxies"]["ok"]
    assert ", ".join(project.names) in found["proxies"]["told"]
    assert "FETCHWORKER_PROXIES" in found["proxies"]["told"]


def test_it_leaves_no_probe_behind(project, doctor):
    doctor()
    assert [path.name for path in (project.folder / "state").iterdir()] == ["redis"]
