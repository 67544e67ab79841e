"""`scrapy queue`: how queues stand, for people and for programs; dead letters; purges."""

from __future__ import annotations

import base64
import json

import msgpack
import pytest
from scrapy import Request

from fetchworker.frontier.entry import Child, Finished, Move, Staged
from fetchworker.frontier.keys import registry

URL = "https://site.example"


def read(done) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def busy(worker, queue):
    """A queue of `fetch` with something of everything in it; returns the tokens of what is on lease."""
    ann = worker("fetch")
    ann.push(
        Request(f"{URL}/high", priority=1000),
        Request(f"{URL}/secret?token=abcdefghijkl", priority=7),
        *(Request(f"{URL}/{number}") for number in range(5)),
        *(Request(f"{URL}/low/{number}", priority=-1000) for number in range(3)),
    )
    first, second, third, fourth, fifth = ann.take(5)
    ann.tell(
        finished=[Finished(third.token)],
        moved=[Move(fourth.token, delay=500_000), Move(fifth.token, dead="ValueError: no such page")],
        staged=[Staged(second.token, 0, ())],
    )
    queue.rpush("fetch:start_urls", f"{URL}/seed", f"{URL}/seed/2")
    return first.token, second.token


def test_people_read_a_table_and_who_has_what(project, busy):
    done = project.scrapy("queue", "fetch", "--verbose")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = dict(zip(lines[0].split(), lines[1].split(), strict=True))
    assert told.pop("UNSERVED")[-1] in "sm"
    assert told == {
        "SITE": "fetch", "CRAWL": "(shared)", "HIGH": "0", "NORMAL": "2", "LOW": "3", "LEASED": "2", "DELAYED": "1",
        "SEEDS": "2", "DEAD": "1", "ENQUEUED": "10", "DONE": "1", "AGAIN": "0", "START": "none",
    }  # fmt: skip
    assert any("next delayed request is due in 8m" in line for line in lines)
    assert any(line.split()[:2] == ["-1000", "3"] for line in lines)
    assert any("ann#" in line and "2 leases, lapse in" in line for line in lines)
    assert f"{URL}/secret?token=***" in done.stdout
    assert "abcdefghijkl" not in done.stdout


def test_programs_read_one_object(project, busy):
    (told,) = read(project.scrapy("queue", "fetch", "--json"))["namespaces"]
    assert (told["site"], told["crawl"], told["queued"], told["leased"]) == ("fetch", None, 5, 2)
    assert told["tiers"] == {"high": 0, "normal": 2, "low": 3}
    assert [(level["priority"], level["requests"]) for level in told["priorities"]] == [(0, 2), (-1000, 3)]
    assert told["counts"] == {"enqueued": 10, "done": 1, "redelivered": 0, "dead": 1}
    assert 400 < told["next_due"] <= 500
    (worker,) = told["workers"]
    assert worker["owner"].startswith("ann#")
    assert 0 < worker["lapses_in"] <= 600
    leases = [(one["id"], one["url"], one["priority"], one["attempt"], one["deliveries"]) for one in worker["leases"]]
    assert leases == [
        (busy[0], f"{URL}/high", 1000, 1, 1),
        (busy[1], f"{URL}/secret?token=***", 7, 1, 1),
    ]
    assert all(one["age"] >= 0 and one["kind"] == "request" for one in worker["leases"])
    assert (told["seeds"], told["seeds_key"], told["seeds_type"]) == (2, "fetch:start_urls", "list")
    assert (told["delayed"], told["dead"], told["seen"]) == (1, 1, 10)


def test_all_sites_and_their_private_crawls_are_told_where_something_is(project, worker, queue):
    for crawl_id in ("nightly-7", "gone"):
        queue.zadd(registry("linktree"), {crawl_id: 5})
    private = worker("linktree", "nightly-7")
    private.push(Request(URL, priority=3))
    private.run(lambda frontier: frontier.start("begin"))
    queue.sadd("instagram:start_urls", "a", "b")
    queue.set("ebay:start_urls", "no seeds")
    told = read(project.scrapy("queue", "--json"))["namespaces"]
    assert [(each["site"], each["crawl"], each["queued"], each["seeds"]) for each in told] == [
        ("ebay", None, 0, None), ("instagram", None, 0, 2), ("linktree", "nightly-7", 1, 0),
    ]  # fmt: skip
    assert told[0]["seeds_type"] == "string"
    assert told[2]["start"] == {"state": "running", "requests": 0}
    (private,) = read(project.scrapy("queue", "linktree", "--crawl", "nightly-7", "--json"))["namespaces"]
    assert (private["crawl"], private["queued"]) == ("nightly-7", 1)
    assert "ebay:start_urls is a string" in project.scrapy("queue").stdout


