"""Sessions in use: one object for all who use it here, and nothing lost between two processes that use it there."""

from __future__ import annotations

import asyncio
import time

import pytest

from fetchworker.sessions import MemorySessionStore, Session
from fetchworker.sessions.live import FRESH, TOUCH, LiveSessions

SITE, NAME, URL = "shop", "ann", "https://shop.example/"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class WatchedStore(MemorySessionStore):
    """Counts calls, and lets others run in the middle of each, as a store behind a network does."""

    def __init__(self) -> None:
        super().__init__()
        self.loads = self.saves = 0

    async def load(self, site, session_id, /):
        self.loads += 1
        await asyncio.sleep(0)
        return await super().load(site, session_id)

    async def save(self, session, /):
        self.saves += 1
        await asyncio.sleep(0)
        return await super().save(session)

    async def rotate(self, site, session_id, expected_identity, new, /):
        await asyncio.sleep(0)
        return await super().rotate(site, session_id, expected_identity, new)


def mint() -> Session:
    return Session.fresh(NAME, SITE, profile="chrome", proxy_id=None, now=time.time(), stored=True)


def put(session: Session, name: str, value: str = "1") -> None:
    session.jar.set(name, value, url=URL, now=time.time())


def sent(session: Session | None) -> str | None:
    assert session is not None
    return session.jar.cookie_header(URL, time.time())


@pytest.fixture
def store() -> WatchedStore:
    return WatchedStore()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def live(store, clock) -> LiveSessions:
    return LiveSessions(store, clock=clock)


@pytest.fixture
def other(store, clock) -> LiveSessions:
    """The same store, as another process has it."""
    return LiveSessions(store, clock=clock)


async def use(live: LiveSessions, **cookies: str) -> Session:
    session = await live.acquire(SITE, NAME, mint)
    for name, value in cookies.items():
        put(session, name, value)
    await live.release(SITE, NAME, session)
    return session


async def test_who_asks_at_the_same_time_gets_the_same_object(live, store):
    sessions = await asyncio.gather(*(live.acquire(SITE, NAME, mint) for _ in range(10)))
    assert len({id(session) for session in sessions}) == 1
    assert store.loads == 1
    for session in sessions:
        await live.release(SITE, NAME, session)


async def test_names_and_sites_are_kept_apart(live):
    one = await live.acquire(SITE, NAME, mint)
    assert await live.acquire("mall", NAME, lambda: Session.fresh(
        NAME, "mall", profile="chrome", proxy_id=None, now=1, stored=True)) is not one  # fmt: skip


async def test_a_change_is_stored_when_the_session_is_given_back_and_nothing_else_is(live, store):
    await use(live, a="1")
    assert sent(await store.load(SITE, NAME)) == "a=1"
    saves = store.saves
    await use(live)
    assert store.saves == saves


async def test_an_unchanged_session_is_touched_before_it_expires_in_use(live, store, clock):
    await use(live, a="1")
    saves = store.saves
    clock.now += TOUCH + 1
    await use(live)
    assert store.saves == saves + 1


async def test_a_session_that_lay_unused_is_read_again(live, other, clock):
    await use(live, a="1")
    await use(other, b="2")
    clock.now += FRESH + 0.1
    assert sent(await use(live)) == "a=1; b=2"


async def test_what_another_process_stores_is_seen_in_time_by_one_that_never_rests(live, other, clock):
    await use(live, a="1")
    await use(other, b="2")
    for _ in range(20):
        clock.now += FRESH / 10
        session = await use(live)
    assert sent(session) == "a=1; b=2"


async def test_two_processes_that_start_at_once_agree_on_one_identity(live, other, store):
    one, two = await asyncio.gather(live.acquire(SITE, NAME, mint), other.acquire(SITE, NAME, mint))
    assert one.identity == two.identity == (await store.load(SITE, NAME)).identity
    put(one, "a")
    put(two, "b")
    await asyncio.gather(live.release(SITE, NAME, one), other.release(SITE, NAME, two))
    assert sent(await store.load(SITE, NAME)) == "a=1; b=1"


async def test_tokens_harvested_after_the_session_was_given_back_are_stored(live, store):
    session = await use(live)
    session.tokens["lsd"] = "x"
    await live.save(SITE, NAME, session)
    assert (await store.load(SITE, NAME)).tokens == {"lsd": "x"}


