"""Callbacks come to those who asked for them, whatever they answer, and nobody else hears of them."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fetchworker.errors import ArgumentError, EgressDeniedError, RunNotFoundError
from fetchworker.jobs.webhook import HEADER, verified
from fetchworker.runs import deliveries, outbox
from fetchworker.runs.outbox import pause_after

from .conftest import ask, ended, opened, until


class Receiver:
    """Answers what it is told to, one after the other, and 204 from then on. ``None``: nothing at all."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.came = []
        self.released = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.came.append((self.path, dict(self.headers), body))
                answer = receiver.answers.pop(0) if receiver.answers else 204
                if answer is None:
                    receiver.released.wait(20)
                    return
                self.send_response(answer if isinstance(answer, int) else 302)
                if isinstance(answer, str):
                    self.send_header("location", answer)
                self.send_header("content-length", "0")
                self.end_headers()

            do_GET = do_POST  # noqa: N815  # the server's name

            def log_message(self, *_) -> None:
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.place = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    made = []

    def make(*answers):
        made.append(Receiver(*answers))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(outbox, "_FIRST", 0.05)


def opened_for(url, nodes, *receivers, **more):
    places = {f"r{number}.example:443": one.place for number, one in enumerate(receivers)}
    allow = " ".join(one.place for one in receivers)
    return opened(url, nodes, egress_allow=allow, host_map=places, **more)


def to(receiver, **more):
    return ask("rows=1", callbackWebhook=f"http://{receiver.place}/done?who=ann", **more)


async def delivered(runs, run_id, state="delivered"):
    async def look():
        found = (await deliveries.listed(runs.store, run_id=run_id)).deliveries
        return found[0] if found and found[0].state == state else None

    return await until(look)


async def test_it_is_signed_and_tried_again_with_the_same_id(url, nodes, receiver):
    taker = receiver(500, None, 503)
    async with opened_for(url, nodes, taker, runs_callback_timeout=0.5) as runs:
        run = await ended(runs, (await runs.start(to(taker))).run_id)
        found = await delivered(runs, run.run_id)
    assert [one["status"] for one in found.tries] == [500, None, 503, 204]
    assert found.attempts == len(taker.came) == 4
    paths, headers, bodies = zip(*taker.came, strict=True)
    assert set(paths) == {"/done?who=ann"}
    assert {one["X-Fetchworker-Delivery"] for one in headers} == {found.delivery_id}
    assert [one["X-Fetchworker-Attempt"] for one in headers] == ["1", "2", "3", "4"]
    assert len(set(bodies)) == 1
    assert json.loads(bodies[0])["runId"] == run.run_id
    assert all(verified("a secret", bodies[0], one[HEADER], time.time()) for one in headers)
    assert not verified("another", bodies[0], headers[0][HEADER], time.time())


async def test_a_receiver_that_is_slow_keeps_no_others_waiting(url, nodes, receiver):
    slow, quick = receiver(*[None] * 7), receiver()
    async with opened_for(url, nodes, slow, quick, runs_callback_timeout=300) as runs:
        held = [(await runs.start(to(slow))).run_id for _ in range(7)]

        async def all_held():
            return len(slow.came) == 7

        await until(all_held)
        for _ in range(2):  # one after the other, by the place that is left
            run = await runs.start(to(quick))
            await delivered(runs, run.run_id)
        assert [await delivered(runs, each, "pending") is not None for each in held] == [True] * 7
        slow.released.set()