def test_staged_and_committed_children_and_an_ended_crawl(project, worker, queue):
    page = worker("fetch", "c1")
    page.run(lambda frontier: frontier.enter())
    page.push(Request(f"{URL}/a"), Request(f"{URL}/b"))
    one, other = page.take(2)
    children = tuple(Child(0, number, b"x") for number in range(3))
    page.tell(staged=[Staged(one.token, 0, children), Staged(other.token, 0, children[:2])])
    page.tell(finished=[Finished(one.token, staged=3)])
    (told,) = read(project.scrapy("queue", "fetch", "--json"))["namespaces"]
    assert (told["staged"], told["committed"], told["queued"]) == (2, {"pages": 1, "children": 3}, 3)
    shown = project.scrapy("queue", "fetch").stdout
    assert "2 children of pages under way are staged" in shown
    assert "1 pages are done whose 3 further children" in shown
    page.tell(finished=[Finished(other.token)])
    page.tell(finished=[Finished(each.token) for each in page.take(9)])
    page.run(lambda frontier: frontier.leave())
    assert page.run(lambda frontier: frontier.expire())
    assert "ended; what is left goes in 7d" in project.scrapy("queue", "fetch", "--crawl", "c1").stdout


def test_nothing_there_is_said(project, endpoint):
    done = project.scrapy("queue", "fetch")
    assert (done.returncode, done.stdout) == (0, "nothing in the queue of fetch\n")
    done = project.scrapy("queue")
    assert (done.returncode, done.stdout) == (0, "nothing in the queues of any site\n")
    done = project.scrapy("queue", "dlq", "list", "fetch")
    assert (done.returncode, done.stdout) == (0, "fetch: no dead letters\n")
    done = project.scrapy("queue", "purge", "fetch")
    assert (done.returncode, done.stdout) == (0, "fetch: nothing gone\n")
    assert read(project.scrapy("queue", "fetch", "--json")) == {"namespaces": []}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fetsh",), "did you mean 'fetch'"),
        (("dlq",), "dlq list|retry|drop SITE"),
        (("dlq", "show", "fetch"), "list, retry, drop"),
        (("dlq", "retry", "fetch"), "--all"),
        (("dlq", "retry", "fetch", "1", "--all"), "not both"),
        (("dlq", "drop", "fetch", "--all"), "add --yes"),
        (("purge",), "purge SITE"),
        (("purge", "fetch", "ebay"), "purge SITE"),
        (("fetch", "--crawl", "{a}"), "--crawl"),
        (("fetch", "--jsn"), "unknown option --jsn"),
    ],
)
def test_what_cannot_be_is_told(project, arguments, told):
    done = project.scrapy("queue", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_redis_that_is_away_ends_with_1(project):
    project.env["REDIS_URL"] = "redis://:hiddenword@127.0.0.1:1/0"
    project.env["FETCHWORKER_REDIS_PATIENCE"] = "0"
    for arguments in (("queue",), ("queue", "dlq", "list", "fetch"), ("seed", "fetch", "-a", f"url={URL}")):
        done = project.scrapy(*arguments)
        assert (done.returncode, done.stdout) == (1, "")
        assert "no Redis at redis://127.0.0.1:1/0" in done.stderr
        assert "hiddenword" not in done.stderr
        assert "Traceback" not in done.stderr


class TestDeadLetters:
    @pytest.fixture
    def letters(self, worker, queue):
        """Five of them: a plain request, one with everything, two seeds, and an entry that is none of ours."""
        ann = worker("fetch")
        ann.push(
            Request(f"{URL}/plain", priority=40),
            Request(
                f"{URL}/full?n=1", method="POST", body=b"\x00\xff", headers={"X-One": ["1", "2"]}, priority=30,
                meta={"pair": (1, b"\xfe"), "text": b"yes"}, cookies={"a": "1"}, dont_filter=True,
            ),
        )  # fmt: skip
        queue.rpush("{fetch:start_urls}:requests:20", b"r\x00\x00\x01no msgpack")
        queue.zadd("{fetch:start_urls}:requests", {"20": 20})
        queue.rpush("fetch:start_urls", '{"usr": "ann"}', b"\xff\xfe")
        taken = ann.take(9, 9)
        reasons = ["ValueError: no", "KeyError: 'a'", "no msgpack", "fetch does not know\n  more", "not UTF-8"]
        ann.tell(moved=[Move(one.token, dead=why) for one, why in zip(taken, reasons, strict=True)])
        return [one.token for one in taken]

    def test_programs_read_the_reason_and_the_raw_request(self, project, letters):
        done = project.scrapy("queue", "dlq", "list", "fetch", "--json")
        assert done.returncode == 0, done.stderr
        listed = list(map(json.loads, done.stdout.splitlines()))
        assert [told["at"] for told in listed] == sorted(told["at"] for told in listed)
        assert [told["id"] for told in listed] == sorted((told["id"] for told in listed), key=int)
        found = {told["id"]: told for told in listed}
        plain, full, broken, seed, binary = (found[id_] for id_ in letters)
        assert plain["request"] == {"method": "GET", "url": f"{URL}/plain"}
        assert (plain["reason"], plain["attempts"], plain["deliveries"]) == ("ValueError: no", 1, 0)
        assert (plain["priority"], plain["at"][:2]) == (40, "20")
        assert full["request"] == {
            "method": "POST", "url": f"{URL}/full?n=1", "body_base64": "AP8=", "headers": [["X-One", "1", "2"]],
            "meta": {"pair": [1, {"base64": "/g=="}], "text": "yes"}, "cookies": {"a": "1"}, "dont_filter": True,
        }  # fmt: skip
        assert (broken["kind"], base64.b64decode(broken["raw_base64"])) == ("unreadable", b"\x01no msgpack")
        assert (seed["kind"], seed["seed"], seed["reason"]) == ("seed", '{"usr": "ann"}', "fetch does not know\n  more")
        assert base64.b64decode(binary["seed_base64"]) == b"\xff\xfe"

    def test_people_read_a_line_a_letter(self, project, letters):
        done = project.scrapy("queue", "dlq", "list", "fetch", letters[0], letters[3])
        head, first, second = done.stdout.splitlines()
        assert head.split() == ["ID", "KIND", "ATTEMPTS", "DELIVERIES", "AGE", "REASON", "URL"]
        rows = {line.split()[0]: line for line in (first, second)}
        assert rows[letters[0]].endswith(f"GET {URL}/plain")
        assert rows[letters[3]].split()[1] == "seed"
        assert "fetch does not know" in rows[letters[3]]

    def test_retried_ones_are_in_the_queue_as_if_they_had_never_failed(self, project, letters, worker, queue):
        done = project.scrapy("queue", "dlq", "retry", "fetch", letters[1], letters[3])
        assert (done.returncode, done.stdout) == (0, "fetch: 2 dead letters are in the queue again\n")
        request, seed = worker("fetch", owner="bob").take(9)
        assert (request.priority, request.entry.failures, request.entry.kind) == (30, 0, "request")
        assert (seed.entry.kind, seed.entry.payload) == ("seed", b'{"usr": "ann"}')
        assert queue.hlen("{fetch:start_urls}:dead") == 3

    def test_dropped_ones_are_gone_and_the_others_stay(self, project, letters, queue):
        done = project.scrapy("queue", "dlq", "drop", "fetch", letters[0], "--json")
        assert read(done) == {"site": "fetch", "crawl": None, "dropped": 1, "left": 0}
        assert queue.hlen("{fetch:start_urls}:dead") == 4
        assert read(project.scrapy("queue", "dlq", "drop", "fetch", "--all", "--yes", "--json"))["dropped"] == 4
        assert queue.hlen("{fetch:start_urls}:dead") == 0

    def test_unknown_ids_are_named_and_the_known_ones_are_done(self, project, letters, queue):
        done = project.scrapy("queue", "dlq", "retry", "fetch", "77777", letters[0])
        assert done.returncode == 2
        assert "no dead letter '77777'" in done.stderr
        assert not queue.hexists("{fetch:start_urls}:dead", letters[0])
        assert project.scrapy("queue", "dlq", "list", "fetch", "77777").returncode == 2

    def test_a_record_that_cannot_be_read_is_shown_kept_and_dropped(self, project, letters, queue):
        queue.hset("{fetch:start_urls}:dead", "odd", b"\xc1")
        queue.hset("{fetch:start_urls}:dead", "short", msgpack.packb(["why"]))
        done = project.scrapy("queue", "dlq", "list", "fetch")
        assert [line.split()[0] for line in done.stdout.splitlines() if "cannot be read" in line] == [
            "odd",
            "short",
        ]  # by length, then by name
        told = read(project.scrapy("queue", "dlq", "retry", "fetch", "--all", "--json"))
        assert (told["retried"], told["left"]) == (5, 2)
        assert read(project.scrapy("queue", "dlq", "drop", "fetch", "odd", "short", "--json"))["dropped"] == 2

    def test_those_of_a_private_crawl_have_a_place_of_their_own(self, project, letters, worker):
        private = worker("fetch", "c1")
        private.push(Request(f"{URL}/private"))
        (taken,) = private.take(1)
        private.tell(moved=[Move(taken.token, dead="no")])
        done = project.scrapy("queue", "dlq", "list", "fetch", "--crawl", "c1", "--json")
        assert json.loads(done.stdout)["request"]["url"] == f"{URL}/private"

    @pytest.mark.parametrize("how", ["retried", "entered"])
    def test_an_ended_crawl_goes_on_and_loses_no_count(self, project, worker, queue, how):
        private = worker("fetch", "c1")
        private.push(Request(URL))
        (taken,) = private.take(1)
        private.tell(moved=[Move(taken.token, dead="no")])
        private.run(lambda frontier: frontier.leave())
        assert private.run(lambda frontier: frontier.expire())
        assert queue.ttl("{fetch:crawl:c1}:counts") > 0
        if how == "retried":
            assert project.scrapy("queue", "dlq", "retry", "fetch", "--all", "--crawl", "c1").returncode == 0
        else:
            private.run(lambda frontier: frontier.enter())
        assert queue.ttl("{fetch:crawl:c1}:counts") == -1
        assert queue.ttl("{fetch:crawl:c1}:dead") == (-2 if how == "retried" else -1)


class TestPurge:
    def test_is_refused_without_yes_and_tells_how_much_would_go(self, project, busy, queue):
        before = sorted(queue.keys())
        done = project.scrapy("queue", "purge", "fetch")
        assert done.returncode == 2
        assert "5 requests, 2 on lease, 1 delayed, 1 dead letters, 10 fingerprints would be gone" in done.stderr
        assert sorted(queue.keys()) == before

    def test_is_refused_while_a_worker_is_alive_unless_forced(self, project, busy, queue):
        done = project.scrapy("queue", "purge", "fetch", "--yes")
        assert done.returncode == 2
        assert "worked on by ann#" in done.stderr
        done = project.scrapy("queue", "purge", "fetch", "--yes", "--force")
        assert done.returncode == 0, done.stderr
        assert "2 seeds stay in fetch:start_urls" in done.stdout
        assert queue.keys() == [b"fetch:start_urls"]

    def test_of_a_private_crawl_leaves_the_others(self, project, busy, worker, queue):
        private = worker("fetch", "c1")
        private.run(lambda frontier: frontier.enter())
        private.push(Request(URL))
        private.run(lambda frontier: frontier.leave())
        before = {key for key in queue.scan_iter() if b"crawl:c1" not in key and key != registry("fetch").encode()}
        done = project.scrapy("queue", "purge", "fetch", "--crawl", "c1", "--yes", "--json")
        assert read(done)["purged"]["queued"] == 1
        assert set(queue.keys()) == before

    def test_drops_the_seeds_when_told_so(self, project, queue):
        queue.rpush("fetch:start_urls", URL)
        done = project.scrapy("queue", "purge", "fetch", "--yes", "--seeds")
        assert (done.returncode, done.stdout) == (0, "fetch: 1 seeds gone\n")
        assert queue.keys() == []


def everything(project, worker) -> None:
    """Each of the commands once."""
    worker.push(Request(URL), Request(f"{URL}/2"))
    first, second = worker.take(2)
    worker.tell(moved=[Move(first.token, dead="no"), Move(second.token, dead="no")])
    assert project.scrapy("seed", "fetch", "-a", f"url={URL}/seed").returncode == 0
    (told,) = read(project.scrapy("queue", "fetch", "--json"))["namespaces"]
    assert (told["dead"], told["seeds"]) == (2, 1)
    done = project.scrapy("queue", "dlq", "list", "fetch", "--json")
    assert len(done.stdout.splitlines()) == 2, done.stderr
    assert project.scrapy("queue", "dlq", "retry", "fetch", first.token).returncode == 0
    assert read(project.scrapy("queue", "dlq", "drop", "fetch", "--all", "--yes", "--json"))["dropped"] == 1
    purged = read(project.scrapy("queue", "purge", "fetch", "--yes", "--force", "--seeds", "--json"))["purged"]
    assert purged == {"queued": 1, "leased": 0, "delayed": 0, "dead": 0, "seen": 2, "seeds": 1}


def test_on_a_cluster(project, worker_at, redis_cluster):
    everything(project, worker_at(redis_cluster.url, "fetch"))
    assert sum(node.call("DBSIZE") for node in redis_cluster.nodes) == 0


def test_a_user_that_may_touch_the_keys_of_the_site_alone_is_enough(project, worker_at, redis_server):
    rules = ["on", ">fewrights", "resetchannels", "~{fetch:*", "~fetch:*", "+@all", "-@dangerous", "-@admin"]
    redis_server.call("ACL", "SETUSER", "few", *rules)
    try:
        everything(project, worker_at(redis_server.url.replace("redis://", "redis://few:fewrights@"), "fetch"))
        done = project.scrapy("queue", "linktree")
        assert done.returncode == 1
        assert "no permissions" in done.stderr
        assert "fewrights" not in done.stderr
        assert "Traceback" not in done.stderr
        done = project.scrapy("queue")
        assert (done.returncode, done.stdout) == (0, "nothing in the queues of any site\n")
        assert "may not be looked at: ads_transparency, " in done.stderr
        assert "fetch" not in done.stderr
    finally:
        redis_server.call("ACL", "DELUSER", "few")
