"""Sessions that the command has a browser make: what goes wrong is told, and changes nothing."""

from __future__ import annotations

import json
import signal
import threading

import pytest

from fetchworker.demo.lab import lab_app
from tests.crawl.test_crawl_render import URL, browser  # noqa: F401  # the fixture

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
#: it says which one it is, and ends
BROKEN = '#!/bin/sh\nif [ "$1" = --version ]; then echo Chromium 150.0.7000.10; exit 0; fi\nexit 1\n'


def mint(project, url, name="mia"):
    return project.scrapy("sessions", "mint", "fetch", name, "--url", url)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://10.0.0.1/", "EGRESS_DENIED: 10.0.0.1 is not fetched"),
        (f"{URL}/status/404", "NOT_FOUND_UPSTREAM: "),
    ],
)
@pytest.mark.usefixtures("browser", "queue")
def test_the_cause_is_told_and_no_session_is_left(project, lab, sites, url, told):
    project.use(lab)
    sites(retries=0)
    made = mint(project, url)
    assert made.returncode == 1
    assert f"fetch: mia: its warm-up failed: {told}" in made.stderr
    assert "-L INFO" not in made.stderr
    assert project.scrapy("sessions", "show", "fetch", "mia").returncode == 2


def test_a_browser_that_does_not_start_is_told(project, lab, sites, queue):
    project.use(lab)
    sites(retries=0)
    program = project.folder / "broken"
    program.write_text(BROKEN)
    program.chmod(0o755)
    project.env["FETCHWORKER_BROWSER"] = str(program)
    made = mint(project, f"{URL}/html")
    assert made.returncode == 1
    assert "its warm-up failed: BROWSER_ERROR: " in made.stderr, made.stderr


def test_a_session_that_is_there_is_what_it_was(browser, project, lab, sites, queue):  # noqa: F811
    """Though a refusal would end its identity elsewhere."""
    project.use(lab)
    sites(retries=2, on_block="rotate")
    assert mint(project, f"{URL}/challenge/home").returncode == 0
    before = json.loads(project.scrapy("sessions", "show", "fetch", "mia", "--json").stdout)
    assert mint(project, f"{URL}/status/403").returncode == 1
    assert json.loads(project.scrapy("sessions", "show", "fetch", "mia", "--json").stdout) == before


def test_an_interrupted_mint_says_so(browser, project, lab, sites, queue):  # noqa: F811
    project.use(lab)
    sites(retries=0, timeout=60)
    came = threading.Event()
    lab.app = lambda request: (came.set(), lab_app(request))[1]
    running = project.start("sessions", "mint", "fetch", "mia", "--url", f"{URL}/slow?seconds=50")
    assert came.wait(60)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=90)
    assert running.returncode == 1, told
    assert b"it was interrupted" in told
    assert project.scrapy("sessions", "show", "fetch", "mia").returncode == 2
