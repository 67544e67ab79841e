"""Threads, whole: `scrapy crawl threads` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

from collections import Counter

import pytest

from fetchworker.demo.people import CLUB, POTTER, make_world
from fetchworker.demo.site import demo_site

pytestmark = pytest.mark.slow
WORLD = make_world()


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "threads", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def kinds(items):
    return Counter(item["kind"] for item in items)


def test_an_account_whose_page_has_its_data(project, calm):
    project.use(calm)
    done, items = crawl(project, f"user={CLUB}")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"profile": 1, "post": 11, "page": 1}
    assert (items[0]["username"], items[0]["followers"], items[0]["verified"]) == (CLUB, 48_213, True)
    assert len(calm.log("request")) == 1


def test_an_account_whose_page_is_a_shell(project, calm):
    project.use(calm)
    done, items = crawl(project, f"url=https://www.threads.net/@{POTTER}")
    assert done.returncode == 0, done.stderr
    assert [(item["kind"], item["followers"]) for item in items] == [("profile", 9_120)]
    assert "a browser's work" in done.stderr


@pytest.mark.parametrize("user", [CLUB, POTTER])
def test_posts_are_paged_to_what_a_guest_sees_with_ids_that_were_stale(project, calm, user):
    project.use(calm)
    done, items = crawl(project, "operation=posts", f"user={user}")
    assert done.returncode == 0, done.stderr
    posts = [item for item in items if item["kind"] == "post"]
    assert [post["id"] for post in posts] == [post.pk for post in WORLD.people[user].posts[:25]]
    assert kinds(items) == {"profile": 1, "post": 25, "page": 3}
    pages = [item for item in items if item["kind"] == "page"]
    assert [page["exhausted"] for page in pages] == [False, False, True]
    assert any(post["quoted"] for post in posts)
    assert project.records("failures") == []


def test_a_limit_and_a_cursor(project, calm):
    project.use(calm)
    _, items = crawl(project, "operation=posts", f"user={CLUB}", "limit=5")
    assert kinds(items)["post"] == 5
    _, later = crawl(project, "operation=posts", f"user={CLUB}", f"cursor={items[-1]['next_cursor']}", output="b.jsonl")
    assert next(item["id"] for item in later if item["kind"] == "post") == WORLD.people[CLUB].posts[11].pk


@pytest.mark.parametrize("user", [CLUB, POTTER])
def test_a_post_with_its_first_replies(project, calm, user):
    project.use(calm)
    newest = WORLD.people[user].posts[0]
    done, items = crawl(project, f"url=https://www.threads.com/t/{newest.shortcode}")
    assert done.returncode == 0, done.stderr
    post, *replies, page = items
    assert (post["id"], post["author"]["username"], post["comments_count"]) == (newest.pk, user, 45)
    assert len(replies) == 10
    assert {reply["reply_to"] for reply in replies} == {newest.pk}
    assert (page["total"], page["exhausted"]) == (45, False)


def test_all_replies_to_a_post(project, calm):
    project.use(calm)
    newest = WORLD.people[POTTER].posts[0]
    done, items = crawl(project, "operation=replies", f"shortcode={newest.shortcode}")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"post": 45, "page": 5}
    assert len({item["id"] for item in items if item["kind"] == "post"}) == 45


@pytest.mark.parametrize("user", [CLUB, POTTER])
def test_replies_of_an_account(project, calm, user):
    project.use(calm)
    done, items = crawl(project, "operation=replies", f"user={user}")
    assert done.returncode == 0, done.stderr
    own = [item for item in items if item["kind"] == "post" and item["author"]["username"] == user]
    assert len(own) == 14
    assert all(item["reply_to"] for item in own)


def test_likers(project, calm):
    project.use(calm)
    done, items = crawl(project, "operation=likers", f"shortcode={WORLD.people[CLUB].posts[2].shortcode}", "limit=3")
    assert done.returncode == 0, done.stderr
    assert kinds(items) == {"profile": 3, "page": 1}


@pytest.mark.parametrize("operation", ["posts", "replies"])
def test_the_lists_of_a_private_account_are_a_failure_line(project, calm, operation):
    project.use(calm)
    done, items = crawl(project, f"operation={operation}", "user=quiet.harbour")
    assert (done.returncode, items) == (0, []), done.stderr
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"]) == ("NOT_FOUND_UPSTREAM", "private")
    assert failure["evidence"] == ["threads_private_account"]


def test_the_profile_of_a_private_account_is_a_profile(project, calm):
    project.use(calm)
    done, items = crawl(project, "user=quiet.harbour")
    assert done.returncode == 0, done.stderr
    assert [item["private"] for item in items if item["kind"] == "profile"] == [True]
    assert project.records("failures") == []


def test_blocks_walls_and_faults_on_the_way(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    done, items = crawl(project, "operation=posts", f"user={POTTER}")
    assert done.returncode == 0, done.stderr
    posts = [item["id"] for item in items if item["kind"] == "post"]
    assert posts == [post.pk for post in WORLD.people[POTTER].posts[:25]]
    struck = {record["what"] for record in hostile.log("behaviour")}
    assert {"block", "login_wall"} <= struck
    assert project.records("failures") == []


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (("user=no.such.account",), "not_found"), (("shortcode=DZLcaqdcUuH",), "gone"),
        (("operation=likers", "shortcode=DZLcaqdcUuH"), "not_found"),
    ],
)  # fmt: skip
def test_who_is_not_there_is_a_failure_line(project, calm, arguments, outcome):
    project.use(calm)
    done, items = crawl(project, *arguments)
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", outcome, 1)


def test_ids_that_pages_tell_no_more_are_read_from_the_scripts_once(project, lab):
    """Posts of a shell's account: two queries, whose ids stand in one script of a page that lists three."""
    site = demo_site()
    lab.app = site.app
    site.threads.queries.rotate(bundled=True)
    project.use(lab)
    done, items = crawl(project, "operation=posts", f"user={POTTER}")
    assert done.returncode == 0, done.stderr
    assert kinds(items)["post"] == 25
    paths = [one["path"] for one in lab.log("request") if one["path"].startswith("/rsrc.php/")]
    assert len(paths) == len(set(paths)) == 3
    assert "rotated/threads" not in done.stderr
    assert project.records("failures") == []
