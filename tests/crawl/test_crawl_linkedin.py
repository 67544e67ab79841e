"""LinkedIn, whole: `scrapy crawl` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

import pytest

from fetchworker.demo.linkedin import EXPIRED, WALLED
from fetchworker.demo.linkedin_pages import ARTICLE
from fetchworker.demo.linkedin_world import POST

pytestmark = pytest.mark.slow


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "linkedin", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def starts(demo) -> list[str]:
    return [record["path"].rpartition("start=")[2] for record in demo.log("request") if "seeMore" in record["path"]]


def test_a_search_is_paged_to_its_end(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=potter")
    assert done.returncode == 0, done.stderr
    jobs = [item for item in items if item["kind"] == "job"]
    pages = [item for item in items if item["kind"] == "search_page"]
    assert len({job["id"] for job in jobs}) == len(jobs) == 36
    assert [(page["page"], page["next_cursor"], page["results_count"]) for page in pages] == [
        (1, "10", 10), (2, "20", 10), (3, "30", 10), (4, "36", 6), (5, None, 0),
    ]  # fmt: skip
    assert starts(calm) == ["0", "10", "20", "30", "36"]
    assert {job["posted_at"][:5] for job in jobs} == {"2026-"}
    assert jobs[0]["currency"] == "USD"


def test_a_search_by_its_words_goes_on_by_fragments_to_the_limit(project, calm):
    project.use(calm)
    done, items = crawl(project, "url=https://www.linkedin.com/jobs/potter-jobs-lisbon", "limit=30")
    assert done.returncode == 0, done.stderr
    assert len([item for item in items if item["kind"] == "job"]) == 30
    assert [(page["total_results"], page["query"]) for page in items if page["kind"] == "search_page"] == [
        (36, "potter"), (None, "potter"),
    ]  # fmt: skip
    assert starts(calm) == ["25"]


def test_no_match_is_an_empty_result_that_the_page_confirms(project, calm):
    project.use(calm)
    done, (page,) = crawl(project, "query=zeppelin")
    assert (done.returncode, page["total_results"], page["results_count"]) == (0, 0, 0)
    assert project.records("failures") == []


def test_a_job(project, calm):
    project.use(calm)
    done, (job,) = crawl(project, "url=https://www.linkedin.com/jobs/view/potter-4400000002?trk=x")
    assert done.returncode == 0, done.stderr
    assert (job["id"], job["title"], job["applicants"]) == ("4400000002", "Kiln Potter", 8)
    assert (job["company"]["id"], job["company"]["name"]) == ("70002", "Brennhaus")
    assert job["description"].endswith("- Clay\n- Patience")
    assert calm.log("request")[-1]["path"] == "/jobs-guest/jobs/api/jobPosting/4400000002"


def test_a_company_in_german(project, calm):
    project.use(calm)
    _, (company, post) = crawl(project, "company=brennhaus")
    assert (company["kind"], company["name"], company["followers"]) == ("company", "Brennhaus", 1250)
    assert (company["size"], company["employees_count"]) == ("11–50 Beschäftigte", 18)
    assert (post["kind"], post["extra"]["reshared_by"]) == ("post", "brennhaus")


def test_a_profile_a_post_and_an_article(project, calm):
    project.use(calm)
    _, (person, _) = crawl(project, "person=mira-kiln")
    assert (person["name"], person["partial"]) == ("Mira K.", "logged_out_limit")
    assert person["positions"][0]["title"] is None
    for argument in (f"post={POST.name}", f"url=https://www.linkedin.com/feed/update/urn:li:activity:{POST.number}/"):
        _, (post, *comments) = crawl(project, argument, output="post.jsonl")
        assert (post["id"], post["likes"], len(comments)) == (POST.number, 128, 2)
    _, (article,) = crawl(project, f"article={ARTICLE}", output="article.jsonl")
    assert (article["title"], article["text"]) == (
        "What clay remembers",
        "Clay remembers every touch.\n\nSo does the kiln.",
    )


def test_refusals_cost_identities_and_no_job(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    done, items = crawl(project, "query=potter")
    assert done.returncode == 0, done.stderr
    assert len([item for item in items if item["kind"] == "job"]) == 36
    struck = [record["what"] for record in hostile.log("behaviour")]
    assert "block" in struck
    assert "login_wall" in struck
    assert {record["peer"] for record in hostile.log("request")} <= {"127.0.0.11", "127.0.0.12"}
    assert project.records("failures") == []


def test_a_wall_that_stays_is_a_failure(project, calm):
    project.use(calm)
    project.sites(policy="required", retries=1)
    done, items = crawl(project, f"person={WALLED}")
    assert (done.returncode, items) == (1, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("UPSTREAM_BLOCKED", "login_wall", 2)


@pytest.mark.parametrize(
    ("argument", "outcome"),
    [("person=no-such-potter", "not_found"), ("company=no-such-kiln", "not_found"), ("job=4400008888", "not_found"),
     ("article=no-such-title", "not_found"), (f"job={EXPIRED}", "gone")],
)  # fmt: skip
def test_what_is_not_there(project, calm, argument, outcome):
    project.use(calm)
    done, items = crawl(project, argument)
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", outcome, 1)


def test_a_post_that_is_not_there(project, calm):
    project.use(calm)
    _, items = crawl(project, "post=7000000000000000009")
    assert items == []
    assert [failure["outcome"] for failure in project.records("failures")] == ["not_found"]
