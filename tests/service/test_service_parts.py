"""Parts of the service by themselves: places, keys, kept answers, lists and lines that end early."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response

from fetchworker.errors import RedisUnavailableError
from fetchworker.service.admission import Admission
from fetchworker.service.callers import Callers, Key, hash_of
from fetchworker.service.calls import tier_meta
from fetchworker.service.edge import given_key, scope_of
from fetchworker.service.failures import ApiError
from fetchworker.service.idempotency import Answer, Idempotency, LocalAnswers, RedisAnswers
from fetchworker.service.locks import SessionLocks
from fetchworker.service.routes.sites import _collected, _streamed
from fetchworker.service.serving import is_loopback
from fetchworker.sites import SiteConfig

# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


_STEP = st.tuples(st.sampled_from(["enter", "leave", "cancel"]), st.integers(0, 7), st.booleans())


@given(steps=st.lists(_STEP, max_size=60))
@settings(max_examples=100, deadline=None)
def test_places_are_never_lost_and_never_too_many(steps):
    async def run() -> None:
        admission = Admission(2, 3)
        inside, ends, tasks = set(), {}, {}

        async def call(number: int) -> None:
            async with admission.place():
                inside.add(number)
                assert len(inside) <= 2
                try:
                    await ends[number].wait()
                finally:
                    inside.discard(number)

        for step, number, at_once in steps:
            task = tasks.get(number)
            if step == "enter" and (task is None or task.done()):
                ends[number] = asyncio.Event()
                tasks[number] = asyncio.ensure_future(call(number))
            elif step == "leave" and task is not None:
                ends[number].set()
            elif task is not None:
                task.cancel()
            if not at_once:  # else the next step comes in the same moment
                await asyncio.sleep(0)
        for event in ends.values():
            event.set()
        results = await asyncio.gather(*tasks.values(), return_exceptions=True)
        assert all(result is None or isinstance(result, ApiError | asyncio.CancelledError) for result in results)
        assert admission.idle
        assert admission.taken == 0

    asyncio.run(run())


async def test_a_place_that_is_handed_over_to_a_cancelled_call_goes_on():
    admission = Admission(1, 5)
    async with admission.place():
        second = asyncio.ensure_future(admission.place().__aenter__())
        third = asyncio.ensure_future(admission.place().__aenter__())
        await asyncio.sleep(0)
    second.cancel()
    await third
    assert admission.taken == 1


async def test_calls_whose_time_runs_out_together_are_told_so_each():
    admission = Admission(2, 50)

    async def call() -> None:
        async with asyncio.timeout(0.05), admission.place():
            await asyncio.Event().wait()

    results = await asyncio.gather(*(call() for _ in range(40)), return_exceptions=True)
    assert {type(result) for result in results} == {TimeoutError}
    assert admission.idle


async def test_locks_leave_nothing_behind():
    locks = SessionLocks()
    async with locks.held("a", "x"), locks.held("a", "y"), locks.held("b", "x"):
        assert len(locks) == 3
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), locks.held("a", "x"):
                raise AssertionError
    assert len(locks) == 0


@pytest.mark.parametrize("tiers", [None, ("datacenter", "residential")])
def test_a_tier_is_one_that_the_site_has(tiers):
    config = SiteConfig(proxy_tiers=tiers)
    assert tier_meta(config, None) == {}
    for wrong in ("mobile", "127.0.0.1"):
        with pytest.raises(ApiError, match="there is no tier"):
            tier_meta(config, wrong)
    for name in tiers or ():
        assert tier_meta(config, name) == {"fw_tier": name}


# ── callers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_rate_fills_evenly():
    now = [0.0]
    key = Key(name="a", hash=hash_of("k"), scopes=("fetch",), rate=60)
    callers = Callers([key], clock=lambda: now[0])
    for _ in range(60):
        assert callers.admit("k", "fetch") == "a"
    with pytest.raises(ApiError, match="60 calls a minute"):
        callers.admit("k", "fetch")
    now[0] += 1.0
    assert callers.admit("k", "fetch") == "a"
    with pytest.raises(ApiError):
        callers.admit("k", "fetch")


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/health", None), ("/docs", None), ("/assets/scalar.js", None), ("/fetch", "fetch"),
        ("/sessions/a", "sessions"),
        ("/pool/x/lease", "pool"), ("/instagram/profile", "sites"), ("/", "sites"), ("//health", "sites"),
        ("/health/", "sites"), ("", "sites"),
    ],
)  # fmt: skip
def test_every_path_has_its_scope(path, scope):
    assert scope_of(path) == scope


def test_keys_come_in_two_headers():
    assert given_key({b"authorization": b"bearer  abc"}) == "abc"
    assert given_key({b"x-api-key": b"abc"}) == "abc"
    assert given_key({b"authorization": b"Basic abc"}) is None
    assert given_key({}) is None


@pytest.mark.parametrize(
    ("host", "alone"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_what_is_loopback(host, alone):
    assert is_loopback(host) is alone
    assert not is_loopback("192.0.2.1")
    assert not is_loopback("example.com")


# ── answers that are kept ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(params=["process", "redis"])
async def answers(request):
    if request.param == "process":
        yield LocalAnswers()
        return
    from redis.asyncio import Redis

    client = Redis.from_url(request.getfixturevalue("redis_server").url)

    async def connected() -> Redis:
        return client

    yield RedisAnswers(connected)
    await client.aclose()


async def test_the_first_begins_and_others_are_told(answers):
    assert await answers.begin("{k}", Answer("d"), 60) is None
    assert await answers.begin("{k}", Answer("other"), 60) == Answer("d")
    done = Answer("d", True, 200, "application/json", b'{"a": "\xc3\xbc"}')
    await answers.keep("{k}", done)
    assert await answers.begin("{k}", Answer("d"), 60) == done


async def test_what_is_dropped_begins_anew(answers):
    await answers.begin("{k}", Answer("d"), 60)
    await answers.drop("{k}")
    await answers.drop("{k}")
    assert await answers.begin("{k}", Answer("e"), 60) is None


async def test_who_died_leaves_the_key_to_others(answers):
    await answers.begin("{k}", Answer("d"), 0.05)
    async with asyncio.timeout(10):
        while await answers.begin("{k}", Answer("e"), 60) is not None:  # noqa: ASYNC110  # Redis tells nobody
            await asyncio.sleep(0.01)


async def test_an_answer_of_a_day_is_kept_for_a_day():
    now = [0.0]
    local = LocalAnswers(clock=lambda: now[0])
    await local.keep("k", Answer("d", True, 200))
    now[0] = 86_399.0
    assert await local.begin("k", Answer("d"), 1) is not None
    now[0] = 86_401.0
    assert await local.begin("k", Answer("d"), 1) is None


async def test_a_process_keeps_so_much_and_no_more():
    local = LocalAnswers()
    for number in range(70):
        await local.keep(f"k{number}", Answer("d", True, 200, "", bytes(1024 * 1024)))
    assert await local.begin("k0", Answer("d"), 1) is None
    assert await local.begin("k69", Answer("d"), 1) is not None


async def test_a_redis_that_is_away_is_told():
    from redis.asyncio import Redis

    client = Redis.from_url("redis://127.0.0.1:1", retry=None)

    async def connected() -> Redis:
        return client

    with pytest.raises(RedisUnavailableError):
        await RedisAnswers(connected).begin("{k}", Answer("d"), 60)
    await client.aclose()


@pytest.fixture
async def mute():
    """A server that takes commands and answers none, and its client."""
    from redis.asyncio import Redis

    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}"
        client = Redis.from_url(url, retry=None, socket_timeout=60)

        async def connected() -> Redis:
            return client

        yield connected
        await client.aclose()


async def test_a_redis_that_is_silent_is_not_waited_for(mute, monkeypatch):
    monkeypatch.setattr("fetchworker.service.idempotency._STEP", 0.05)
    with pytest.raises(RedisUnavailableError):
        await RedisAnswers(mute).begin("{k}", Answer("d"), 60)


class _Falls(LocalAnswers):
    """Answers whose place falls silent once a call has begun."""

    def __init__(self, mute) -> None:
        super().__init__()
        self._mute = RedisAnswers(mute)
        self.keep, self.drop = self._mute.keep, self._mute.drop


def asking(**headers: str) -> Request:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]

    async def receive():
        return {"type": "http.request", "body": b"{}", "more_body": False}

    scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"", "headers": raw}
    return Request({**scope, "server": ("h", 1), "state": {"caller": None}}, receive)


@pytest.mark.parametrize("error", [None, LookupError("a"), asyncio.CancelledError(), ApiError("NOT_FOUND", "none")])
async def test_a_call_that_is_done_is_answered_though_it_cannot_be_kept(mute, monkeypatch, caplog, error):
    monkeypatch.setattr("fetchworker.service.idempotency._STEP", 0.05)
    done = Response(b"done")

    async def run() -> Response:
        if error is not None:
            raise error
        return done

    once = Idempotency(_Falls(mute), longest=60).once(asking(idempotency_key="k"), run)
    if error is None:
        assert await once is done
    else:
        with pytest.raises(type(error)) as raised:
            await once
        assert raised.value is error
    assert "is not kept" in caplog.text


async def test_a_list_that_ended_early_says_so_again(answers):
    once = Idempotency(answers, longest=60)

    async def run() -> Response:
        return await _collected(items({"id": 1}, error=LOST))

    first, again = [await once.once(asking(idempotency_key="early"), run) for _ in range(2)]
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["x-incomplete"] == first.headers["x-incomplete"] == "FETCH_ERROR"
    assert again.body == first.body


# ── lists and lines that end early ───────────────────────────────────────────────────────────────────────────────────


async def items(*found, error=None):
    for one in found:
        yield one
    if error is not None:
        raise error


LOST = ApiError("FETCH_ERROR", "the second page did not come", site="x")


async def test_a_list_that_ends_early_says_so():
    response = await _collected(items({"id": 1}, error=LOST))
    assert response.status_code == 200
    assert response.headers["x-incomplete"] == "FETCH_ERROR"
    assert json.loads(response.body) == [{"id": 1}]
    with pytest.raises(ApiError):
        await _collected(items(error=LOST))


async def test_lines_that_end_early_say_so():
    sent = []

    async def send(message):
        sent.append(message)

    response = await _streamed(items({"id": 1}, {"id": 2}, error=LOST))
    await response({}, None, send)
    lines = b"".join(message.get("body", b"") for message in sent).splitlines()
    assert [json.loads(line) for line in lines] == [{"id": 1}, {"id": 2}, {"error": LOST.body()}]
    with pytest.raises(ApiError):
        await _streamed(items(error=LOST))
