"""`scrapy doctor`: what a crawl will need, checked before it does."""

from __future__ import annotations

import json

import pytest

from fetchworker.doctor import installed


def checks(done) -> dict[str, dict]:
    assert "Traceback" not in done.stderr
    return {check["check"]: check for check in map(json.loads, done.stdout.splitlines())}


@pytest.fixture
def doctor(project):
    """Not on a terminal, so it answers in JSON."""
    return lambda: project.scrapy("doctor")


def test_all_is_well(project, doctor):
    done = doctor()
    found = checks(done)
    assert done.returncode == 0, found
    assert list(found) == [
        "python", "Scrapy", "curl_cffi", "impersonation", "egress guard", "browser", "ocr models", "configuration",
        "state folder", "redis", "proxies",
    ]  # fmt: skip
    assert all(check["ok"] for check in found.values() if check["needed"])
    assert "chrome_macos" in found["impersonation"]["told"]
    assert "MiB free" in found["state folder"]["told"]
    assert "embedded" in found["redis"]["told"]
    assert (project.folder / "state" / "redis").is_dir()


def test_what_is_optional_says_how_to_get_it_and_fails_nothing(project, doctor):
    project.env |= {"PLAYWRIGHT_BROWSERS_PATH": str(project.folder), "PATH": str(project.folder)}
    found = checks(doctor())
    for name, command in (("browser", "playwright install"), ("ocr models", "pip install")):
        check = found[name]
        assert not check["needed"]
        assert check["ok"] or command in check["told"]
    assert "no Chromium" in found["browser"]["told"]


def test_what_opencv_misses_of_the_system_is_named(project, doctor, tmp_path):
    (tmp_path / "libGL.so.1").touch()
    project.env["LD_LIBRARY_PATH"] = str(tmp_path)
    check = checks(doctor())["ocr models"]
    assert (check["ok"], check["needed"]) == (False, False)
    assert "apt-get install libgl1 libglib2.0-0" in check["told"]


def test_what_is_missing_for_documents_names_their_extra(monkeypatch):
    monkeypatch.setattr(installed, "_OCR", ("no-such-package",))
    told = installed.ocr().told
    assert "no no-such-package;" in told
    assert "pip install -c constraints.txt -e '.[documents]'" in told


def test_a_browser_that_playwright_has_fetched_is_found(project, doctor):
    project.env |= {"PLAYWRIGHT_BROWSERS_PATH": str(project.folder), "PATH": str(project.folder)}
    program = project.folder / "chromium_headless_shell-1234" / "chrome-linux" / "headless_shell"
    program.parent.mkdir(parents=True)
    assert "no Chromium" in checks(doctor())["browser"]["told"], "an empty folder is none"
    program.write_bytes(b"")
    program.chmod(0o755)
    assert "no Chromium" not in checks(doctor())["browser"]["told"]


def test_people_read_one_line_a_check(project):
    project.env["REDIS_URL"] = "redis://:secretword@127.0.0.1:9/0"
    done = project.scrapy("doctor", "--text")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ok   python: 3.1")
    assert any(line.startswith(("note ocr models: ", "ok   ocr models: ")) for line in lines)
    (redis,) = [line for line in lines if line.startswith("FAIL")]
    assert redis.startswith("FAIL redis: no Redis at redis://127.0.0.1:9/0")
    assert "REDIS_URL" in redis
    assert "some checks failed" in done.stderr
    assert "secretword" not in done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [("everything",), ("--json", "--text")])
def test_wrong_arguments(project, arguments):
    done = project.scrapy("doctor", *arguments)
    assert done.returncode == 2
    assert not done.stdout


def test_help_tells_options_and_exit_codes(project):
    told = " ".join(project.scrapy("doctor", "--help").stdout.split())
    for part in ("--destination HOST[:PORT]", "--json", "--text", "Exit codes: 0", "1 something is not"):
        assert part in told


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
    assert "FETCHWORKER_STATE_DIR" in found["state folder"]["told"]


def test_a_site_that_requires_a_proxy_where_there_is_none(project, doctor):
    project.sites(policy="required")
    found = checks(doctor())
    assert not found["proxies"]["ok"]
    assert ", ".join(project.names) in found["proxies"]["told"]
    assert "FETCHWORKER_PROXIES" in found["proxies"]["told"]


def test_it_leaves_no_probe_behind(project, doctor):
    doctor()
    assert [path.name for path in (project.folder / "state").iterdir()] == ["redis"]
