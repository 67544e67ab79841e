"""How workers end: idle, done, told to, killed; and what they leave to the others."""

from __future__ import annotations

import signal

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def told_until(process, words: str) -> str:
    """The log up to the line with these words."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return "".join(lines)
    raise AssertionError("".join(lines))


def rest(process, code: int = 0) -> str:
    told = process.communicate(timeout=60)[1]
    assert process.returncode == code, told
    return told


class Queue:
    """What a namespace holds."""

    def __init__(self, server, root: str) -> None:
        self.client, self.root = server.client(), root

    def __getattr__(self, name: str) -> int:
        return int(self.client.hget(f"{self.root}:counts", name) or 0)

    @property
    def queued(self) -> int:
        return self.client.llen(f"{self.root}:requests:0")

    @property
    def workers(self) -> int:
        return self.client.zcard(f"{self.root}:workers")

    def looks(self) -> int:
        """How often any worker has asked; an idle one does so once a second."""
        return self.client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)

    def wait_for_looks(self, count: int, process) -> None:
        until = self.looks() + count
        while self.looks() < until:
            assert process.poll() is None, process.communicate()[1]


@pytest.fixture
def queue(redis_server):
    made = []

    def of(root: str) -> Queue:
        made.append(Queue(redis_server, root))
        return made[-1]

    yield of
    for each in made:
        each.client.close()


def test_an_idle_worker_waits_for_what_another_has_on_lease(other, site, queue):
    other.settings["SCHEDULER_IDLE_BEFORE_CLOSE"] = 0.2
    busy = other.start("plain", START="/held")
    site.wait_for("/held")
    idle = other.start("plain")
    told_until(idle, "worker")
    queue("{plain:start_urls}").wait_for_looks(3, idle)
    site.release.set()
    assert "Spider closed (idle)" in rest(busy)
    assert "Spider closed (idle)" in rest(idle)
    assert other.paths() == ["/held"]


def test_a_private_crawls_second_worker_waits_as_well_and_both_end(other, site, queue):
    busy = other.start("plain", START="/held", FETCHWORKER_CRAWL_ID="both")
    site.wait_for("/held")
    idle = other.start("plain", START="/held", FETCHWORKER_CRAWL_ID="both")
    told_until(idle, "worker")
    while queue("{plain:crawl:both}").workers < 1:
        assert idle.poll() is None
    site.release.set()
    assert "Spider closed (finished)" in rest(busy)
    assert "Spider closed (finished)" in rest(idle)
    assert other.paths() == ["/held"], "start() is run once"


def test_a_start_that_runs_keeps_the_crawl_open(other, site, queue):
    process = other.start("start", FETCHWORKER_CRAWL_ID="s", START_WAITS_FOR=str(other.folder / "go"))
    told_until(process, "start waits")
    names = queue("{start:crawl:s}")
    while names.done < 10:
        assert process.poll() is None
    names.wait_for_looks(2, process)
    (other.folder / "go").touch()
    assert "Spider closed (finished)" in rest(process)
    assert "/late" in other.paths()


def test_start_goes_on_where_it_was_killed(other, site, queue):
    killed = other.start("start", FETCHWORKER_CRAWL_ID="s", KILLED_IN_START="5")
    assert killed.wait(60) == -signal.SIGKILL
    names = queue("{start:crawl:s}")
    assert names.enqueued == 5
    told = other.crawl("start", FETCHWORKER_CRAWL_ID="s", KILLED_IN_START="5")
    assert "start() goes on after the 5 requests that are queued" in told
    assert names.enqueued == 10
    assert set(other.paths()) == {f"/list/{number}" for number in range(10, 20)}


def test_a_page_whose_worker_was_killed_in_a_pipeline_comes_again(other, site, queue):
    killed = other.start("plain", FETCHWORKER_CRAWL_ID="k", START="/list/1", KILLED_AT="/list/3")
    assert killed.wait(60) == -signal.SIGKILL
    other.crawl("plain", FETCHWORKER_CRAWL_ID="k", START="/list/1")
    assert site.paths.count("/list/3") == 2
    assert [path for path in other.paths() if path > "/list/2"] == ["/list/3", "/list/4", "/list/5"]
    names = queue("{plain:crawl:k}")
    assert (names.enqueued, names.done) == (6, 6), "the first page was asked for without the filter"


def test_a_flush_at_the_start_spares_a_queue_that_others_work_on(other, site, queue):
    other.settings |= {"SCHEDULER_IDLE_BEFORE_CLOSE": 0.2, "CONCURRENT_REQUESTS": 1, "SCHEDULER_PERSIST": False}
    busy = other.start("plain", START="/held /list/1")
    site.wait_for("/held")
    other.settings["SCHEDULER_FLUSH_ON_START"] = True
    second = other.start("plain")
    told_until(second, "worker")
    site.release.set()
    rest(busy)
    rest(second)
    assert {"/held", "/list/1", "/list/5"} <= set(other.paths())
    assert queue("{plain:start_urls}").client.keys("*") == [], "the last one out takes all with it"


@pytest.mark.parametrize(
    ("page", "env"), [("/held", {}), ("/hangs", {}), ("/list/9", {"HANGS_IN_PIPELINE": "/list/9"})]
)
def test_what_is_under_way_at_the_end_of_the_grace_goes_back(other, site, queue, page, env):
    other.settings["CONCURRENT_REQUESTS"] = 2
    env |= {"FETCHWORKER_CRAWL_ID": "g", "FETCHWORKER_GRACE": "0.3"}
    process = other.start("hangs", START=f"{page} /held/2 /held/3", **env)
    site.wait_for(page, "/held/2")
    if page == "/hangs":
        told_until(process, "it hangs")
    process.send_signal(signal.SIGTERM)
    told = rest(process)
    assert "requests are under way still: they go back to the queue" in told
    assert "Spider closed (shutdown)" in told
    assert "Traceback" not in told, told
    names = queue("{hangs:crawl:g}")
    assert (names.queued, names.workers, names.done) == (3, 0, 0)
    site.release.set()
    if page != "/hangs":
        other.crawl("hangs", FETCHWORKER_CRAWL_ID="g")
        assert other.paths() == sorted([page, "/held/2", "/held/3"])


def test_what_ends_within_the_grace_is_done_and_nothing_more_is_leased(other, site, queue):
    other.settings["CONCURRENT_REQUESTS"] = 1
    process = other.start("plain", START="/held /list/1", FETCHWORKER_CRAWL_ID="g")
    site.wait_for("/held")
    process.send_signal(signal.SIGTERM)
    told_until(process, "Closing spider (shutdown)")
    site.release.set()
    told = rest(process)
    assert "FETCHWORKER_CRAWL_ID=g and the same command go on" in told
    names = queue("{plain:crawl:g}")
    assert (names.done, names.queued, names.workers) == (1, 1, 0)
    assert other.paths() == ["/held"]


def test_a_second_signal_ends_at_once_and_the_next_worker_takes_over(other, site, queue):
    process = other.start("hangs", START="/hangs", FETCHWORKER_CRAWL_ID="g", FETCHWORKER_GRACE="600")
    told_until(process, "it hangs")
    process.send_signal(signal.SIGTERM)
    told_until(process, "Closing spider (shutdown)")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert queue("{hangs:crawl:g}").done == 0
    other.settings["SPIDER_MODULES"] = ["other.calmed"]
    other.crawl("hangs", FETCHWORKER_CRAWL_ID="g")
    assert other.paths() == ["/hangs"]
