"""Outputs and records that cannot be written: the crawl does not start, or ends and says so."""

from __future__ import annotations

import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from fetchworker.exports.lines import LineFile

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
URL = "https://lab.example/echo"


def crawl(project, lab, *options):
    """A crawl of one page, whose item and failures are looked for elsewhere."""
    project.use(lab)
    return project.scrapy("crawl", "fetch", "-a", f"url={URL}", *options)


@pytest.mark.parametrize("option", ["-o", "-O"])
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_folder_for_an_output_is_refused_before_anything_is_fetched(project, lab, option, form):
    done = crawl(project, lab, option, f"{project.folder}:{form}")
    assert done.returncode == 2, done.stderr
    assert f"cannot write {project.folder}: Is a directory" in done.stderr
    assert lab.requests == []


def test_an_output_in_a_folder_that_takes_no_file_is_refused(project, lab):
    done = crawl(project, lab, "-o", "/proc/no/such.jsonl")
    assert done.returncode == 2, done.stderr
    assert "cannot write /proc/no/such.jsonl" in done.stderr
    assert lab.requests == []


def test_an_output_that_another_crawl_writes_is_not_started_anew(project, lab):
    path = project.folder / "f.jsonl"
    with LineFile(path) as other:
        other.write(b'{"n":1}\n')
        done = crawl(project, lab, "-O", str(path))
    assert done.returncode == 2, done.stderr
    assert f"{path} is being written by another process" in done.stderr
    assert lab.requests == []
    assert path.read_bytes() == b'{"n":1}\n'


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_output_that_cannot_be_opened_later_ends_the_crawl(project, lab, form):
    (project.folder / f"fetch.{form}").mkdir()  # the crawl fills the name in
    done = crawl(project, lab, "-o", f"{project.folder}/%(name)s.{form}")
    assert done.returncode == 1, done.stderr
    assert "fetch ended (export_error)" in done.stderr
    assert "Error caught on signal handler" not in done.stderr
    assert "never retrieved" not in done.stderr
    assert project.records("failures") == [], "the queue keeps what was not done"
    assert "1 requests of crawl" in done.stderr


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_full_disk_is_no_success(project, lab, form):
    done = crawl(project, lab, "-o", f"/dev/full:{form}")
    assert done.returncode == 1, done.stderr
    assert "cannot write /dev/full: No space left on device: the crawl stops" in done.stderr
    assert "never retrieved" not in done.stderr


def test_a_state_folder_that_takes_no_file_is_refused(project, lab):
    project.env["FETCHWORKER_STATE_DIR"] = "/proc/x"
    done = crawl(project, lab)
    assert done.returncode == 2, done.stderr
    assert "FETCHWORKER_STATE_DIR: /proc/x cannot be written" in done.stderr


def test_a_bundle_of_certificates_that_does_not_fit_is_told_as_what_it_is(project, lab):
    project.use(lab)
    command = shlex.join(project.command("crawl", "fetch", "-a", f"url={URL}"))
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 64; {command}"],
        cwd=ROOT, env=project.environment(), capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "FETCHWORKER_CA_FILE: cannot make a bundle" in done.stderr
    assert "Unsupported URL scheme" not in done.stderr
    assert not list((project.folder / "state").glob("ca-bundle*")), "no half of it is left"


@pytest.mark.parametrize("place", ["/dev/full", "/proc/x"])
def test_a_lost_failure_line_ends_the_crawl(project, lab, place):
    project.env["FETCHWORKER_CRAWL_ID"] = "nightly"
    folder = project.folder / "state" / "crawls" / "nightly"
    folder.mkdir(parents=True)
    (folder / "failures.jsonl").symlink_to(place)
    project.use(lab)
    done = project.scrapy(
        "crawl", "fetch", "-a", "url=https://lab.example/status/404", "-O", f"{project.folder}/f.jsonl"
    )
    assert done.returncode == 1, done.stderr
    assert "fetch ended (export_error)" in done.stderr
    assert "Traceback" not in done.stderr
    assert "1 requests failed" not in done.stderr, "no line says it"


def test_what_callers_sent_is_for_nobody_else(project, lab):
    project.use(lab)
    project.env["FETCHWORKER_CRAWL_ID"] = "nightly"
    done = project.scrapy("crawl", "fetch", "-a", "url=https://lab.example/status/404")
    assert done.returncode == 0, done.stderr
    folder = project.folder / "state" / "crawls" / "nightly"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "failures.jsonl").stat().st_mode) == 0o600


def test_a_password_in_an_address_is_refused_and_not_shown(project, lab):
    project.use(lab)
    done = project.scrapy("crawl", "fetch", "-a", "url=https://ann:secretword@lab.example/echo")
    assert done.returncode == 2, done.stderr
    assert "no user name or password" in done.stderr
    assert "secretword" not in done.stderr
    assert lab.requests == []