async def test_tokens_harvested_into_an_object_that_was_read_anew_are_not_lost(live, store, clock):
    session = await use(live)
    clock.now += FRESH + 0.1
    await use(live, a="1")
    session.tokens["lsd"] = "x"
    await live.save(SITE, NAME, session)
    stored = await store.load(SITE, NAME)
    assert (stored.tokens, sent(stored)) == ({"lsd": "x"}, "a=1")
    assert (await use(live)).tokens == {"lsd": "x"}


async def test_who_comes_while_a_session_is_stored_does_not_read_what_is_older(live, clock):
    session = await live.acquire(SITE, NAME, mint)
    put(session, "a")
    session.proxy_id = "p1"
    clock.now += FRESH + 0.1
    released = asyncio.ensure_future(live.release(SITE, NAME, session))
    await asyncio.sleep(0)  # the store has it in hand
    found = await live.acquire(SITE, NAME, mint)
    assert (sent(found), found.proxy_id) == ("a=1", "p1")
    await released


async def test_rotation_puts_another_identity_under_the_name(live, store):
    session = await live.acquire(SITE, NAME, mint)
    put(session, "a")
    new = await live.rotate(SITE, NAME, session, mint)
    await live.release(SITE, NAME, session)
    assert new.identity != session.identity
    stored = await store.load(SITE, NAME)
    assert stored.identity == new.identity
    assert sent(stored) is None, "the old identity's cookies do not get into the new one"
    assert await live.acquire(SITE, NAME, mint) is new


async def test_those_who_find_the_same_identity_blocked_rotate_it_once(live, other):
    held = [await live.acquire(SITE, NAME, mint) for _ in range(3)]
    theirs = await other.acquire(SITE, NAME, mint)
    rotated = await asyncio.gather(
        *(live.rotate(SITE, NAME, session, mint) for session in held), other.rotate(SITE, NAME, theirs, mint)
    )
    assert len({session.identity for session in rotated}) == 1
    assert rotated[0].identity != theirs.identity


async def test_another_processes_rotation_is_noticed_at_the_next_save(live, other):
    session = await use(live)
    new = await other.rotate(SITE, NAME, session, mint)
    put(session, "late")
    await live.acquire(SITE, NAME, mint)
    await live.release(SITE, NAME, session)
    again = await live.acquire(SITE, NAME, mint)
    assert again.identity == new.identity
    assert sent(again) is None


async def test_a_dropped_session_does_not_come_back_by_those_who_hold_it(live, store):
    session = await live.acquire(SITE, NAME, mint)
    await live.drop(SITE, NAME)
    put(session, "a")
    await live.release(SITE, NAME, session)
    await live.save(SITE, NAME, session)
    assert await store.load(SITE, NAME) is None
    assert (await live.acquire(SITE, NAME, mint)).identity != session.identity


async def test_one_that_another_process_dropped_is_made_anew(live, other):
    session = await use(live)
    await other.drop(SITE, NAME)
    held = await live.acquire(SITE, NAME, mint)
    put(held, "a")
    await live.release(SITE, NAME, held)
    assert (await live.acquire(SITE, NAME, mint)).identity != session.identity


async def test_a_store_that_fails_does_not_keep_the_session_taken(live, store, monkeypatch):
    async def fail(*_):
        raise ConnectionError("no store")

    monkeypatch.setattr(store, "load", fail)
    with pytest.raises(ConnectionError):
        await live.acquire(SITE, NAME, mint)
    monkeypatch.undo()
    await use(live, a="1")
    assert live._entries[SITE, NAME].users == 0


async def test_a_thousand_sessions_later_the_first_are_forgotten_here(live, clock):
    async def one(name: str) -> None:
        made = Session.fresh(name, SITE, profile="chrome", proxy_id=None, now=1, stored=True)
        await live.release(SITE, name, await live.acquire(SITE, name, lambda: made))

    for number in range(1000):
        await one(f"s{number}")
    clock.now += FRESH + 0.1
    await one("last")
    assert set(live._entries) == {(SITE, "last")}


async def test_a_session_that_somebody_else_may_have_changed_is_read_again(live, store):
    session = await live.acquire(SITE, NAME, mint)
    await live.release(SITE, NAME, session)
    elsewhere = await store.load(SITE, NAME)
    put(elsewhere, "b")
    await store.save(elsewhere)
    assert sent(await live.acquire(SITE, NAME, mint)) is None, "read a moment ago"
    await live.release(SITE, NAME, session)
    live.renew(SITE, NAME)
    live.renew(SITE, "another")
    assert sent(await live.acquire(SITE, NAME, mint)) == "b=1"
