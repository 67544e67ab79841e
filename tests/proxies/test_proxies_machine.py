"""The manager against a model that looks at everything each time: no heaps, no laziness."""

from __future__ import annotations

import math
from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fetchworker.proxies import HealthPolicy, Proxy, ProxyManager, ProxyResult

POOL = [Proxy("http", f"gate{n}.example", 8000) for n in range(6)]
POLICY = HealthPolicy(cooldown=60, cooldown_max=300, failure_rest=5, dead_after=3, probe=100, probe_max=400)
sites = st.sampled_from(["shop", "news"])
members = st.sampled_from(POOL)


class Managed(RuleBasedStateMachine):
    now = 0.0

    @initialize(members=st.sets(members, min_size=1))
    def start(self, members):
        self.manager = ProxyManager(members, policy=POLICY, clock=lambda: self.now, rng=Random(3))
        self.ids = {proxy.id for proxy in members}
        self.last_pick: dict[tuple[str, str], int] = {}
        self.picks = 0
        self.refused: set[str] = set()
        self.failures: dict[str, int] = {}
        self.trials: set[str] = set()
        self.down: dict[str, float] = {}
        self.rest: dict[tuple[str, str], float] = {}
        self.length: dict[tuple[str, str], float] = {}

    def until(self, proxy_id, site):
        if proxy_id in self.refused:
            return math.inf
        return max(self.down.get(proxy_id, -math.inf), self.rest.get((proxy_id, site), -math.inf))

    def usable(self, site):
        return {proxy_id for proxy_id in self.ids if self.until(proxy_id, site) <= self.now}

    @rule(site=sites, exclude=st.sets(members.map(lambda proxy: proxy.id), max_size=3))
    def pick(self, site, exclude):
        picked = self.manager.pick(site, exclude=exclude)
        may = self.usable(site) - exclude
        if not may:
            assert picked is None
            return
        longest_unused = min(self.last_pick.get((proxy_id, site), 0) for proxy_id in may)
        assert picked.id in may
        assert self.last_pick.get((picked.id, site), 0) == longest_unused
        self.picks += 1
        self.last_pick[picked.id, site] = self.picks
        if self.failures.get(picked.id, 0) >= POLICY.dead_after:
            self.trials.add(picked.id)
            self.down[picked.id] = self.now + POLICY.trial

    @rule(proxy=members, site=sites, result=st.sampled_from(list(ProxyResult)))
    def report(self, proxy, site, result):
        self.manager.report(proxy.id, site, result)
        if proxy.id not in self.ids:
            return
        if result is ProxyResult.AUTH_FAILED:
            self.refused.add(proxy.id)
            self.trials.discard(proxy.id)
        elif result is ProxyResult.TRANSPORT_FAILURE:
            self.note_failure(proxy.id)
        else:
            self.failures[proxy.id] = 0
            if proxy.id in self.trials:
                self.trials.discard(proxy.id)
                del self.down[proxy.id]
            self.note_answer((proxy.id, site), blocked=result is not ProxyResult.OK)

    def note_failure(self, proxy_id):
        if self.now < self.down.get(proxy_id, -math.inf) and proxy_id not in self.trials:
            return
        self.trials.discard(proxy_id)
        self.failures[proxy_id] = row = self.failures.get(proxy_id, 0) + 1
        rest = 5 * 2 ** (row - 1) if row < 3 else min(400, 100 * 2 ** (row - 3))
        self.down[proxy_id] = self.now + rest

    def note_answer(self, key, *, blocked):
        length = self.length.get(key, 0)
        if not blocked:
            self.length[key] = length / 2 if length / 2 >= 60 else 0
        elif self.now >= self.rest.get(key, -math.inf):
            self.length[key] = min(300, length * 2 or 60)
            self.rest[key] = self.now + self.length[key]

    @rule(seconds=st.sampled_from([1, 5, 59, 60, 100, 500]))
    def wait(self, seconds):
        self.now += seconds

    @precondition(lambda self: self.refused or len(self.ids) != len(POOL))
    @rule(members=st.sets(members, min_size=1))
    def reload(self, members):
        self.manager.reload(members)
        stay = self.ids & {proxy.id for proxy in members}
        self.ids = {proxy.id for proxy in members}
        self.refused.clear()
        self.trials &= stay
        for kept in (self.failures, self.down):
            for key in kept.keys() - stay:
                del kept[key]
        for kept in (self.rest, self.length, self.last_pick):
            for key in [key for key in kept if key[0] not in stay]:
                del kept[key]

    @invariant()
    def counts_agree(self):
        for site in ("shop", "news"):
            assert self.manager.available(site) == len(self.usable(site))
            soonest = min(self.until(proxy_id, site) for proxy_id in self.ids)
            expected = None if soonest == math.inf else max(0.0, soonest - self.now)
            assert self.manager.next_available_in(site) == expected


TestManaged = Managed.TestCase
TestManaged.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
