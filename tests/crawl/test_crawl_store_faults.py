"""Crawls whose database is away, full or of another version: what is not stored is not written and not done."""

from __future__ import annotations

import itertools
import json
import random
import resource
import sqlite3
import threading
from contextlib import closing

import pytest

from fetchworker.demo.lab import text
from fetchworker.demo.postgres import PostgresServer

pytestmark = pytest.mark.slow
URL = "https://lab.example"
SEEDS = 40


@pytest.fixture
def server():
    """A server that may be killed."""
    with PostgresServer() as made:
        yield made


@pytest.fixture
def crawl(project, lab, sites, queue):
    """Runs a crawl of forty addresses and lets something happen when the fifteenth is asked for."""
    project.use(lab)
    sites(concurrency=2)

    def run(happens, answer=lab.plain):
        count = itertools.count(1)
        done = threading.Event()
        queue.rpush("fetch:start_urls", *(json.dumps({"url": f"{URL}/echo?{number}"}) for number in range(SEEDS)))

        def app(request):
            if next(count) == 15:
                happens(process)
                done.set()
            return answer(request)

        lab.app = app
        output = ("-O", str(project.folder / "f.jsonl"))
        process = project.start("crawl", "fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1", *output)
        log = process.communicate(timeout=60)[1].decode()
        assert done.is_set(), log
        assert "Traceback" not in log
        return process.returncode, log

    return run


def rows(url, sql):
    import psycopg

    with psycopg.connect(url) as connection:
        return connection.execute(sql).fetchall()


def assert_none_is_lost(project, lab, stored, left):
    """Every page that came is stored and written, or the queue has it still."""
    written = {item["url"] for item in project.lines("f.jsonl")}
    assert written <= stored
    assert not written & left
    assert project.records("failures") == []
    assert {f"https://{request.host}{request.path}" for request in lab.requests} <= written | left
    assert len(written | left) == SEEDS
    return written, left


def test_a_database_that_is_not_there_ends_the_crawl_before_it_begins(fetch, project, lab):
    project.env["FETCHWORKER_DATABASE_URL"] = "postgresql://ana:geheim-4711@127.0.0.1:1/items"
    project.env["FETCHWORKER_STORE_PATIENCE"] = "0"
    crawl = fetch(f"{URL}/echo")
    assert (crawl.code, crawl.items, lab.paths) == (1, [], [])
    assert "'finish_reason': 'storage_error'" in crawl.log
    assert "postgresql://127.0.0.1:1/items: connection failed" in crawl.log
    assert "geheim-4711" not in crawl.log


def test_a_database_that_dies_ends_the_crawl_and_what_was_not_stored_is_not_done(project, lab, crawl, server, left):
    url = project.env["FETCHWORKER_DATABASE_URL"] = server.create("items")
    project.env["FETCHWORKER_STORE_PATIENCE"] = "0.5"
    code, log = crawl(lambda _: server.kill())
    assert code == 1
    assert "'finish_reason': 'storage_error'" in log
    assert log.count("the crawl stops") == 1
    server.start()
    stored = {row[0] for row in rows(url, "SELECT url FROM observations")}
    _, waiting = assert_none_is_lost(project, lab, stored, left())
    assert waiting


def test_a_database_that_is_restarted_in_the_middle_costs_nothing(project, lab, crawl, server, left):
    url = project.env["FETCHWORKER_DATABASE_URL"] = server.create("items")

    def restart(_):
        server.kill()
        server.start()

    code, log = crawl(restart)
    assert code == 0, log
    stored = [row[0] for row in rows(url, "SELECT url FROM observations")]
    assert len(stored) == SEEDS
    written, waiting = assert_none_is_lost(project, lab, set(stored), left())
    assert (len(written), waiting) == (SEEDS, set())


def assert_it_ends_for_want_of_room(project, lab, ended, stored, waiting):
    code, log = ended
    assert code == 1, log
    assert "'finish_reason': 'storage_error'" in log
    assert log.count("the crawl stops") == 1
    written, left = assert_none_is_lost(project, lab, stored, waiting)
    assert written
    assert left


def test_a_file_that_cannot_grow_ends_the_crawl_and_what_was_not_stored_is_not_done(project, lab, crawl, left):
    path = project.folder / "items.db"
    project.env["FETCHWORKER_DATABASE_URL"] = f"sqlite:///{path}"

    def fill_up(process):
        """No file of the crawl may outgrow the database's log as it is now."""
        size = path.with_name("items.db-wal").stat().st_size
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    ended = crawl(fill_up)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        stored = {row[0] for row in connection.execute("SELECT url FROM observations")}
    assert_it_ends_for_want_of_room(project, lab, ended, stored, left())


@pytest.fixture
def small_server():
    """A server whose tables cannot grow beyond 17 MB (its log's files have 16)."""
    made = PostgresServer()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (17 * 2**20, limits[1]))  # its processes inherit it
    try:
        made.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    yield made
    made.close()


def test_a_server_without_room_ends_the_crawl_and_what_was_not_stored_is_not_done(
    project, lab, crawl, small_server, left
):
    url = project.env["FETCHWORKER_DATABASE_URL"] = small_server.create("items")
    noise = random.Random(3)
    ended = crawl(lambda _: None, answer=lambda _: text(noise.randbytes(450_000).hex()))
    stored = {row[0] for row in rows(url, "SELECT url FROM observations")}
    assert "could not extend file" in ended[1]
    assert_it_ends_for_want_of_room(project, lab, ended, stored, left())


def test_a_database_of_a_newer_version_is_left_alone_and_nothing_is_fetched(fetch, lab, project, query):
    assert fetch(f"{URL}/echo?first").code == 0
    lab.server.log.clear()
    query("UPDATE fetchworker_version SET version_num = '9999' RETURNING version_num")
    crawl = fetch(f"{URL}/echo?second")
    assert (crawl.code, crawl.items, lab.paths) == (1, [], [])
    assert "'finish_reason': 'storage_error'" in crawl.log
    assert "update fetchworker, or use another database" in crawl.log
    assert query("SELECT version_num FROM fetchworker_version") == [("9999",)]
    assert [url for (url,) in query("SELECT url FROM observations")] == [f"{URL}/echo?first"]