async def test_a_redirect_leads_nowhere_and_a_dead_one_can_be_replayed(url, nodes, receiver):
    other = receiver()
    taker = receiver(f"http://{other.place}/inside", f"http://{other.place}/inside")
    async with opened_for(url, nodes, taker, other, runs_callback_patience=0.06) as runs:
        run = await ended(runs, (await runs.start(to(taker))).run_id)
        dead = await delivered(runs, run.run_id, "dead")
        assert ([one["status"] for one in dead.tries], dead.attempts, other.came) == ([302, 302], 2, [])
        assert dead.next_at is None
        with pytest.raises(RunNotFoundError):
            await deliveries.replayed(runs.store, dead.delivery_id, workspaces=["w2"])
        await deliveries.replayed(runs.store, dead.delivery_id, workspaces=["w1"])
        again = await delivered(runs, run.run_id)
    assert again.delivery_id == dead.delivery_id
    assert [one["status"] for one in again.tries] == [302, 302, 204]


async def test_it_survives_our_restart(url, nodes, receiver):
    taker = receiver(500)
    async with opened_for(url, nodes, taker) as runs:
        nodes.go("nothing")
        run = await runs.start(to(taker))
        await ended(runs, run.run_id)
        await until(lambda: _came(taker, 1))
    async with opened_for(url, nodes, taker) as runs:
        found = await delivered(runs, run.run_id)
    ids = {headers["X-Fetchworker-Delivery"] for _, headers, _ in taker.came}
    assert ids == {found.delivery_id}


async def test_what_was_under_way_at_the_end_is_sent_by_the_next_at_once(url, nodes, receiver):
    """A receiver that does not answer: the process ends in the middle of the try, and its lease is longer than this."""
    taker = receiver(None)
    async with opened_for(url, nodes, taker, runs_callback_timeout=120) as runs:
        nodes.go("nothing")
        run = await runs.start(to(taker))
        await ended(runs, run.run_id)
        await until(lambda: _came(taker, 1))
    async with opened_for(url, nodes, taker, runs_callback_timeout=120) as runs:
        found = await delivered(runs, run.run_id)
    assert found.attempts == 2


async def _came(taker, count):
    return len(taker.came) >= count


async def test_an_address_that_became_private_is_not_called(sqlite_url, nodes, receiver):
    taker = receiver()
    async with opened_for(sqlite_url, nodes, taker) as runs:
        nodes_run = await runs.start(to(taker))
        await ended(runs, nodes_run.run_id)
        await delivered(runs, nodes_run.run_id)
        name = (await deliveries.listed(runs.store)).deliveries[0].delivery_id
    async with opened(sqlite_url, nodes) as runs:  # nothing is listed any more
        await deliveries.replayed(runs.store, name)
        dead = await delivered(runs, nodes_run.run_id, "dead")
    assert "127.0.0.1" in dead.error
    assert dead.attempts == 1  # another try would end alike
    assert len(taker.came) == 1


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1/x", "http://10.0.0.1/", "https://metadata.goog/", "ftp://a.example/"]
)
async def test_what_may_not_be_called_starts_no_run(sqlite_url, nodes, target):
    async with opened(sqlite_url, nodes, engine=False) as runs:
        with pytest.raises(EgressDeniedError):
            await runs.start(ask("rows=1", callbackWebhook=target))
        with pytest.raises(ArgumentError, match="no URL"):
            await runs.start(ask("rows=1", callbackWebhook="https://caller.example/ö"))
        assert (await runs.list()).runs == []


async def test_without_a_secret_no_run_has_a_callback(sqlite_url, nodes):
    async with opened(sqlite_url, nodes, engine=False, runs_callback_secret=None) as runs:
        with pytest.raises(ArgumentError, match="FETCHWORKER_RUNS_CALLBACK_SECRET"):
            await runs.start(ask("rows=1", callbackWebhook="https://caller.example/done"))


def test_pauses_double_up_to_an_hour_and_last_a_day(monkeypatch):
    monkeypatch.setattr(outbox, "_FIRST", 5.0)
    pauses = []
    while (pause := pause_after(len(pauses) + 1, 86_400)) is not None:
        pauses.append(pause)
    assert pauses[:4] == [5, 10, 20, 40]
    assert max(pauses) == 3600
    assert 86_400 - 3600 < sum(pauses) <= 86_400
    assert pause_after(1, 0) is None
