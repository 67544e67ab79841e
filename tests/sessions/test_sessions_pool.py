"""What every back end of a pool promises, checked on each of them: one class of tests, a subclass a back end."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.errors import ArgumentError, ConfigError, LeaseLostError
from fetchworker.sessions.pool import WAITING, Lease, PoolBackend, PoolTerms
from fetchworker.sessions.poolkeys import jar_of, new_id
from fetchworker.sessions.poolmemory import MemoryPool
from fetchworker.sessions.poolrules import START, judged, order
from fetchworker.sessions.remote import Token

TERMS = PoolTerms(max_total=3, max_idle=3, lease=30, cooldown=0, quarantine=100)


#: what views of one pool in memory share
_STATE = ("_places", "_owned", "_locks", "_workers", "_fence", "_epoch", "_line", "_lines", "_turns")


class PoolConformance:
    """``make(terms)`` gives a worker's view of the one pool; ``passes(seconds)`` lets time go by."""

    @pytest.fixture
    def make(self):
        raise NotImplementedError

    @pytest.fixture
    def passes(self):
        raise NotImplementedError

    # Taking and giving back

    def test_it_is_a_back_end(self, make):
        assert isinstance(make(TERMS), PoolBackend)

    async def test_sessions_are_made_until_there_are_as_many_as_may_be(self, make):
        pool = make(TERMS)
        taken = [await pool.take("main", f"o{n}") for n in range(4)]
        assert [one.lease.new for one in taken[:3]] == [True] * 3
        assert len({one.lease.session_id for one in taken[:3]}) == 3
        assert taken[3].lease is None
        assert 0 < taken[3].wait <= 30, "when the first lease ends"
        assert await pool.counts("main") == (await pool.counts("main")).__class__(0, 0, 3)

    async def test_what_is_given_back_is_given_out_again(self, make):
        pool = make(TERMS)
        first = (await pool.take("main", "a")).lease
        assert await pool.put(first, good=1) == (True, ())
        again = (await pool.take("main", "b")).lease
        assert (again.session_id, again.new) == (first.session_id, False)
        assert again.number > first.number

    async def test_a_lease_tells_its_owner(self, make):
        pool = make(TERMS)
        lease = (await pool.take("main", "a")).lease
        assert await pool.owner(lease) == "a"
        assert await pool.owner(replace(lease, number=lease.number + 1)) is None
        assert await pool.owner(replace(lease, session_id=new_id("main"))) is None
        await pool.put(lease)
        assert await pool.owner(lease) is None

    async def test_a_lease_tells_whether_its_process_had_the_session_last(self, make):
        pool = make(TERMS)

        async def had_last(holder):
            lease = (await pool.take("main", "a", holder=holder)).lease
            await pool.put(lease)
            return lease.known

        asked = ["here", "here", "there", "here", "here", "", "", "here"]
        assert [await had_last(holder) for holder in asked] == [
            False, True, False, False, True, False, False, False,
        ]  # fmt: skip
        held = (await pool.take("main", "a", holder="here")).lease
        assert held.known
        assert not (await pool.take("main", "a", holder="there")).lease.known, "its owner goes on elsewhere"

    async def test_an_owner_has_one_session_and_gets_it_again_elsewhere(self, make):
        here, there = make(TERMS), make(TERMS)
        first = (await here.take("main", "call")).lease
        second = (await there.take("main", "call")).lease
        assert first.session_id == second.session_id
        assert await here.put(first) == (False, ()), "it is the other one's now"
        assert (await there.put(second))[0]

    async def test_an_owner_that_was_silent_gets_the_same_session_if_nobody_has_it(self, make, passes):
        pool = make(replace(TERMS, prefer="oldest"))
        await pool.put((await pool.take("main", "old")).lease)
        other = (await pool.take("main", "x", fresh="new")).lease
        await pool.put(other)
        mine = (await pool.take("main", "y", fresh="new")).lease
        await passes(31)
        assert (await pool.take("main", "y")).lease.session_id == mine.session_id

    async def test_one_that_waits_for_its_exit_is_not_blamed_and_another_takes_its_place(self, make, passes):
        pool = make(replace(TERMS, max_total=1, blocks=1))
        first = (await pool.take("main", "a")).lease
        assert await pool.rest(first, "its exit is out of use", seconds=50)
        assert not await pool.rest(first, "once more", seconds=50), "it is held no longer"
        (one,) = await pool.standings()
        assert (one.state, one.blocks, one.score, one.reason) == ("waiting", 0, START, "its exit is out of use")
        assert one.until - one.reason_at == pytest.approx(50)
        assert (await pool.counts("main")).total == 0
        second = (await pool.take("main", "a")).lease
        assert second.session_id != first.session_id
        await passes(29)
        await pool.put(second)
        await passes(29)
        assert (await pool.take("main", "b")).lease.session_id == second.session_id, "there is no room for the first"
        await pool.rest((await pool.take("main", "b")).lease, "its exit too", seconds=50)
        assert (await pool.take("main", "c")).lease.session_id == first.session_id, "whose exit is back"

    async def test_only_so_many_wait_for_exits(self, make):
        pool = make(replace(TERMS, max_total=2))
        longest = (await pool.take("main", "a")).lease
        await pool.rest(longest, "no exit", seconds=100)
        for _ in range(WAITING - 1):
            await pool.rest((await pool.take("main", "a")).lease, "no exit", seconds=50)
        taken = await pool.take("main", "a")
        assert taken.lease.new
        assert taken.dropped == (longest.session_id,)
        assert len(await pool.standings()) == WAITING
        assert (await pool.totals())["quarantined"] == 0

    async def test_one_that_waits_can_be_dropped(self, make):
        pool = make(TERMS)
        lease = (await pool.take("main", "a")).lease
        await pool.rest(lease, "no exit", seconds=50)
        assert await pool.quarantine(Lease(lease.session_id, 0), "by hand", seconds=0) == (True, True)
        assert await pool.standings() == []

    async def test_those_to_be_skipped_are_left_alone_and_take_no_place(self, make):
        pool = make(replace(TERMS, max_total=1))
        newer = (await pool.take("main", "a")).lease
        await pool.put(newer)
        skip = (newer.session_id, new_id("main"))
        other = (await pool.take("main", "a", skip=skip)).lease
        assert other.session_id != newer.session_id
        assert (await pool.take("main", "b", skip=skip)).lease is None, "one may be, beside it"
        assert (await pool.take("main", "c")).lease.session_id == newer.session_id, "others can use it"
        await pool.put(other)
        assert (await pool.take("main", "d", skip=skip)).lease.session_id == other.session_id

    async def test_jars_are_apart(self, make):
        pool = make(replace(TERMS, max_total=1))
        jobs, companies = (await pool.take("jobs", "a")).lease, (await pool.take("company", "a2")).lease
        assert jar_of(jobs.session_id) == "jobs"
        assert jar_of(companies.session_id) == "company"
        assert (await pool.take("jobs", "b")).lease is None

    async def test_only_a_new_one_only_a_used_one(self, make):
        pool = make(TERMS)
        assert (await pool.take("main", "a", fresh="used")).lease is None
        await pool.put((await pool.take("main", "a")).lease)
        assert (await pool.take("main", "b", fresh="new")).lease.new
        assert not (await pool.take("main", "c", fresh="used")).lease.new

    async def test_one_may_be_asked_for_by_name(self, make):
        pool = make(TERMS)
        leases = [(await pool.take("main", f"o{n}")).lease for n in range(3)]
        for lease in leases:
            await pool.put(lease)
        await pool.aim("me", leases[2].session_id)
        assert (await pool.take("main", "me", fresh="used")).lease.session_id == leases[2].session_id

    async def test_names_are_checked(self, make):
        pool = make(TERMS)
        for jar, owner in (("Main", "a"), ("", "a"), ("main", "a b"), ("main", "")):
            with pytest.raises(ArgumentError):
                await pool.take(jar, owner)

    # Fences

    async def test_a_session_of_a_holder_that_is_gone_comes_back_and_its_late_release_is_refused(self, make, passes):
        pool = make(replace(TERMS, max_total=1))
        dead = (await pool.take("main", "dead")).lease
        assert (await pool.take("main", "next")).lease is None
        await passes(31)
        assert await pool.put(dead) == (False, ()), "its time is over, though nobody came yet"
        alive = (await pool.take("main", "next")).lease
        assert alive.session_id == dead.session_id
        assert await pool.put(dead, bad=1) == (False, ())
        assert await pool.quarantine(dead, "late") == (False, False)
        assert await pool.extend([dead, alive]) == [False, True]
        assert (await pool.totals())["lapsed"] == 1

    async def test_a_lease_that_is_extended_goes_on(self, make, passes):
        pool = make(replace(TERMS, max_total=1))
        lease = (await pool.take("main", "a")).lease
        for _ in range(3):
            await passes(20)
            assert await pool.extend([lease]) == [True]
        assert (await pool.put(lease))[0]
        assert await pool.extend([lease]) == [False]
        assert await pool.extend([]) == []

    async def test_nothing_is_given_back_twice(self, make):
        pool = make(TERMS)
        lease = (await pool.take("main", "a")).lease
        assert (await pool.put(lease))[0]
        assert await pool.put(lease) == (False, ())
        assert await pool.put(Lease("pool.main.0000000000000000", 7)) == (False, ())

    # Limits

    async def test_the_sites_concurrency_holds_over_all_jars(self, make):
        pool = make(replace(TERMS, concurrency=2))
        first = (await pool.take("jobs", "a")).lease
        await pool.take("company", "b")
        assert (await pool.take("main", "c")).lease is None
        await pool.put(first)
        assert (await pool.take("main", "c")).lease

    async def test_an_identity_rests_between_two_uses(self, make, passes):
        pool = make(replace(TERMS, max_total=1, cooldown=10))
        await pool.put((await pool.take("main", "a")).lease)
        asked = await pool.take("main", "b")
        assert asked.lease is None
        assert 0 < asked.wait <= 10
        await passes(10.1)
        assert (await pool.take("main", "b")).lease

    async def test_a_session_goes_when_it_was_used_often_enough(self, make):
        pool = make(replace(TERMS, max_uses=2))
        first = (await pool.take("main", "a")).lease
        await pool.put(first)
        second = (await pool.take("main", "b")).lease
        assert second.session_id == first.session_id
        assert await pool.put(second) == (True, (first.session_id,)), "its record is of no more use"
        assert (await pool.take("main", "c")).lease.session_id != first.session_id

    async def test_a_session_goes_when_it_is_old_enough(self, make, passes):
        pool = make(replace(TERMS, max_age=50))
        first = (await pool.take("main", "a")).lease
        await pool.put(first)
        await passes(51)
        taken = await pool.take("main", "b")
        assert taken.dropped == (first.session_id,)
        assert taken.lease.new

    async def test_no_more_than_so_many_stay_idle(self, make):
        pool = make(replace(TERMS, max_idle=1))
        leases = [(await pool.take("main", f"o{n}")).lease for n in range(3)]
        gone = [name for lease in leases for name in (await pool.put(lease))[1]]
        assert len(gone) == 2
        counts = await pool.counts("main")
        assert (counts.idle, counts.total) == (1, 1)

    async def test_a_cooldown_does_not_hide_one_from_max_idle(self, make):
        pool = make(replace(TERMS, max_idle=1, cooldown=5))
        leases = [(await pool.take("main", f"o{n}")).lease for n in range(2)]
        assert [len((await pool.put(lease))[1]) for lease in leases] == [0, 1]

    # Which one

    async def test_the_oldest_healthy_one_first(self, make, passes):
        pool = make(replace(TERMS, prefer="oldest"))
        leases = []
        for n in range(3):
            leases.append((await pool.take("main", f"o{n}")).lease)
            await passes(0.01)
        old, middle, young = leases
        for lease in (young, middle, old):
            await pool.put(lease)
        assert (await pool.take("main", "a")).lease.session_id == old.session_id
        ill = (await pool.take("main", "b")).lease
        assert ill.session_id == middle.session_id
        await pool.put(ill, bad=1)
        again = (await pool.take("main", "b2")).lease
        await pool.put(again, bad=1)
        assert (await pool.take("main", "c")).lease.session_id == young.session_id, "the middle one is not healthy"

    async def test_the_best_one_first_and_of_two_the_one_longest_unused(self, make, passes):
        pool = make(replace(TERMS, prefer="best"))
        leases = [(await pool.take("main", f"o{n}")).lease for n in range(3)]
        for lease, bad in zip(leases, (1, 0, 0), strict=True):
            await pool.put(lease, bad=bad)
            await passes(0.01)
        order_ = [(await pool.take("main", f"p{n}")).lease.session_id for n in range(3)]
        assert order_ == [leases[1].session_id, leases[2].session_id, leases[0].session_id]

    async def test_the_longest_unused_first(self, make, passes):
        pool = make(replace(TERMS, prefer="lru"))
        leases = [(await pool.take("main", f"o{n}")).lease for n in range(3)]
        for lease in reversed(leases):
            await pool.put(lease, bad=1)
            await passes(0.01)
        assert (await pool.take("main", "a")).lease.session_id == leases[2].session_id

    # Quarantine

    async def test_a_quarantine_has_a_reason_and_an_end(self, make, passes):
        pool = make(replace(TERMS, max_total=1))
        lease = (await pool.take("main", "a")).lease
        assert await pool.quarantine(lease, "blocked (captcha)") == (True, False)
        (one,) = await pool.standings()
        assert (one.state, one.reason, one.blocks) == ("quarantined", "blocked (captcha)", 1)
        assert one.until - one.reason_at == pytest.approx(100)
        assert (await pool.take("main", "b")).lease is None
        await passes(101)
        assert (await pool.take("main", "b")).lease.session_id == lease.session_id
        (one,) = await pool.standings()
        assert (one.state, one.owner) == ("leased", "b")

    async def test_after_so_many_quarantines_it_is_dropped(self, make, passes):
        pool = make(replace(TERMS, max_total=1, blocks=2))
        assert await pool.quarantine((await pool.take("main", "a")).lease, "one") == (True, False)
        await passes(101)
        assert await pool.quarantine((await pool.take("main", "a")).lease, "two") == (True, True)
        assert await pool.standings() == []
        assert (await pool.take("main", "a")).lease.new

    async def test_who_has_no_lease_may_drop_a_session_too(self, make):
        pool = make(TERMS)
        lease = (await pool.take("main", "a")).lease
        assert await pool.quarantine(Lease(lease.session_id, 0), "by hand", seconds=0) == (True, True)
        assert await pool.put(lease) == (False, ())
        assert await pool.quarantine(Lease(lease.session_id, 0), "again", seconds=0) == (False, False)

    # Races

    async def test_a_session_is_in_one_hand_only(self, make):
        pools = [make(replace(TERMS, max_total=2)) for _ in range(3)]
        out, most = set(), 0

        async def use(number):
            nonlocal most
            pool = pools[number % 3]
            taken = await pool.take("main", f"o{number}")
            if taken.lease is None:
                return 0
            assert taken.lease.session_id not in out
            out.add(taken.lease.session_id)
            most = max(most, len(out))
            await asyncio.sleep(0)
            out.discard(taken.lease.session_id)
            assert (await pool.put(taken.lease))[0]
            return 1

        done = 0
        for start in range(0, 100, 10):
            done += sum(await asyncio.gather(*(use(start + n) for n in range(10))))
        assert done >= 20
        assert most <= 2

    # Locks

    async def test_a_named_session_has_one_holder(self, make, passes):
        here, there = make(TERMS), make(TERMS)
        mine = (await here.lock("ada", "a")).lease
        refused = await there.lock("ada", "b")
        assert refused.lease is None
        assert 0 < refused.wait <= 30
        assert (await there.lock("bob", "b")).lease, "another name"
        again = (await there.lock("ada", "a")).lease
        assert again.number > mine.number
        assert not await here.unlock(mine), "the owner has it elsewhere"
        assert not await here.keep(mine)
        assert await there.unlock(again)
        assert (await there.lock("ada", "b")).lease

    async def test_a_lock_lasts_as_long_as_it_is_kept(self, make, passes):
        pool = make(TERMS)
        mine = (await pool.lock("ada", "a")).lease
        await passes(20)
        assert await pool.keep(mine)
        await passes(20)
        assert (await pool.lock("ada", "b")).lease is None
        await passes(11)
        assert not await pool.keep(mine), "too late"
        theirs = (await pool.lock("ada", "b")).lease
        assert not await pool.unlock(mine)
        assert await pool.unlock(theirs)

    # Numbers

    async def test_two_configurations_of_one_site_are_refused(self, make):
        first, second = make(TERMS), make(replace(TERMS, max_total=9, max_uses=4))
        await first.enter("one")
        await make(replace(TERMS, wait=1, hold=2, lease=3)).enter("same")
        with pytest.raises(ConfigError) as told:
            await second.enter("two")
        assert "sites.shop.pool.max_total is 9 here and 3 there" in told.value.message
        assert "sites.shop.pool.max_uses is 4 here and unset there" in told.value.message
        assert "give all workers of the site the same ones" in told.value.message
        await first.leave("one")
        await first.leave("same")
        await second.enter("two")

    async def test_the_numbers_of_a_worker_that_is_gone_bind_nobody(self, make, passes):
        await make(TERMS).enter("gone")
        await passes(91)
        await make(replace(TERMS, max_total=9)).enter("new")

    # The line of all processes

    async def test_whoever_has_waited_for_longest_is_served_first_whichever_process_it_is_of(self, make):
        here, there = (make(replace(TERMS, max_total=1)) for _ in range(2))
        held = (await here.take("main", "first")).lease
        late = await there.take("main", "late", waits=5)
        assert (late.lease, late.before) == (None, 0)
        assert (await here.take("main", "next", waits=1)).before == 1
        await here.put(held)
        assert (await here.take("main", "next", waits=2)).lease is None
        assert (await here.take("main", "hasty")).lease is None, "it would take what somebody waits for"
        mine = (await there.take("main", "late", waits=6)).lease
        assert mine.session_id == held.session_id
        await there.put(mine)
        assert (await here.take("main", "next", waits=3)).lease is not None

    async def test_nobody_waits_for_another_when_there_is_enough_for_both(self, make):
        pool = make(replace(TERMS, max_total=2))
        held = [(await pool.take("main", f"o{n}")).lease for n in range(2)]
        assert (await pool.take("main", "first", waits=2)).lease is None
        await pool.put(held[0])
        assert (await pool.take("main", "second", waits=1)).lease is None
        await pool.put(held[1])
        assert (await pool.take("main", "second", waits=1)).lease is not None
        assert (await pool.take("main", "third")).lease is None
        assert (await pool.take("main", "first", waits=3)).lease is not None

    async def test_who_does_not_ask_again_loses_the_place(self, make, passes):
        pool = make(replace(TERMS, max_total=1))
        held = (await pool.take("main", "a")).lease
        await pool.take("main", "dead", waits=5)
        await pool.put(held)
        assert (await pool.take("main", "b", waits=1)).lease is None
        await passes(2.5)
        assert (await pool.take("main", "b", waits=3.5)).lease is not None

    async def test_who_waits_no_longer_is_in_nobodys_way(self, make):
        pool = make(replace(TERMS, max_total=1, concurrency=1))
        held = (await pool.take("main", "a")).lease
        await pool.take("main", "gone", waits=5)
        await pool.put(held)
        await pool.quit("main", "gone")
        assert (await pool.take("main", "b")).lease is not None

    async def test_a_line_that_moves_can_be_told(self, make):
        pool = make(replace(TERMS, max_total=1))
        held = (await pool.take("main", "a")).lease
        before = (await pool.take("main", "second", waits=1)).turn
        assert (await pool.take("main", "second", waits=1.1)).turn == before
        await pool.take("main", "first", waits=5)
        await pool.put(held)
        assert (await pool.take("main", "first", waits=5)).lease is not None
        assert (await pool.take("main", "second", waits=1.2)).turn != before

    async def test_jars_share_the_sites_leases_in_turn(self, make):
        here, there = (make(replace(TERMS, concurrency=1)) for _ in range(2))
        held = (await here.take("main", "a")).lease
        assert (await there.take("jobs", "late", waits=5)).lease is None
        await here.put(held)
        assert (await here.take("main", "b", waits=1)).before == 1
        theirs = (await there.take("jobs", "late", waits=5)).lease
        assert jar_of(theirs.session_id) == "jobs"
        await there.put(theirs)
        assert (await here.take("main", "b", waits=2)).lease is not None

    async def test_one_that_waits_for_a_session_of_its_jar_holds_no_other_jar_up(self, make):
        pool = make(replace(TERMS, max_total=1, concurrency=2))
        await pool.take("main", "a")
        assert (await pool.take("main", "waits", waits=5)).lease is None
        assert (await pool.take("jobs", "b", waits=0)).lease is not None

    async def test_a_lock_goes_to_whoever_has_waited_for_longest(self, make, passes):
        here, there = make(TERMS), make(TERMS)
        held = (await here.lock("ada", "a")).lease
        first = await there.lock("ada", "late", waits=5)
        assert (first.lease, first.before) == (None, 0)
        await here.unlock(held)
        assert (await here.lock("ada", "b", waits=1)).before == 1
        theirs = (await there.lock("ada", "late", waits=6)).lease
        second = await here.lock("ada", "b", waits=2)
        assert (second.lease, second.before) == (None, 0)
        assert second.turn not in (first.turn, 0)
        await here.lock("ada", "dead", waits=9)
        await there.unlock(theirs)
        assert (await here.lock("ada", "b", waits=2)).lease is None
        await here.quit_lock("ada", "dead")
        mine = (await here.lock("ada", "b", waits=2)).lease
        await here.lock("ada", "dead", waits=9)
        await here.unlock(mine)
        await passes(2.5)
        assert (await there.lock("ada", "c")).lease is not None


