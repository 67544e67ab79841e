"""Nodes whose answers are lost, and nodes that say nothing: what the scrapyd adapter makes of them."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fetchworker.errors import PlatformError
from fetchworker.platforms import NodeStatus, scrapyd
from fetchworker.platforms.placing import Placing
from fetchworker.platforms.scrapyd import NodeAddress, ScrapydPlatform

from .conftest import free_port, odd


class Answers(BaseHTTPRequestHandler):
    """A node of two addresses' worth: it keeps jobs, and loses as many answers about them as its server says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self._say({"node_name": "n", "running": self.server.load, "queued": 0, "slots": 9, "tags": []})

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        if self.path == "/jobstatus.json":
            self._say({"jobs": [{"job_id": each, "state": "unknown"} for each in told["jobs"]]})
            return
        server.asked += 1
        server.jobs.add(told["job_id"])
        if server.lose > 0:
            server.lose -= 1
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._say(
            {"status": "error", "message": "full"} if server.full else {"fresh": True}, 500 if server.full else 200
        )

    def _say(self, told, status=200):
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def pair():
    """Two nodes; the first has less to do."""
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Answers) for _ in range(2)]
    for load, server in enumerate(servers):
        server.asked, server.jobs, server.lose, server.load, server.full = 0, set(), 0, load, False
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield servers
    for server in servers:
        server.shutdown()
        server.server_close()


def addresses(servers):
    return [NodeAddress(f"n{place}", f"http://127.0.0.1:{each.server_port}") for place, each in enumerate(servers)]


class Told:
    """Hears where a job may be."""

    def __init__(self):
        self.nodes = []

    async def __call__(self, node):
        self.nodes.append(node)


@pytest.mark.parametrize("lose", [1, 2])
async def test_a_lost_answer_is_asked_for_at_the_same_node(pair, lose):
    pair[0].lose = lose
    told = Told()
    async with ScrapydPlatform(addresses(pair)) as platform:
        if lose == 1:
            placed = await platform.spawn(odd("a", "lines"), intend=told)
        else:  # it is not known where it is: nobody else is asked
            with pytest.raises(PlatformError, match="n0 does not answer"):
                await platform.spawn(odd("a", "lines"), intend=told)
            placed = await platform.spawn(odd("a", "lines"), at="n0", intend=told)
    assert (placed.node, told.nodes, pair[0].jobs, pair[1].jobs) == ("n0", ["n0"], {"a"}, set())


async def test_only_a_node_that_has_surely_not_taken_it_is_passed_over(pair):
    told = Told()
    down = NodeAddress("down", f"http://127.0.0.1:{free_port()}")
    pair[0].full = True
    async with ScrapydPlatform([*addresses(pair), down]) as platform:
        assert (await platform.spawn(odd("a", "lines"), intend=told)).node == "n1"
        assert told.nodes == ["n0", "n1"]
        with pytest.raises(PlatformError, match="down does not answer"):
            await platform.spawn(odd("b", "lines"), at="down", intend=told)
        assert told.nodes == ["n0", "n1"]  # it may have it from before
        with pytest.raises(PlatformError, match="full"):
            await platform.spawn(odd("c", "lines"), at="n0", intend=told)
        assert told.nodes == ["n0", "n1", None]  # it has said no
        pair[1].full = True
        with pytest.raises(PlatformError, match="no node takes the job now"):
            await platform.spawn(odd("d", "lines"), intend=told)
        assert told.nodes[-1] is None


async def test_a_node_that_is_silent_is_remembered(pair, monkeypatch):
    monkeypatch.setattr(scrapyd, "WORD", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # takes connections, and never answers
        silent = NodeAddress("deaf", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        async with ScrapydPlatform([silent, *addresses(pair)]) as platform:
            assert [node.up for node in await platform.nodes()] == [False, True, True]
            assert "deaf does not answer: ReadTimeout" in (await platform.nodes())[0].error
            for number in range(5):
                assert (await platform.spawn(odd(f"s{number}", "lines"))).node == "n0"
            deaf.settimeout(5)
            deaf.accept()[0].close()
            deaf.setblocking(False)
            with pytest.raises(BlockingIOError):  # it was asked once
                deaf.accept()


async def test_jobs_that_are_placed_at_the_same_time_share_the_nodes(pair):
    pair[1].load = 0
    async with ScrapydPlatform(addresses(pair)) as platform:
        placed = await asyncio.gather(*(platform.spawn(odd(f"at-once-{number}", "lines")) for number in range(6)))
    assert [len(server.jobs) for server in pair] == [3, 3]
    assert sorted(place.node for place in placed) == ["n0"] * 3 + ["n1"] * 3


async def test_nodes_that_are_equal_have_their_turns(pair):
    pair[1].load = 0
    async with ScrapydPlatform(addresses(pair)) as platform:
        placed = [(await platform.spawn(odd(f"one-by-one-{number}", "lines"))).node for number in range(20)]
    assert set(placed) == {"n0", "n1"}


def test_what_is_on_its_way_counts_until_the_nodes_answer_shows_it():
    moment = 0.0
    placing = Placing(lambda: moment)
    node = NodeStatus("n", up=True, slots=4, running=1)
    with placing.on("n"), placing.on("other"):
        assert placing.load(node, "j", asked=0.0)[0] == 0.5
        moment = 1.0
    assert placing.load(node, "j", asked=0.5)[0] == 0.5  # it was asked before the job had arrived
    moment = 2.0
    assert placing.load(node, "j", asked=2.0)[0] == 0.25
    with pytest.raises(PlatformError), placing.on("n"):
        raise PlatformError("full")
    assert placing.load(node, "j", asked=2.0)[0] == 0.25
