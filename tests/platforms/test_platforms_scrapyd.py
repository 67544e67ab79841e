"""The scrapyd adapter beside what the port promises: many nodes, nodes that are away, the configuration."""

from __future__ import annotations

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fetchworker.config import load_environment
from fetchworker.errors import ConfigError, PlatformError
from fetchworker.jobs import JobSpec, JobState
from fetchworker.jobs.webhook import HEADER, signed, tell, verified
from fetchworker.platforms.choice import open_platform
from fetchworker.platforms.local import LocalPlatform
from fetchworker.platforms.scrapyd import NodeAddress, ScrapydPlatform, node_addresses

from .conftest import SECRET, Node, ended, free_port, odd


class Control(BaseHTTPRequestHandler):
    """Takes the word of the end."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.told.append((self.path, self.headers.get(HEADER, ""), body))
        status = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def control():
    with ThreadingHTTPServer(("127.0.0.1", 0), Control) as server:
        server.told, server.answers = [], []
        server.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.mark.slow
async def test_nodes_share_jobs_and_one_that_is_down_stops_nobody(node, project_folder, tmp_path, control):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "scrapy.cfg").write_text((project_folder / "scrapy.cfg").read_text())
    env = dict(os.environ, FETCHWORKER_CONTROL_URL=control.url, FETCHWORKER_CONTROL_SECRET=SECRET)
    other = Node(tmp_path / "other", env, "max_proc = 1")
    down = NodeAddress("down", f"http://127.0.0.1:{free_port()}", *node.auth)
    other.start()
    try:
        async with ScrapydPlatform([node.address, other.address, down]) as platform:
            nodes = {found.name: found for found in await platform.nodes()}
            assert [found.up for found in nodes.values()] == [True, True, False]
            assert "down does not answer" in nodes["down"].error
            with pytest.raises(PlatformError, match="does not answer"):
                await platform.statuses("down", ["a"])
            avoiding = frozenset({node.address.name})
            placed = await platform.spawn(odd("moved", "lines"), avoid=avoiding)
            assert placed.node == other.address.name
            # it is found again, wherever it is said to go
            again = await platform.spawn(odd("moved", "lines"), avoid=frozenset({other.address.name}))
            assert (again.node, again.fresh) == (placed.node, False)
            assert (await ended(platform, placed)).exit_cause == "ok"
            many = [f"never-{number}" for number in range(12_000)]
            found = await platform.statuses(placed.node, [*many, "moved"])
            assert len(found) == 12_001
            assert found["moved"].state is JobState.ENDED
            # the one that is down may have the tag
            with pytest.raises(PlatformError, match="no node takes the job"):
                await platform.spawn(odd("small", "lines", tags=frozenset({"small"})))
            with pytest.raises(PlatformError, match=r"avoided|does not answer"):
                await platform.spawn(odd("b", "lines"), avoid=frozenset(nodes))
            with pytest.raises(PlatformError):
                await platform.spawn(odd("nospider", "nothing"))
        async with ScrapydPlatform([node.address]) as platform:
            with pytest.raises(ConfigError, match="spider 'nothing' not found"):
                await platform.spawn(odd("nospider", "nothing"))
            with pytest.raises(ConfigError, match="project 'nowhere' not found"):
                await platform.spawn(JobSpec("a", "lines", project="nowhere"))
        wrong = NodeAddress("wrong", node.url, "fetchworker", "guess")
        async with ScrapydPlatform([wrong]) as platform:
            assert "refuses our user or password" in (await platform.nodes())[0].error
    finally:
        other.end()
    [(path, header, body)] = control.told
    assert path == "/jobs/moved/complete"
    assert verified(SECRET, body, header, time.time())
    assert json.loads(body)["exit_cause"] == "ok"


def test_the_word_of_the_end_is_tried_again_and_goes_nowhere_else(control, monkeypatch):
    monkeypatch.setattr("fetchworker.jobs.webhook._PAUSE", 0)
    end = {"exit_cause": "ok", "ended_at": 1.0}
    control.answers = [500, 302, 204]
    assert tell(control.url, SECRET, "a", end)
    assert len(control.told) == 3
    control.answers = [302] * 3
    assert not tell(control.url + "/", SECRET, "a", end)
    assert {path for path, _, _ in control.told} == {"/jobs/a/complete"}
    assert not tell(None, SECRET, "a", end)
    assert not tell(control.url, None, "a", end)
    assert len(control.told) == 6


def test_a_signature_is_of_one_secret_one_body_and_one_time():
    header = signed("s", b"{}", 1000)
    assert verified("s", b"{}", header, 1000)
    assert verified("s", b"{}", header, 1299)
    for secret, body, told, now in [
        ("t", b"{}", header, 1000),
        ("s", b"{ }", header, 1000),
        ("s", b"{}", header, 1301),
        ("s", b"{}", header, 699),
        ("s", b"{}", header.replace("t=1000", "t=1001"), 1000),
        ("s", b"{}", "", 1000),
        ("s", b"{}", "t=,v1=", 1000),
        ("s", b"{}", "t=²,v1=ü", 1000),
        ("s", b"{}", f"t={'9' * 5000},v1=aa", 1000),
    ]:
        assert not verified(secret, body, told, now)


def test_nodes_are_read_and_their_passwords_are_not_shown():
    text = "big=http://ann:s3%40=sam@10.0.0.5:6800/\nhttps://bob:x@[::1]:7000 http://plain/deep/"
    big, six, plain = node_addresses(text)
    assert (big.name, big.url, big.user, big.password) == ("big", "http://10.0.0.5:6800", "ann", "s3@=sam")
    assert (six.url, plain.name, plain.url) == ("https://[::1]:7000", "plain", "http://plain/deep")
    assert "s3@=sam" not in repr(big)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("http://a:s3sam@h:1 ftp://a:s3sam@h", "entry 2 has to be"),
        ("a=", "entry 1 has to be"),
        ("http://h:99999", "entry 1 has to be"),
        ("http://a:s3sam@h:1?x=1", "entry 1 has to be"),
        ("a b=http://h:1", "entry 1 has to be"),
        ("-=http://h:1", "entry 1 needs a name"),
        ("a=http://h:1 a=http://i:1", "a is there twice"),
    ],
)
def test_entries_that_are_no_nodes_are_told_without_their_passwords(text, told):
    with pytest.raises(ConfigError, match=told) as refused:
        node_addresses(text)
    assert "s3sam" not in str(refused.value)


async def test_the_configuration_chooses(tmp_path):
    environ = {"FETCHWORKER_STATE_DIR": str(tmp_path), "FETCHWORKER_JOBS_SLOTS": "7"}
    local = open_platform(load_environment(environ, project=tmp_path))
    assert isinstance(local, LocalPlatform)
    assert (await local.nodes())[0].slots == 7
    await local.close()
    environ["FETCHWORKER_NODES"] = "http://a:s3sam@127.0.0.1:1"
    environment = load_environment(environ, project=tmp_path)
    assert "s3sam" in environment.secrets()
    remote = open_platform(environment)
    assert isinstance(remote, ScrapydPlatform)
    await remote.close()
    with pytest.raises(ConfigError, match="FETCHWORKER_CONTROL_URL"):
        load_environment({"FETCHWORKER_CONTROL_URL": "ftp://x"}, project=tmp_path)


async def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(PlatformError, match="cannot keep jobs"):
        LocalPlatform(tmp_path / "file" / "jobs")
