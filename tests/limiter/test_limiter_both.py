"""What limits promise, whether they are counted in Redis or in this process."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.errors import ConfigError
from fetchworker.limiter import Ask, Ceiling, MemoryLimits, Question

LEASE = 60.0


class Talk:
    """Somebody who asks: remembers tickets, as processes do."""

    def __init__(self, limits) -> None:
        self.limits, self.tickets, self.wait = limits, {}, 0.0

    async def ask(self, *ids, release=(), renew=(), lease=LEASE) -> list[str]:
        """Those of ``ids`` that have a permit now."""
        asks = [Ask(id_, self.tickets.get(id_, 0)) for id_ in ids]
        answer = await self.limits.turn(Question(list(release), list(renew), asks), lease)
        self.tickets |= dict(zip(ids, answer.tickets, strict=True))
        self.wait, self.lost = answer.wait, list(answer.lost)
        return [id_ for id_, granted in zip(ids, answer.granted, strict=True) if granted]


class Promises:
    async def test_so_many_are_out_at_once(self, make):
        talk = Talk(make(2))
        assert await talk.ask("a", "b", "c") == ["a", "b"]
        assert 0 < talk.wait < 1
        assert await talk.ask("c") == []
        assert await talk.ask("c", release=["a"]) == ["c"]

    async def test_without_a_ceiling_everybody_has_one(self, make):
        names = [str(number) for number in range(100)]
        assert await Talk(make()).ask(*names) == names

    async def test_who_came_first_is_served_first_whoever_asks_again_first(self, make):
        limits = make(1)
        one, two = Talk(limits), Talk(limits)
        assert await one.ask("holder") == ["holder"]
        assert await one.ask("first") == []
        assert await two.ask("second") == []
        assert await two.ask("second", release=["holder"]) == [], "the free one is kept for who came first"
        assert await one.ask("first") == ["first"]
        assert await two.ask("second", release=["first"]) == ["second"]

    async def test_who_leaves_the_line_holds_nobody_up(self, make):
        talk = Talk(make(1))
        await talk.ask("holder")
        await talk.ask("first", "second")
        assert await talk.ask("second", release=["first", "holder"]) == ["second"]

    async def test_a_permit_that_is_not_renewed_comes_back(self, make):
        limits = make(1)
        dead, other = Talk(limits), Talk(limits)
        await dead.ask("gone", lease=0.000001)
        assert await other.ask("next") == ["next"]

    async def test_one_that_is_renewed_too_late_is_told_so_and_counts_again(self, make):
        limits = make(2)
        late, other = Talk(limits), Talk(limits)
        await late.ask("late", lease=0.000001)
        assert await other.ask("x", "y") == ["x", "y"]
        await late.ask(renew=["late"])
        assert late.lost == [0]
        await late.ask(renew=["late"])
        assert late.lost == []
        assert await other.ask("z", release=["x"]) == [], "two are out still"
        assert await other.ask("z", release=["late"]) == ["z"]

    async def test_the_same_question_twice_is_the_same_answer(self, make):
        limits = make(1, rate=0.001, burst=1)
        first = await limits.turn(Question(asks=[Ask("a"), Ask("b")]), LEASE)
        again = await limits.turn(Question(asks=[Ask("a"), Ask("b")]), LEASE)
        assert (list(first.granted), list(again.granted)) == ([True, False], [True, False])
        assert again.tickets[1] == first.tickets[1]

    async def test_fences_rise(self, make):
        talk = Talk(make(1))
        for id_ in "abcdef":
            assert await talk.ask(id_, release=list("abcdef")) == [id_]
        fences = [talk.tickets[id_] for id_ in "abcdef"]
        assert fences == sorted(set(fences))

    async def test_a_burst_and_then_the_rate(self, make):
        talk = Talk(make(rate=0.01, burst=3))
        assert await talk.ask(*"abcde") == ["a", "b", "c"]
        assert talk.wait == 1.0, "who is in the line has to be heard of"
        assert await talk.ask(*"de", release=list("abc")) == [], "given back is not unsent"

    async def test_the_rate_tells_when(self, make):
        talk = Talk(make(rate=2, burst=1))
        assert await talk.ask("a", "b") == ["a"]
        assert talk.wait == pytest.approx(0.5, abs=0.3)

    async def test_both_hold(self, make):
        talk = Talk(make(3, rate=0.01, burst=2))
        assert await talk.ask(*"abcd") == ["a", "b"]
        talk = Talk(make(1, rate=0.01, burst=2))
        assert await talk.ask("e", "f", release=list("abcd")) == ["e"]

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data(), concurrency=st.integers(1, 4))
    async def test_never_more_and_always_in_order(self, make, data, concurrency):
        talk = Talk(make(concurrency))
        out: list[str] = []
        line: list[str] = []
        served: list[str] = []
        for number in range(data.draw(st.integers(1, 25))):
            gone = data.draw(st.sets(st.sampled_from(out))) if out else set()
            if data.draw(st.booleans()):
                line.append(str(number))
            granted = await talk.ask(*line, release=sorted(gone))
            out = [*(id_ for id_ in out if id_ not in gone), *granted]
            line = [id_ for id_ in line if id_ not in granted]
            served += granted
            assert len(out) <= concurrency
            assert not line or len(out) == concurrency, "nothing is left unused"
        assert served == sorted(served, key=int)


class TestMemory(Promises):
    @pytest.fixture
    def make(self):
        return lambda *args, **options: MemoryLimits(Ceiling(*args, **options))

    async def test_the_clock_is_set_back_and_forth(self):
        now = [1e6]
        talk = Talk(MemoryLimits(Ceiling(1, rate=1, burst=1), clock=lambda: now[0]))
        assert await talk.ask("a") == ["a"]
        now[0] -= 3600
        assert await talk.ask("b") == []
        now[0] += LEASE + 1
        assert await talk.ask("b") == ["b"], "not after an hour"


class TestRedis(Promises):
    @pytest.fixture
    def make(self, make_limits, redis):
        async def _clean():
            await redis.flushdb()

        class Fresh:
            """Each made one begins with nothing, as the other back end's do."""

            def __init__(self, *args, **options):
                self.limits, self.clean = make_limits(*args, **options), True

            async def turn(self, question, lease):
                if self.clean:
                    self.clean = False
                    await _clean()
                return await self.limits.turn(question, lease)

        return Fresh


@pytest.mark.parametrize(
    "wrong", [{"concurrency": 0}, {"rate": 0}, {"rate": -1.0}, {"burst": 2}, {"rate": 1, "burst": 0}]
)
def test_ceilings_that_make_no_sense(wrong):
    with pytest.raises(ConfigError):
        Ceiling(**wrong)
