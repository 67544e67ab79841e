"""The Ad Library, whole: `scrapy crawl meta` against the local site, through proxies, to lines on disk."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fetchworker.demo.ad_library import TOKEN, AdLibrary
from fetchworker.demo.site import demo_site

pytestmark = pytest.mark.slow
LIBRARY = AdLibrary()


def crawl(project, *arguments, output="out.jsonl"):
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "meta", *pairs, "-O", str(project.folder / output))
    assert "Traceback" not in done.stderr, done.stderr
    return done, project.lines(output)


def ads(items):
    return [item for item in items if item["kind"] == "ad"]


def test_a_search_to_its_end_through_the_gate(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=kite")
    assert done.returncode == 0, done.stderr
    wanted = [str(int(one.number) + n) for one in LIBRARY.search("kite") for n in range(one.variants)]
    assert [ad["id"] for ad in ads(items)] == wanted
    pages = [item for item in items if item["kind"] == "page"]
    assert [page["exhausted"] for page in pages][-1] is True
    assert {page["total"] for page in pages} == {len(LIBRARY.search("kite"))}
    assert len(pages) > 2
    owners = Counter(item["id"] for item in items if item["kind"] == "advertiser")
    assert owners.most_common(1)[0][1] == 1
    paths = [record["path"] for record in calm.log("request")]
    assert [path for path in paths if "__rd_verify" in path] == ["/__rd_verify_demo?challenge=3"]
    assert project.records("failures") == []


def test_a_search_whose_page_has_no_ads(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=quiet lamp", "limit=12")
    assert done.returncode == 0, done.stderr
    assert len(ads(items)) == 12
    assert all("{{" not in ad["title"] for ad in ads(items))


def test_nothing_found_is_believed_when_others_find_something(project, calm):
    project.use(calm)
    done, items = crawl(project, "query=unicorn")
    assert done.returncode == 0, done.stderr
    assert [(item["kind"], item["total"], item["exhausted"]) for item in items] == [("page", 0, True)]


def test_an_ad_with_its_details(project, calm):
    project.use(calm)
    number = LIBRARY.ads[2].number
    done, (owner, ad) = crawl(project, f"url=https://www.facebook.com/ads/library/?id={number}")
    assert done.returncode == 0, done.stderr
    assert (owner["kind"], owner["instagram_followers"]) == ("advertiser", 77)
    assert (ad["id"], ad["partial"], ad["reach"], ad["beneficiary"]) == (number, None, 90, "Nobody at all")
    assert ad["media"]
    assert ad["audience"][0] == {"country": "MT", "region": None, "age": "18-24", "gender": "male", "reach": 10,
                                 "share": None}  # fmt: skip


def test_an_unknown_ad_is_a_failure_line(project, calm):
    project.use(calm)
    done, items = crawl(project, "id=1")
    assert (done.returncode, items) == (0, [])
    (failure,) = project.records("failures")
    assert (failure["type"], failure["outcome"], failure["attempts"]) == ("NOT_FOUND_UPSTREAM", "not_found", 1)


def test_blocks_walls_and_faults_on_the_way(project, hostile):
    project.use(hostile)
    project.sites(policy="required", retries=8)
    done, items = crawl(project, "query=lamp")
    assert done.returncode == 0, done.stderr
    numbers = [ad["id"] for ad in ads(items)]
    assert len(numbers) == len(set(numbers)) >= len(LIBRARY.search("lamp"))
    assert {"block", "login_wall"} <= {record["what"] for record in hostile.log("behaviour")}
    assert project.records("failures") == []


def test_ids_that_the_site_has_retired_are_read_anew_by_the_same_identity(project, lab):
    """The session's ids are of yesterday: the page is asked once more for today's, and no exit is blamed."""
    site = demo_site()
    lab.app = site.app
    project.use(lab)
    arguments = ("query=kite", "session=reader")
    done, first = crawl(project, *arguments, "limit=10", output="first.jsonl")
    assert done.returncode == 0, done.stderr
    cursor = [item for item in first if item["kind"] == "page"][-1]["next_cursor"]
    site.ad_library.queries.rotate()
    done, following = crawl(project, *arguments, f"cursor={cursor}", "limit=5", output="next.jsonl")
    assert done.returncode == 0, done.stderr
    assert len(ads(following)) == 5
    assert not {ad["id"] for ad in ads(first)} & {ad["id"] for ad in ads(following)}
    assert done.stderr.count("stale_contract (") == 1
    assert "rotated/meta" not in done.stderr
    assert project.records("failures") == []


def scripts_read(lab):
    """The script files that were asked for, by name."""
    paths = [one["path"] for one in lab.log("request") if one["path"].startswith("/rsrc.php/")]
    return [path.rpartition("/")[2].partition(".js")[0].partition("-")[0] for path in paths]


def test_ids_that_pages_tell_no_more_are_read_from_the_scripts_once(project, lab):
    """The page lacks the id, the one in the code is retired: a script has it, for all later calls as well."""
    site = demo_site()
    lab.app = site.app
    site.ad_library.queries.rotate(bundled=True)
    project.use(lab)
    done, items = crawl(project, "query=kite", "session=reader", "limit=15")
    assert done.returncode == 0, done.stderr
    assert len(ads(items)) == 15, "the page has twelve of them"
    assert scripts_read(lab) == ["vendor", "lib", "queries"]
    assert done.stderr.count("stale_contract (") == 1
    assert "rotated/meta" not in done.stderr
    assert "/failed'" not in done.stderr
    done, items = crawl(project, "query=quiet lamp", "session=reader", "limit=12", output="later.jsonl")
    assert (done.returncode, len(ads(items))) == (0, 12), done.stderr
    assert "stale_contract (" not in done.stderr, "the session has the id now"
    assert len(scripts_read(lab)) == 3
    assert project.records("failures") == []


def test_an_id_that_no_script_tells_is_a_stale_contract(project, lab):
    site = demo_site()
    lab.app = site.app
    site.ad_library.queries.rotate(bundled=True)
    site.ad_library.queries.script = lambda route, brand: None
    project.use(lab)
    done, items = crawl(project, "query=kite", "limit=15")
    assert (done.returncode, len(ads(items))) == (0, 12), done.stderr
    assert scripts_read(lab) == ["vendor", "lib", "queries"]
    (failure,) = project.records("failures")
    assert failure["outcome"] == "stale_contract"


def test_the_official_api_and_its_token_that_shows_up_nowhere(project, calm):
    project.use(calm)
    project.env["FETCHWORKER_META_ACCESS_TOKEN"] = TOKEN
    arguments = ("operation=ads_archive", "query=heavy", "countries=MT,IT", "limit=25")
    pairs = [part for argument in arguments for part in ("-a", argument)]
    done = project.scrapy("crawl", "meta", *pairs, "-O", str(project.folder / "api.jsonl"), "-L", "DEBUG")
    assert done.returncode == 0, done.stderr
    items = project.lines("api.jsonl")
    assert len(ads(items)) == 25
    assert (ads(items)[0]["spend_min"], ads(items)[0]["currency"]) == ("100", "EUR")
    assert "strategy api failed" in done.stderr, "too much at once, so smaller pages"
    kept = [path.read_bytes() for path in Path(project.folder).rglob("*") if path.is_file() and path.suffix != ".pem"]
    assert TOKEN.encode() not in b"".join(kept) + done.stderr.encode()
    assert {dict(map(tuple, one["headers"])).get("authorization") for one in calm.log("request")} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(("token", "kind"), [(None, "CONFIG_ERROR"), ("EAABwrong0token0canary", "FETCH_ERROR")])
def test_the_official_api_without_a_token_that_it_takes(project, calm, token, kind):
    project.use(calm)
    if token:
        project.env["FETCHWORKER_META_ACCESS_TOKEN"] = token
    done, items = crawl(project, "operation=ads_archive", "query=kite")
    assert (done.returncode, items) == (1, [])
    (failure,) = project.records("failures")
    assert failure["type"] == kind
    if token:
        assert token not in str(failure) + done.stderr
    else:
        assert "FETCHWORKER_META_ACCESS_TOKEN is not set" in failure["message"]