class TestMemoryPool(PoolConformance):
    @pytest.fixture
    def clock(self):
        return [1000.0]

    @pytest.fixture
    def make(self, clock):
        state = {}

        def view(terms):
            pool = MemoryPool("shop", terms, clock=lambda: clock[0])
            for name, value in vars(pool).items():
                if name in _STATE:
                    setattr(pool, name, state.setdefault(name, value))
            return pool

        return view

    @pytest.fixture
    def passes(self, clock):
        async def later(seconds):
            clock[0] += seconds

        return later


# Tokens and rules


def test_a_lease_as_text():
    token = Token(Lease(new_id("main"), 12), "se~cret")
    assert Token.of(token.text) == token
    name = token.lease.session_id
    for wrong in ("", "x", "~1", "ada~1~s", *(f"{name}{end}" for end in ("", "~1", "~1~", "~x~s", "~-1~s", "~１~s"))):
        with pytest.raises(LeaseLostError):
            Token.of(wrong)


@given(st.integers(0, START), st.integers(0, 5), st.integers(0, 5))
def test_scores_stay_in_their_range_and_go_the_right_way(score, good, bad):
    after = judged(score, good=good, bad=bad)
    assert 0 <= after <= START
    assert (after <= score) if bad else (after >= score)


@given(st.integers(1_700_000_000_000_000, 4_000_000_000_000_000), st.integers(0, START), st.integers(0, START))
def test_orders_are_exact_in_redis(now, one, other):
    for prefer in ("oldest", "best", "lru"):
        value = order(prefer, born=now, used=now, score=one)
        assert int(float(value)) == value
    if one // 10 > other // 10 and (START - one) // 10 != (START - other) // 10:
        best = [order("best", born=now, used=used, score=score) for used, score in ((now, one), (0, other))]
        assert best[0] < best[1], "a better score goes before a longer rest"
