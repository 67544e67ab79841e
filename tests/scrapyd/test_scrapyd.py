"""The project under a real scrapyd, with the commands that docs/scrapyd.md tells."""

from __future__ import annotations

import shlex
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def documented(path: str) -> list[tuple[str, str | None]]:
    """The documented requests to one of scrapyd's addresses, as path with query and form data."""
    tokens = MarkdownIt("commonmark").parse((ROOT / "docs" / "scrapyd.md").read_text(encoding="utf-8"))
    blocks = [token.content for token in tokens if token.type == "fence"]
    commands = [shlex.split(line.removeprefix("$ ")) for block in blocks for line in block.splitlines()]
    asked = [(command[3], command[5::2]) for command in commands if command[:1] == ["curl"]]
    assert all(command[2] == ".fetchworker/scrapyd/netrc" for command in commands if command[:1] == ["curl"])
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
    assert posts == "nightly-7"
    assert [scrapyd.ended(job)["exit_cause"] for job in (profile, posts)] == ["ok", "ok"]
    items = scrapyd.items("instagram", profile)
    assert (items[0]["kind"], items[0]["username"]) == ("profile", "nasa")
    assert Counter(item["kind"] for item in scrapyd.items("instagram", posts))["post"] == 5
    state = project.folder / "state" / "crawls" / "nightly-7"  # where the environment says
    assert f"crawl nightly-7 (instagram, private) state in {state}" in scrapyd.log("instagram", posts)
    [(jobs, _)] = documented("listjobs.json")
    listed = scrapyd.ask(jobs)
    assert {job["id"]: job["exit_cause"] for job in listed["finished"]} == {profile: "ok", posts: "ok"}
    assert {job["items_url"] for job in listed["finished"]} >= {f"/items/fetchworker/instagram/{posts}.jl"}
    [(status, _)] = documented("status.json")
    assert scrapyd.ask(status)["currstate"] == "finished"
    [(lines, _)] = documented("items/")
    assert len(scrapyd.fetch(lines).content.splitlines()) == len(scrapyd.items("instagram", posts))


def test_wrong_arguments_end_the_job_with_their_exit_code(scrapyd):
    answer = scrapyd.ask("schedule.json", "project=fetchworker&spider=instagram&usr=nasa")
    end = scrapyd.ended(answer["jobid"])
    assert (end["exit_cause"], end["exit_code"]) == ("failed", 2)
    assert "usr" in end["reasons"][0]


def test_jobs_without_arguments_serve_the_shared_queue(queue, scrapyd):
    queue.rpush("instagram:start_urls", '{"user": "nasa"}', "https://www.instagram.com/nasa/")
    form = "project=fetchworker&spider=instagram&setting=SCHEDULER_IDLE_BEFORE_CLOSE%3D1"
    jobs = [scrapyd.ask("schedule.json", form)["jobid"] for _ in range(2)]
    assert [scrapyd.ended(job)["exit_cause"] for job in jobs] == ["ok", "ok"]
    items = [item for job in jobs for item in scrapyd.items("instagram", job)]
    assert {item["username"] for item in items if item["kind"] == "profile"} == {"nasa"}
    assert all("Spider closed (idle)" in scrapyd.log("instagram", job) for job in jobs)


SERVICES = (
    "schedule.json", "cancel.json", "status.json", "listjobs.json", "listspiders.json", "listprojects.json",
    "listversions.json", "addversion.json", "delversion.json", "delproject.json", "daemonstatus.json", "node.json",
    "spawn.json", "jobstatus.json", "forget.json",
)  # fmt: skip


def test_nobody_gets_anything_without_the_password(small):
    paths = ["", "jobs", "logs/", "items/", "files/", "files/a/items", "logs/a/b/c.log", "items/a/b/c.jl", *SERVICES]
    wrong = [None, ("fetchworker", ""), ("fetchworker", "guess"), ("", small.password)]
    for path in paths:
        for method in ("GET", "POST", "HEAD", "OPTIONS", "PUT"):
            for auth in wrong if path == "schedule.json" else wrong[:1]:
                answer = httpx.request(method, f"{small.url}/{path}", auth=auth, trust_env=False)
                assert answer.status_code == 401, (method, path)
    kept = small.folder / ".fetchworker" / "scrapyd" / "netrc"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert small.fetch("daemonstatus.json").json()["status"] == "ok"


