"""The project under a real scrapyd, with the commands that docs/scrapyd.md tells."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from markdown_it import MarkdownIt
from scrapyd.config import Config
from scrapyd.environ import Environment

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def documented(path: str) -> list[tuple[str, str | None]]:
    """The documented requests to one of scrapyd's addresses, as path with query and form data."""
    tokens = MarkdownIt("commonmark").parse((ROOT / "docs" / "scrapyd.md").read_text(encoding="utf-8"))
    blocks = [token.content for token in tokens if token.type == "fence"]
    commands = [shlex.split(line.removeprefix("$ ")) for block in blocks for line in block.splitlines()]
    asked = [(command[1], command[3::2]) for command in commands if command[0] == "curl"]
    parts = [(urlsplit(f"http://{url}"), form) for url, form in asked]
    return [(url.geturl().partition(":6800/")[2], "&".join(form) or None) for url, form in parts if path in url.path]


def test_it_lists_the_project_and_every_site(scrapyd, spiders):
    [(projects, _)] = documented("listprojects.json")
    assert "fetchworker" in scrapyd.ask(projects)["projects"]
    [(listed, _)] = documented("listspiders.json")
    assert sorted(scrapyd.ask(listed)["spiders"]) == sorted(spiders)
    assert {"instagram", "ebay", "fetch"} <= set(spiders)


def test_documented_jobs_run_from_source(scrapyd, project):
    (path, one), (_, five) = documented("schedule.json")
    answers = [scrapyd.ask(path, form) for form in (one, five)]
    assert [answer["status"] for answer in answers] == ["ok", "ok"]
    profile, posts = (answer["jobid"] for answer in answers)
    assert sorted(scrapyd.until(r"Process (finished|died)")[1] for _ in answers) == ["finished", "finished"]
    items = scrapyd.items("instagram", profile)
    assert (items[0]["kind"], items[0]["username"]) == ("profile", "nasa")
    assert Counter(item["kind"] for item in scrapyd.items("instagram", posts))["post"] == 5
    state = project.folder / "state" / "crawls" / "nightly-7"  # where the environment says
    assert f"crawl nightly-7 (instagram, private) state in {state}" in scrapyd.log("instagram", posts)
    [(jobs, _)] = documented("listjobs.json")
    assert {job["id"] for job in scrapyd.ask(jobs)["finished"]} == {profile, posts}


def test_wrong_arguments_end_the_job_with_their_exit_code(scrapyd):
    answer = scrapyd.ask("schedule.json", "project=fetchworker&spider=instagram&usr=nasa")
    assert scrapyd.ended(answer["jobid"]) == "died: exitstatus=2"


def test_jobs_without_arguments_serve_the_shared_queue(queue, scrapyd):
    queue.rpush("instagram:start_urls", '{"user": "nasa"}', "https://www.instagram.com/nasa/")
    form = "project=fetchworker&spider=instagram&setting=SCHEDULER_IDLE_BEFORE_CLOSE%3D1"
    jobs = [scrapyd.ask("schedule.json", form)["jobid"] for _ in range(2)]
    assert [scrapyd.until(r"Process (finished|died)")[1] for _ in jobs] == ["finished", "finished"]
    items = [item for job in jobs for item in scrapyd.items("instagram", job)]
    assert {item["username"] for item in items if item["kind"] == "profile"} == {"nasa"}
    assert all("Spider closed (idle)" in scrapyd.log("instagram", job) for job in jobs)


def test_no_job_deletes_the_items_of_others(tmp_path, monkeypatch):
    (tmp_path / "scrapy.cfg").write_bytes((ROOT / "scrapy.cfg").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = Environment(Config(), {})
    for number in range(8):
        environment.get_settings({"_project": "fetchworker", "_spider": "fetch", "_job": f"job{number}"})
        for kind, ending in (("items", "jl"), ("logs", "log")):
            (tmp_path / f".fetchworker/scrapyd/{kind}/fetchworker/fetch/job{number}.{ending}").write_text("kept")
    assert len([path for path in tmp_path.rglob("job*") if path.read_text() == "kept"]) == 16
