"""Facebook, whole: `scrapy crawl` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

import pytest

from fetchworker.demo.facebook import CLOSED_PHOTO, CLOSED_VIDEO, DELETED_POST

pytestmark = pytest.mark.slow
HOME = "https://www.facebook.com"


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "facebook", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def test_posts_are_paged_to_their_end(project, calm):
    project.use(calm)
    done, items = crawl(project, "operation=posts", "user=mossandmortar")
    assert done.returncode == 0, done.stderr
    posts = [item["id"] for item in items if item["kind"] == "post"]
    assert posts == [f"81{n:014d}" for n in range(101, 110)]
    pages = [item for item in items if item["kind"] == "page"]
    assert [page["exhausted"] for page in pages] == [False, False, False, True]
    assert pages[-1]["next_cursor"] is None
    assert items[0]["kind"] == "profile"
    queries = [record for record in calm.log("request") if record["path"] == "/api/graphql/"]
    assert len(queries) == 3
    assert all("fb_dtsg" not in record["body"] for record in queries)


def test_a_limit_and_a_cursor(project, calm):
    project.use(calm)
    _, items = crawl(project, "operation=posts", "user=mossandmortar", "limit=2")
    cursor = next(item["next_cursor"] for item in items if item["kind"] == "page")
    assert len([item for item in items if item["kind"] == "post"]) == 2
    _, rest = crawl(project, "operation=posts", "id=100000000000101", f"cursor={cursor}", output="rest.jsonl")
    assert next(item["id"] for item in rest if item["kind"] == "post") == "8100000000000102"


@pytest.mark.parametrize(
    ("arguments", "kinds", "name"),
    [
        (("user=mossandmortar",), ["profile", "post", "page"], "8100000000000101"),
        ((f"url={HOME}/profile.php?id=100000000000102",), ["profile", "post", "page"], "8100000000000201"),
        ((f"url={HOME}/mossandmortar/posts/8100000000000103",), ["post", "comment", "comment"], "8100000000000103"),
        (("operation=photo", "id=8600000000000103"), ["post"], "8600000000000103"),
        (("operation=photo", f"id={CLOSED_PHOTO}"), ["post"], CLOSED_PHOTO),
        (("operation=video", "id=8400000000000101"), ["post"], "8400000000000101"),
        ((f"url={HOME}/reel/8400000000000102/",), ["post"], "8400000000000102"),
        (
            ("group=kilnfriends", "limit=5"),
            ["group", "post", "page", "post", "post", "post", "page", "post", "page"],
            "8100000000000301",
        ),
        ((f"url={HOME}/mossandmortar/events",), ["event", "page"], "8300000000000101"),
        ((f"url={HOME}/events/8300000000000101/",), ["event"], "8300000000000101"),
    ],
)
def test_each_operation(project, calm, arguments, kinds, name):
    project.use(calm)
    done, items = crawl(project, *arguments)
    assert done.returncode == 0, done.stderr
    assert [item["kind"] for item in items] == kinds
    assert name in {item.get("id") for item in items}
    assert project.records("failures") == []


def test_what_an_account_tells(project, calm):
    project.use(calm)
    _, (account, post, _) = crawl(project, "user=mossandmortar")
    assert (account["username"], account["likes_count"], account["followers"]) == ("mossandmortar", 1204, 1300)
    assert (account["category"], account["rating"], account["external_url"]) == (
        "Pottery",
        4.8,
        "https://pottery.example/",
    )
    assert "555" not in str(account)
    assert "hello@" not in str(account)
    assert post["created_at"] == "2026-09-21T14:13:20Z"


def test_contact_data_of_an_account_are_kept_where_they_are_asked_for(project, calm):
    project.use(calm)
    project.env["FETCHWORKER_CONTACT_DATA"] = "true"
    _, items = crawl(project, "user=mossandmortar")
    assert items[0]["extra"]["contact"] == {"phone": "+1 555 0100", "email": "hello@pottery.example"}


def test_a_block_and_a_wall_cost_identities_and_no_post(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=6)
    done, items = crawl(project, "operation=posts", "user=mossandmortar")
    assert done.returncode == 0, done.stderr
    assert len([item for item in items if item["kind"] == "post"]) == 9
    assert {record["what"] for record in hostile.log("behaviour")} >= {"temporarily_blocked"}
    assert project.records("failures") == []


def test_a_stale_id_leads_to_the_next_way(project, calm):
    project.use(calm)
    done, (film,) = crawl(project, "operation=video", f"id={CLOSED_VIDEO}")
    assert done.returncode == 0, done.stderr
    assert (film["id"], film["title"], film["views"]) == (CLOSED_VIDEO, "The last kiln", 512)
    assert [record["path"].partition("?")[0] for record in calm.log("request")][-1] == "/watch/"
    assert any(record["authority"] == "m.facebook.com" for record in calm.log("request"))


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (("user=nobody.of.this.name",), "not_found"), (("operation=event", "id=5"), "not_found"),
        (("group=nobodys",), "not_found"), (("operation=post", f"id={DELETED_POST}"), "gone"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_a_failure_line(project, calm, arguments, outcome):
    project.use(calm)
    done, items = crawl(project, *arguments)
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"]) == ("NOT_FOUND_UPSTREAM", outcome)