def test_a_page_of_somebody_elses_starts_nothing(small):
    told = {"project": "fetchworker", "spider": "fetch"}
    answer = small.fetch("schedule.json", method="POST", data=told, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert small.ask("listjobs.json")["pending"] == []


def test_wrong_ids_cost_no_place_and_secrets_are_not_shown(small):
    form = "project=fetchworker&spider=fetch"
    for wrong in ("../../../../tmp/evil", "x" * 65, "%2Fa", "a%0Ab"):
        assert small.ask("schedule.json", f"{form}&jobid={wrong}")["status"] == "error"
    for job in ({"job_id": "../x"}, {"memory": 3}, {"options": {"tags": "big"}}, {"arguments": {"n": 5}}, []):
        told = {"job_id": "a", "spider": "fetch", **job} if job else job
        assert small.fetch("spawn.json", method="POST", json=told).status_code == 400
    for path in ("files/../../etc/passwd", "files/..%2f..%2fscrapy.cfg/items", "items/fetchworker/fetch/..%2fx.jl"):
        assert small.fetch(path).status_code == 404
    first = small.ask("schedule.json", f"{form}&setting=SCHEDULER_IDLE_BEFORE_CLOSE=0")["jobid"]
    told = "url=http://ann:s3sam3@example.com/&api_token=s3sam3&setting=SHOP_PASSWORD%3Ds3sam3&jobid=waits"
    assert small.ask("schedule.json", f"{form}&{told}")["jobid"] == "waits"
    listed = small.ask("listjobs.json")
    assert [job["id"] for job in listed["pending"]] == ["waits"]
    assert "s3sam3" not in str(listed)
    assert "waits" in small.fetch("jobs").text
    assert "fetchworker" in small.fetch("").text
    assert small.ask("cancel.json", "project=fetchworker&job=waits")["prevstate"] == "pending"
    assert small.ask("cancel.json", f"project=fetchworker&job={first}&signal=KILL")["prevstate"] == "running"
    assert small.ended(first)["exit_cause"] == small.ended("waits")["exit_cause"] == "aborted"
    assert small.fetch("forget.json", method="POST", data={"job": "waits"}).status_code == 200
    assert small.ask("status.json?job=waits")["currstate"] is None


SPIDER = """
import scrapy


class {cls}(scrapy.Spider):
    name = "{name}"

    async def start(self):
        yield {{"a": 1}}
"""


def scrapyd_client(small, folder: Path, *arguments: str) -> str:
    env = small.env | {"SCRAPYD_PASSWORD": small.password}
    env.pop("SCRAPY_SETTINGS_MODULE", None)
    command = [sys.executable, "-m", "scrapyd_client", *arguments]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=50, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_scrapyd_client_deploys_an_egg_and_schedules_its_spider(small, tmp_path):
    (tmp_path / "tiny" / "spiders").mkdir(parents=True)
    (tmp_path / "tiny" / "__init__.py").touch()
    (tmp_path / "tiny" / "spiders" / "__init__.py").write_text(SPIDER.format(cls="One", name="one"))
    (tmp_path / "tiny" / "settings.py").write_text('BOT_NAME = "tiny"\nSPIDER_MODULES = ["tiny.spiders"]\n')
    target = f"url = {small.url}\nproject = tiny\nusername = fetchworker\npassword = $SCRAPYD_PASSWORD\n"
    (tmp_path / "scrapy.cfg").write_text(f"[settings]\ndefault = tiny.settings\n\n[deploy]\n{target}")
    assert '"spiders": 1' in scrapyd_client(small, tmp_path, "deploy")
    assert scrapyd_client(small, tmp_path, "spiders", "-p", "tiny").split() == ["tiny:", "one"]
    job = scrapyd_client(small, tmp_path, "schedule", "-p", "tiny", "one").split("=> ")[1].strip()
    assert small.ended(job)["exit_cause"] == "ok"
    assert small.fetch(f"items/tiny/one/{job}.jl").text == '{"a": 1}\n'
    [listed] = small.ask("listjobs.json?project=tiny")["finished"]
    assert "Spider closed (finished)" in small.fetch(listed["log_url"].lstrip("/")).text


def test_a_spider_that_is_added_is_seen(small):
    (small.folder / "added").mkdir()
    (small.folder / "added" / "__init__.py").touch()
    (small.folder / "added" / "settings.py").write_text('SPIDER_MODULES = ["added.spiders"]\n')
    (small.folder / "added" / "spiders.py").write_text(SPIDER.format(cls="One", name="one"))
    cfg = small.folder / "scrapy.cfg"
    cfg.write_text(cfg.read_text().replace("fetchworker = fetchworker.settings", "fetchworker = added.settings"))
    assert small.ask("listspiders.json?project=fetchworker")["spiders"] == ["one"]
    assert "not found" in small.ask("schedule.json", "project=fetchworker&spider=two")["message"]
    both = SPIDER.format(cls="One", name="one") + SPIDER.format(cls="Two", name="two")
    (small.folder / "added" / "spiders.py").write_text(both)
    job = small.ask("schedule.json", "project=fetchworker&spider=two")["jobid"]
    assert small.ended(job)["exit_cause"] == "ok"
    assert small.ask("listspiders.json?project=fetchworker")["spiders"] == ["one", "two"]
