"""Workers that take, tell, repeat, die and come back, in any order: no request is lost and none is done twice."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from fetchworker.frontier.entry import Child, Finished, Move, News, Numbered, Staged
from fetchworker.frontier.keys import namespace
from fetchworker.frontier.store import Frontier, Terms
from fetchworker.redis import connect, resolve_redis_url

WORKERS = st.integers(0, 2)
#: none dies of its deliveries here, and some become suspects
TERMS = Terms(deliveries=200)
PRIORITIES = st.sampled_from([-1, 0, 1])


class Machine(RuleBasedStateMachine):
    """The model: what exists, what each worker believes to have, what is done."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.redis = self.run(self.connected(url))
        self.names = namespace("machine")
        self.numbers = count(1)
        self.queued: dict[bytes, int] = {}
        self.fingerprints: set[int] = set()
        self.done: set[bytes] = set()
        self.dead: set[bytes] = set()
        self.other = self.fresh()
        self.workers = [self.fresh() for _ in range(3)]
        self.held: list[dict[str, bytes]] = [{}, {}, {}]
        self.parts: list[dict[str, list[Child]]] = [{}, {}, {}]
        self.last: list[tuple[News, int] | None] = [None, None, None]
        self.bundles = [0, 0, 0]

    def run(self, work):
        return self.runner.run(work)

    async def connected(self, url):
        client = connect(resolve_redis_url(url, Path()))
        await client.flushall()
        return client

    def fresh(self):
        return Frontier(self.redis, self.names, terms=TERMS)

    def children(self, number, priority, *, filtered):
        made = []
        for _ in range(number):
            name = next(self.numbers)
            made.append(Child(priority, name if filtered else None, b"%d" % name))
        return made

    def tell(self, who, news, want=0):
        """A turn as the worker makes it; what it says is believed by the model as well."""
        self.last[who] = news, want
        answer = self.run(self.workers[who].turn(news, want=want))
        self.believe(who, news, answer)
        self.take_in(who, answer)

    def believe(self, who, news, answer):
        held, parts = self.held[who], self.parts[who]
        for one, ours in zip(news.finished, answer.finished, strict=True):
            payload, staged = held.pop(one.token, None), parts.pop(one.token, [])
            if ours:
                assert payload not in self.done | self.dead, "done twice"
                self.done.add(payload)
                self.enqueue([*one.children, *staged])
        for one, ours in zip(news.moved, answer.moved, strict=True):
            payload = held.pop(one.token, None)
            parts.pop(one.token, None)
            if ours and one.dead is not None:
                assert payload not in self.done | self.dead, "dead twice"
                self.dead.add(payload)

    def take_in(self, who, answer):
        for leased in answer.taken:
            assert leased.entry.payload in self.queued, "nobody has queued it"
            assert leased.entry.payload not in self.done | self.dead, "handed out although it is done"
            self.held[who][leased.token] = leased.entry.payload

    def enqueue(self, children):
        for child in children:
            if child.fingerprint is None or child.fingerprint not in self.fingerprints:
                self.queued[child.payload] = child.priority
            if child.fingerprint is not None:
                self.fingerprints.add(child.fingerprint)

    @rule(who=WORKERS, number=st.integers(1, 5), priority=PRIORITIES, filtered=st.booleans(), twice=st.booleans())
    def bundle(self, who, number, priority, filtered, twice):
        children = self.children(number, priority, filtered=filtered)
        self.bundles[who] += 1
        news = News(loose=Numbered(self.bundles[who], tuple(children)))
        self.tell(who, news)
        self.enqueue(children)
        if twice:
            self.repeat(who)

    @rule(who=WORKERS, want=st.integers(1, 6))
    def take(self, who, want):
        self.tell(who, News(), want)

    @rule(who=WORKERS, data=st.data(), want=st.integers(0, 2), number=st.integers(0, 3), filtered=st.booleans())
    def finish(self, who, data, want, number, filtered):
        token = self.some_lease(who, data)
        if token is None:
            return
        children = tuple(self.children(number, 0, filtered=filtered))
        staged = len(self.parts[who].get(token, []))
        self.tell(who, News(finished=[Finished(token, children, staged)]), want)

    @rule(who=WORKERS, data=st.data(), number=st.integers(1, 4), filtered=st.booleans())
    def stage(self, who, data, number, filtered):
        token = self.some_lease(who, data)
        if token is None:
            return
        before = self.parts[who].setdefault(token, [])
        children = self.children(number, 1, filtered=filtered)
        self.tell(who, News(staged=[Staged(token, len(before), tuple(children))]))
        before += children

    @rule(who=WORKERS, data=st.data(), how=st.sampled_from(["back", "later", "dead"]), want=st.integers(0, 2))
    def move(self, who, data, how, want):
        token = self.some_lease(who, data)
        if token is None:
            return
        delay, dead = (0 if how == "later" else None), ("a reason" if how == "dead" else None)
        self.tell(who, News(moved=[Move(token, delay, dead)]), want)

    def some_lease(self, who, data):
        return data.draw(st.sampled_from(sorted(self.held[who]))) if self.held[who] else None

    @rule(who=WORKERS)
    def repeat(self, who):
        """The last call again, as when its answer was lost: what it tells counts no more, what it gives is the same."""
        if self.last[who] is None:
            return
        news, want = self.last[who]
        answer = self.run(self.workers[who].turn(news, want=want, again=True))
        assert not any(answer.finished)
        assert not any(answer.moved)
        assert answer.new == 0
        self.take_in(who, answer)

    @rule(who=WORKERS)
    def is_thought_dead(self, who):
        """Its leases lapse; the worker does not know, and goes on."""
        worker = self.workers[who]

        async def lapse():
            await self.redis.zadd(f"{self.names.root}:workers", {worker.owner: 1}, xx=True)
            while worker.owner in await self.other.workers():
                await self.other.look(holds=False)

        self.run(lapse())

    @rule(who=WORKERS)
    def dies(self, who):
        self.is_thought_dead(who)
        self.restart(who)

    @rule(who=WORKERS)
    def leaves(self, who):
        self.run(self.workers[who].leave())
        self.restart(who)

    def restart(self, who):
        self.workers[who], self.held[who], self.parts[who] = self.fresh(), {}, {}
        self.last[who], self.bundles[who] = None, 0

    @rule(who=WORKERS)
    def beats(self, who):
        self.run(self.workers[who].beat())

    @precondition(lambda self: len(self.queued) % 3 == 0)
    @invariant()
    def nothing_is_lost(self):
        async def counted():
            state = await self.other.look(holds=False)
            absorbing = await self.redis.exists(f"{self.names.root}:committed")
            return state.queued + state.delayed + state.leased, absorbing

        found, absorbing = self.run(counted())
        assert absorbing or found == len(self.queued.keys() - self.done - self.dead)

    def teardown(self):
        try:
            for who in range(3):
                self.dies(who)
            self.run(self.finish_all())
            assert self.done | self.dead == self.queued.keys()
        finally:
            self.run(self.redis.aclose())
            self.runner.close()

    async def finish_all(self):
        """One worker does all that is left, each once."""
        worker = self.fresh()
        while not (await worker.look(holds=False)).empty:
            taken = (await worker.turn(want=50)).taken
            for leased in taken:
                assert leased.entry.payload not in self.done | self.dead
                self.done.add(leased.entry.payload)
            await worker.turn(News(finished=[Finished(leased.token) for leased in taken]))
        await worker.leave()
        left = {key.decode().removeprefix(self.names.root) async for key in self.redis.scan_iter()}
        assert {key.split(":")[1] for key in left} <= {"counts", "dead", "dupefilter", "calls"}


def test_no_request_is_lost_or_done_twice(redis_server):
    run_state_machine_as_test(
        lambda: Machine(redis_server.url),
        settings=settings(
            max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
