"""Crawls that store in a database: what is scraped is there, once; what is not there is not done."""

from __future__ import annotations

import itertools
import json
import sqlite3
import threading
from contextlib import closing

import pytest

pytestmark = pytest.mark.slow
URL = "https://lab.example"


def counts(query) -> tuple[int, int]:
    return query("SELECT count(*) FROM items")[0][0], query("SELECT count(*) FROM observations")[0][0]


def test_a_crawl_stores_what_it_writes_and_doing_it_again_adds_nothing(project, calm, query):
    project.use(calm)

    def crawl(*options):
        output = project.folder / "nasa.jsonl"
        done = project.scrapy("crawl", "instagram", "-a", "user=nasa", "-O", str(output), *options)
        assert done.returncode == 0, done.stderr
        return done.stderr, project.lines("nasa.jsonl")

    log, items = crawl()
    assert "items are stored in" in log
    assert counts(query) == (13, len(items))  # a profile and twelve posts have ids, their page has none
    as_told = {item["item_id"]: item for item in items}
    for item_id, item in query("SELECT item_id, item FROM observations"):
        assert (json.loads(item) if isinstance(item, str) else item) == as_told[item_id]
    crawl()
    assert counts(query) == (13, len(items))
    crawl("-s", "FETCHWORKER_CRAWL_ID=nightly-1")
    crawl("-s", "FETCHWORKER_CRAWL_ID=nightly-1", "-s", "FETCHWORKER_FRONTIER=memory")  # in the queue it is over
    assert counts(query) == (13, 2 * len(items)), "a crawl with a name of its own is a point of the history"


def test_two_crawls_at_once_that_write_the_same_items_store_them_once(project, calm, query):
    project.use(calm)
    outputs = [project.folder / f"{name}.jsonl" for name in "ab"]
    crawls = [project.start("crawl", "instagram", "-a", "user=nasa", "-O", str(output)) for output in outputs]
    told = [crawl.communicate(timeout=60)[1].decode() for crawl in crawls]
    assert [crawl.returncode for crawl in crawls] == [0, 0], told
    mine, others = (project.lines(output.name) for output in outputs)
    assert {item["item_id"] for item in mine} == {item["item_id"] for item in others}
    assert counts(query) == (13, len(mine))
    assert query("SELECT count(*) FROM items WHERE id IS NULL OR item IS NULL") == [(0,)]


def test_items_are_written_in_the_order_they_came(project, calm, query):
    project.use(calm)
    output = ("-O", str(project.folder / "p.jsonl"))
    done = project.scrapy("crawl", "instagram", "-a", "user=nasa", "-a", "operation=posts", "-a", "limit=40", *output)
    assert done.returncode == 0, done.stderr
    items = project.lines("p.jsonl")
    assert [item["kind"] for item in items].count("post") == 40
    # an item's place is that on the site's page, so those left out (seen before, past the limit) leave gaps
    pages = [list(group) for _, group in itertools.groupby(items, lambda item: item["item_id"].rpartition("-")[0])]
    assert all(page[-1]["kind"] == "page" for page in pages)
    places = [[int(item["item_id"].rpartition("-")[2]) for item in page] for page in pages]
    assert all(earlier < later for page in places for earlier, later in itertools.pairwise(page))


def test_a_killed_crawl_done_again_stores_everything_once(project, lab, queue, query, sites):
    project.use(lab)
    sites(concurrency=2)
    seeds = [json.dumps({"url": f"{URL}/echo?{number}"}) for number in range(40)]
    command = ("crawl", "fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1", "-s", "FETCHWORKER_STORE_DELAY=0")
    answered = threading.Semaphore(0)

    def app(request):
        answered.release()
        return lab.plain(request)

    lab.app = app
    queue.rpush("fetch:start_urls", *seeds)
    process = project.start(*command)
    for _ in range(15):
        assert answered.acquire(timeout=50)
    process.kill()
    process.communicate()
    before = counts(query)[1]
    assert 0 < before < 40
    queue.delete("fetch:start_urls", "fetch:requests")
    queue.rpush("fetch:start_urls", *seeds)
    assert project.scrapy(*command).returncode == 0
    urls = [url for (url,) in query("SELECT url FROM observations")]
    assert sorted(urls) == sorted(f"{URL}/echo?{number}" for number in range(40))


def test_an_item_that_the_database_refuses_is_put_aside_and_the_crawl_goes_on(serve, project, query):
    project.env["FETCHWORKER_CRAWL_ID"] = "with-a-rule"
    assert serve(f"{URL}/echo?0").code == 0
    add_rule(project)
    crawl = serve(*(f"{URL}/echo?{name}" for name in ("1", "forbidden", "2")))
    assert crawl.code == 0
    assert sorted(url for (url,) in query("SELECT url FROM observations")) == [f"{URL}/echo?{n}" for n in (0, 1, 2)]
    assert sorted(item["url"] for item in crawl.items) == [f"{URL}/echo?{n}" for n in (1, 2)]
    [reject] = project.records("rejects")
    assert reject["item"]["kind"] == "fetch_result"
    assert reject["reason"]


def add_rule(project):
    url = project.env.get("FETCHWORKER_DATABASE_URL")
    if url is None:
        rule = (
            "CREATE TRIGGER rule BEFORE INSERT ON observations WHEN NEW.url LIKE '%forbidden' "
            "BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        with closing(sqlite3.connect(project.folder / "state" / "fetchworker.db")) as connection:
            connection.execute(rule)
        return
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("ALTER TABLE observations ADD CONSTRAINT rule CHECK (url NOT LIKE '%forbidden')")


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"FETCHWORKER_DATABASE_URL": "mysql://db/x"}, "FETCHWORKER_DATABASE_URL: must be a URL"),
        ({"FETCHWORKER_DATABASE_URL": "postgresql://a:b/c@db/x"}, "percent-encode"),
        ({"FETCHWORKER_STORE": "perhaps"}, "FETCHWORKER_STORE: must be"),
        ({"FETCHWORKER_STORE_BATCH": "0"}, "FETCHWORKER_STORE_BATCH: must be"),
    ],
)
def test_a_wrong_configuration_is_refused(project, variables, told):
    project.env |= variables
    done = project.scrapy("crawl", "fetch", "-a", f"url={URL}")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_database_nothing_is_stored(fetch, project):
    assert fetch(f"{URL}/echo").code == 0
    assert not (project.folder / "state" / "fetchworker.db").exists()
