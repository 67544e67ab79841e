"""The main job, whole: `scrapy crawl instagram` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from pathlib import Path

import pytest

from fetchworker.demo.model import Reply
from fetchworker.demo.site import demo_site

pytestmark = pytest.mark.slow


def test_the_main_job(project, calm):
    project.use(calm)
    done = project.scrapy("crawl", "instagram", "-a", "user=nasa", "-O", str(project.folder / "nasa.jsonl"))
    assert done.returncode == 0, done.stderr
    items = project.lines("nasa.jsonl")
    kinds = Counter(item["kind"] for item in items)
    assert kinds["profile"] == 1
    assert kinds["post"] == 12
    assert kinds["page"] == 1
    profile = items[0]
    assert (profile["username"], profile["site"], profile["operation"]) == ("nasa", "instagram", "profile")
    assert profile["followers"] > 0
    assert len({item["item_id"] for item in items}) == len(items)
    assert re.search(r"crawl \S+ \(instagram, private\)", done.stderr), "the crawl's id is printed"


def test_what_scrapyd_adds_for_itself_names_no_call(project, calm):
    project.use(calm)
    done = project.scrapy(
        "crawl", "instagram", "-a", "user=nasa", "-a", "_job=6487ec79947edab3", "-O", str(project.folder / "j.jsonl")
    )
    assert done.returncode == 0, done.stderr
    assert project.lines("j.jsonl")[0]["kind"] == "profile"


def test_the_same_work_gives_the_same_ids(project, calm):
    project.use(calm)
    for name in ("a.jsonl", "b.jsonl"):
        assert project.scrapy("crawl", "instagram", "-a", "user=nasa", "-O", str(project.folder / name)).returncode == 0
    first, second = project.lines("a.jsonl"), project.lines("b.jsonl")
    assert [item["item_id"] for item in first] == [item["item_id"] for item in second]


def test_posts_are_paged_to_the_limit_exactly_and_once(project, calm):
    project.use(calm)
    done = project.scrapy(
        "crawl",
        "instagram",
        "-a",
        "user=nasa",
        "-a",
        "operation=posts",
        "-a",
        "limit=50",
        "-O",
        str(project.folder / "p.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    posts = [item for item in project.lines("p.jsonl") if item["kind"] == "post"]
    assert len(posts) == 50
    assert len({post["id"] for post in posts}) == 50


def test_everything_that_goes_wrong_on_the_way_is_overcome(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    done = project.scrapy(
        "crawl",
        "instagram",
        "-a",
        "user=nasa",
        "-a",
        "operation=posts",
        "-a",
        "limit=150",
        "-O",
        str(project.folder / "p.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    posts = [item for item in project.lines("p.jsonl") if item["kind"] == "post"]
    assert len({post["id"] for post in posts}) == len(posts) > 100, "every page once, none lost to a wall"
    struck = Counter(record["what"] for record in hostile.log("behaviour"))
    assert {"block", "login_wall", "rate_limit", "bad_gateway"} <= struck.keys()
    exits = {record["peer"] for record in hostile.log("request")}
    assert exits == {"127.0.0.11", "127.0.0.12"}, "never without a proxy"
    assert project.records("failures") == []


def test_an_identity_never_uses_two_exits_and_cookies_stay_with_it(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    project.scrapy(
        "crawl",
        "instagram",
        "-a",
        "user=nasa",
        "-a",
        "operation=posts",
        "-a",
        "limit=150",
        "-O",
        str(project.folder / "p.jsonl"),
    )
    exits: dict[str, set[str]] = {}
    for record in hostile.log("request"):
        cookies = [value for name, value in record["headers"] if name == "cookie"]
        for mid in re.findall(r"mid=([^;]+)", "; ".join(cookies)):
            exits.setdefault(mid, set()).add(record["peer"])
    assert len(exits) >= 2, "the wall made it change the identity"
    assert all(len(used) == 1 for used in exits.values()), exits


def test_who_is_not_there_is_a_failure_line_and_no_item(project, calm):
    project.use(calm)
    done = project.scrapy("crawl", "instagram", "-a", "user=no.such.account", "-O", str(project.folder / "n.jsonl"))
    assert done.returncode == 0, "that is the answer"
    assert project.lines("n.jsonl") == []
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["operation"]) == ("NOT_FOUND_UPSTREAM", "not_found", "profile")
    assert failure["params"] == {"user": "no.such.account"}
    assert failure["attempts"] == 1, "what does not exist is not asked for again"


@pytest.mark.parametrize("operation", ["profile", "posts"])
def test_an_account_closed_to_some_ages_and_countries_is_not_found_and_says_why(project, lab, operation):
    body = "<!DOCTYPE html><html><head><title>Restricted profile • Instagram</title></head><body></body></html>"
    lab.app = lambda _: Reply(200, (("content-type", "text/html; charset=utf-8"),), body.encode())
    project.use(lab)
    arguments = ("-a", "user=old.cellar", "-a", f"operation={operation}", "-O", str(project.folder / "g.jsonl"))
    done = project.scrapy("crawl", "instagram", *arguments)
    assert (done.returncode, project.lines("g.jsonl")) == (0, []), done.stderr
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"]) == ("NOT_FOUND_UPSTREAM", "not_found")
    assert failure["evidence"] == ["instagram_restricted_profile"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-a", "usr=nasa"], "did you mean 'user'"),
        (["-a", "operation=profil", "-a", "user=nasa"], "did you mean 'profile'"),
        (["-a", "user=nasa", "-a", "limit=x", "-a", "operation=posts"], "limit"),
        (["-a", "user=two words"], "user"),
    ],
)
def test_wrong_arguments_end_with_2_and_the_fields(project, arguments, told):
    done = project.scrapy("crawl", "instagram", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "fields (* required)" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_killed_crawl_leaves_whole_lines_for_what_it_got(project, calm):
    project.use(calm)
    output = project.folder / "k.jsonl"
    process = project.start("crawl", "instagram", "-a", "user=nasa", "-a", "operation=posts", "-O", str(output))
    while not (output.exists() and output.read_bytes().count(b"\n") >= 20):
        assert process.poll() is None, process.stderr.read().decode()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stderr.close()
    raw = output.read_bytes()
    assert raw.endswith(b"\n")
    assert len(project.lines("k.jsonl")) >= 20


def test_appending_repairs_a_torn_line_and_starting_anew_does_not_keep(project, calm):
    project.use(calm)
    output = project.folder / "t.jsonl"
    output.write_bytes(b'{"kind": "old"}\n{"kind": "torn", "x')
    done = project.scrapy("crawl", "instagram", "-a", "user=nasa", "-o", str(output))
    assert done.returncode == 0
    assert "torn line" in done.stderr
    kinds = [item["kind"] for item in project.lines("t.jsonl")]
    assert kinds[:2] == ["old", "profile"]
    project.scrapy("crawl", "instagram", "-a", "user=nasa", "-O", str(output))
    assert project.lines("t.jsonl")[0]["kind"] == "profile"


def test_credentials_show_up_nowhere(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    done = project.scrapy(
        "crawl",
        "instagram",
        "-a",
        "user=nasa",
        "-a",
        "operation=posts",
        "-a",
        "limit=60",
        "-O",
        str(project.folder / "p.jsonl"),
        "-L",
        "DEBUG",
    )
    secrets = [re.search(r"//([^:]+):([^@]+)@", url).group(2) for url in hostile.proxies]
    told = done.stderr + (project.folder / "p.jsonl").read_text()
    told += "".join(path.read_text() for path in Path(project.folder / "state" / "crawls").rglob("*.jsonl"))
    told += str(hostile.log("request"))
    assert len(done.stderr) > 1000
    for secret in secrets:
        assert secret not in told


def test_a_required_proxy_that_is_dead_means_no_request_at_all(project, calm):
    project.use(calm)
    project.sites(policy="required", retries=1)
    project.env["FETCHWORKER_PROXIES"] = "http://user:secretpassword@127.0.0.1:9"
    done = project.scrapy("crawl", "instagram", "-a", "user=nasa")
    assert done.returncode == 1
    assert calm.log("request") == []
    assert {failure["type"] for failure in project.records("failures")} <= {
        "FETCH_ERROR",
        "PROXY_EXHAUSTED",
        "UNFINISHED",
    }
    assert "no_egress site=instagram" in done.stderr
    assert "secretpassword" not in done.stderr


def test_a_required_proxy_that_is_not_there_is_exhausted(project, calm):
    project.use(calm, proxies=False)
    project.sites(policy="required")
    done = project.scrapy("crawl", "instagram", "-a", "user=nasa")
    assert done.returncode == 1
    assert calm.log("request") == []
    (failure,) = project.records("failures")
    assert failure["type"] == "PROXY_EXHAUSTED"


def test_without_the_host_map_the_real_site_is_asked_for(project, calm):
    project.use(calm)
    del project.env["FETCHWORKER_HOST_MAP"]
    project.sites(policy="required")
    project.scrapy("crawl", "instagram", "-a", "user=nasa")
    targets = {record["target"] for record in calm.log("proxy")}
    assert targets == {"www.instagram.com:443"}


def test_comments_go_on_past_the_page(project, calm):
    project.use(calm)
    arguments = ("-a", "operation=comments", "-a", "shortcode=DfNRV-qGN_-", "-a", "limit=30")
    done = project.scrapy("crawl", "instagram", *arguments, "-O", str(project.folder / "c.jsonl"))
    assert done.returncode == 0, done.stderr
    assert [item["kind"] for item in project.lines("c.jsonl")].count("comment") == 30
    assert project.records("failures") == []
    assert "login_wall" not in done.stderr


@pytest.mark.parametrize("operation", ["posts", "reels"])
def test_the_lists_of_a_private_account_are_a_failure_line(project, calm, operation):
    project.use(calm)
    arguments = ("-a", "user=quiet.harbour", "-a", f"operation={operation}", "-O", str(project.folder / "q.jsonl"))
    done = project.scrapy("crawl", "instagram", *arguments)
    assert (done.returncode, project.lines("q.jsonl")) == (0, []), done.stderr
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"]) == ("NOT_FOUND_UPSTREAM", "private")


def test_the_profile_of_a_private_account_is_a_profile(project, calm):
    project.use(calm)
    arguments = ("-a", "user=quiet.harbour", "-O", str(project.folder / "q.jsonl"))
    assert project.scrapy("crawl", "instagram", *arguments).returncode == 0
    profile, page = project.lines("q.jsonl")
    assert (profile["private"], page["kind"], page["partial"]) == (True, "page", "private")
    assert project.records("failures") == []


def test_ids_that_the_site_has_retired_are_read_anew_by_the_same_identity(project, lab):
    """The session's ids are of yesterday: they are dropped, the page is asked once more, and no exit is blamed."""
    site = demo_site()
    lab.app = site.app
    project.use(lab)
    posts = ("crawl", "instagram", "-a", "user=nasa", "-a", "operation=posts", "-a", "session=reader")
    done = project.scrapy(*posts, "-a", "limit=24", "-O", str(project.folder / "first.jsonl"))
    assert done.returncode == 0, done.stderr
    cursor = [item for item in project.lines("first.jsonl") if item["kind"] == "page"][-1]["next_cursor"]
    site.instagram.queries.rotate()
    done = project.scrapy(*posts, "-a", f"cursor={cursor}", "-a", "limit=12", "-O", str(project.folder / "next.jsonl"))
    assert done.returncode == 0, done.stderr
    assert [item["kind"] for item in project.lines("next.jsonl")].count("post") == 12
    assert "stale_contract" in done.stderr
    first, following = (
        {item["id"] for item in project.lines(name) if item["kind"] == "post"} for name in ("first.jsonl", "next.jsonl")
    )
    assert not first & following
    assert {name for name in ("/blocked'", "/failed'", "rotated") if name in done.stderr} == set()
    assert project.records("failures") == []
