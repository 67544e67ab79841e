"""The shared queue: seeds in, items out, what is no seed put aside, and the work shared by all workers of a site."""

from __future__ import annotations

import base64
import json
import pickle
import signal
import socket as so
import subprocess
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from fetchworker._redis_server import find_binary
from fetchworker.demo.site import demo_site

pytestmark = pytest.mark.slow
URL = "https://lab.example"


def dead(queue, key):
    return [json.loads(record) for record in queue.lrange(f"{key}:dead", 0, -1)]


def raw_of(record: dict) -> bytes:
    return record["seed"].encode() if "seed" in record else base64.b64decode(record["seed_base64"])


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


def test_the_highest_priority_goes_first(serve, lab):
    seeds = [{"url": f"{URL}/echo?{number}", "priority": priority} for number, priority in enumerate([0, 5, -3, 9])]
    serve({"url": f"{URL}/slow?seconds=0.5"}, *seeds, options=("-s", "CONCURRENT_REQUESTS=1"))
    assert lab.paths == ["/slow?seconds=0.5", "/echo?3", "/echo?1", "/echo?0", "/echo?2"]


def test_poison_is_put_aside_with_its_reason_and_the_good_is_done(serve, queue):
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
    records = dead(queue, "fetch:start_urls")
    assert len(records) == len(poison)
    assert [raw_of(record) for record in records] == [
        seed if isinstance(seed, bytes) else seed.encode() for seed in poison
    ]
    assert all(record["error"] and record["at"] for record in records)
    assert "did you mean 'method'" in records[-2]["error"]
    assert "priority" in records[-1]["error"]
    assert queue.llen("fetch:start_urls") == 0


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
        json.dumps({"url": "no address"}).encode(),
        json.dumps({"url": URL, "callback": "no_such_method"}).encode(),
    ]
    queue.zadd("fetch:requests", dict.fromkeys(entries, 0))
    crawl = serve(f"{URL}/echo")
    assert crawl.item["url"] == f"{URL}/echo"
    assert not (tmp_path / "touched").exists()
    assert len(dead(queue, "fetch:requests")) == len(entries)


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
    entries = [json.dumps({**good, **change}) for _, change in wrong]
    queue.zadd("fetch:requests", {entry: place for place, entry in enumerate(entries)} | {json.dumps(good): 99})
    crawl = serve(f"{URL}/echo?seed")
    assert sorted(item["url"] for item in crawl.items) == [f"{URL}/echo?q", f"{URL}/echo?seed"]
    records = dead(queue, "fetch:requests")
    assert [record["seed"] for record in records] == entries
    for (named, _), record in zip(wrong, records, strict=True):
        assert named in record["error"]


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
    for words, record in zip(told, dead(queue, "fetch:start_urls"), strict=True):
        assert words in record["error"]


def test_only_json_and_plain_text_lie_in_redis(start, queue):
    seeds = [
        {"url": f"{URL}/slow?seconds=1&n={number}", "method": "POST", "body_base64": "gASV", "session": "ann"}
        for number in range(6)
    ]
    queue.rpush("fetch:start_urls", *map(json.dumps, seeds))
    worker = start("fetch", "-s", "CONCURRENT_REQUESTS=1", "-s", "SCHEDULER_IDLE_BEFORE_CLOSE=1")
    while queue.zcard("fetch:requests") < 2 or not queue.exists("fw:session:{fetch}:ann"):
        assert worker.poll() is None
    worker.send_signal(signal.SIGSTOP)
    found = everything(queue)
    assert {b"fetch:requests", b"fw:session:{fetch}:ann"} <= found.keys()
    values = [value for values in found.values() for value in values]
    assert not [value for value in values if value[:1] == b"\x80"]
    assert all(json.loads(value)["method"] == "POST" for value in found[b"fetch:requests"])


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
    while len(lab.requests) < 2 or not queue.zcard("fetch:requests"):
        assert worker.poll() is None
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    left = queue.zcard("fetch:requests") + queue.llen("fetch:start_urls")
    first = [item["url"] for item in project.lines("a.jsonl")]
    assert left == len(urls) - len(first) > 0
    crawl = serve()
    assert sorted(first + [item["url"] for item in crawl.items]) == sorted(urls)


def test_a_private_crawl_leaves_the_shared_keys_alone(fetch, queue, lab):
    queue.rpush("fetch:start_urls", f"{URL}/status/200")
    before = everything(queue)
    fetch(f"{URL}/cookies/chain", session="ann")
    fetch(f"{URL}/echo")
    after = everything(queue)
    assert after.keys() - before.keys() == {b"fw:session:{fetch}:ann"}
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
