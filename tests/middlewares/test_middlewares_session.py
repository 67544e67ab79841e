"""Each try has an identity: whose cookies go out, whose come back, which way, and that it is given back."""

from __future__ import annotations

import asyncio
import json

import pytest
from scrapy.exceptions import IgnoreRequest

from fetchworker.demo.lab import redirect, text
from fetchworker.download.wire import WIRE
from fetchworker.errors import ConfigError, EgressDeniedError, OutcomeError, ProxyExhaustedError

URL = "https://lab.example"


def cookies(response) -> dict[str, str]:
    return json.loads(response.body)["cookies"]


def identity(response) -> str:
    return response.meta[WIRE].session.identity


async def test_a_named_session_is_kept_and_a_nameless_one_is_not(drive):
    async with drive() as site:
        await site.get("/cookies/set?sid=1", session="ann")
        assert cookies(await site.get("/cookies", session="ann")) == {"sid": "1"}
        assert cookies(await site.get("/cookies", session="bob")) == {}
        assert cookies(await site.get("/cookies/set?sid=9")) == {"sid": "9"}, "over its redirect"
        assert cookies(await site.get("/cookies")) == {}
        assert (await site.stored("ann")).jar.cookie_header(URL, 0) == "sid=1"
        assert [name async for name in site.store.ids("instagram")] == ["ann", "bob"]


async def test_requests_at_once_share_one_session_object(drive):
    async with drive() as site:
        answers = await asyncio.gather(*(site.get(f"/cookies/set?n{n}={n}", session="ann") for n in range(8)))
        assert len({id(answer.meta[WIRE].session) for answer in answers}) == 1
        assert cookies(await site.get("/cookies", session="ann")) == {f"n{n}": str(n) for n in range(8)}
        stored = await site.stored("ann")
        assert len(stored.jar) == 8


async def test_nameless_requests_at_once_are_different_people(drive):
    async with drive() as site:
        answers = await asyncio.gather(*(site.get("/echo") for _ in range(5)))
        assert len({identity(answer) for answer in answers}) == 5
        assert len({request.connection.id for request in site.requests}) == 5


@pytest.mark.parametrize(
    "given",
    [
        {"cookies": {"a": "1", "b": "2"}},
        {"cookies": [{"name": "a", "value": "1", "path": "/", "secure": True}, {"name": "b", "value": "2"}]},
        {"headers": {"Cookie": "a=1; b=2"}},
        {"headers": {"Cookie": "a=1; b=2"}, "cookies": {"a": "0"}},
    ],
)
async def test_the_callers_cookies_come_over_the_stored_ones(drive, given):
    async with drive() as site:
        await site.get("/cookies/set?a=old&kept=1", session="ann")
        answer = await site.get("/cookies", session="ann", **given)
        assert cookies(answer) == {"a": "1", "b": "2", "kept": "1"}
        assert sorted(json.loads(answer.body)["lines"]) == ["a=1", "b=2", "kept=1"], "each once, attributes never"
        assert cookies(await site.get("/cookies", session="ann")) == {"a": "1", "b": "2", "kept": "1"}


async def test_the_answers_cookies_come_over_the_callers(drive):
    async with drive() as site:
        answer = await site.get("/cookies/set?a=theirs", session="ann", cookies={"a": "mine", "b": "mine"})
        assert cookies(answer) == {"a": "theirs", "b": "mine"}
        assert cookies(await site.get("/cookies", session="ann")) == {"a": "theirs", "b": "mine"}


async def test_a_retry_by_another_identity_brings_the_callers_cookies_again(drive):
    seen = []

    def app(request):
        seen.append(request.cookies())
        return text("no\n", 403) if len(seen) < 3 else text("yes\n")

    async with drive(app) as site:
        answer = await site.get("/", cookies={"lang": "en"})
        assert answer.body == b"yes\n"
    assert seen == [{"lang": "en"}] * 3


async def test_the_callers_cookies_stay_with_their_host(drive):
    async with drive() as site:
        answer = await site.get("/redirect-to?url=https://other.example/cookies", cookies={"secret": "1"})
        assert cookies(answer) == {}


async def test_hosts_that_are_not_allowed_are_refused_before_anything_is_taken(drive):
    async with drive(allowed_hosts=["lab.example"]) as site:
        with pytest.raises(EgressDeniedError, match=r"other\.example"):
            await site.get("https://other.example/", session="ann")
        with pytest.raises(EgressDeniedError, match="not among"):
            await site.get("https://notlab.example/")
        assert (await site.get("https://lab.example/")).status == 200
        assert await site.stored("ann") is None


async def test_a_required_proxy_that_is_not_there_means_nothing_is_sent(drive):
    async with drive(proxy="required", retries=0) as site:
        for session in (None, "ann"):
            with pytest.raises(ProxyExhaustedError, match="0 configured"):
                await site.get("/echo", session=session)
        assert site.server.log.connections == []


async def test_a_session_keeps_its_exit_and_nameless_tries_take_turns(drive):
    async with drive(proxies=2) as site:
        for _ in range(6):
            await site.get("/echo?ann", session="ann")
            await site.get("/echo")
        exits = {path: [r.peer for r in site.requests if r.path == path] for path in ("/echo?ann", "/echo")}
        assert len(set(exits["/echo?ann"])) == 1
        assert sorted(set(exits["/echo"])) == ["127.0.0.11", "127.0.0.12"]


async def test_an_exit_that_left_the_list_ends_the_identity_but_not_the_name(drive):
    async with drive(proxies=2, proxy="required") as site:
        first = await site.get("/cookies/set?sid=1", session="ann")
        manager = site.runtime.proxies
        manager.reload([proxy for proxy in manager if proxy.id != first.meta[WIRE].session.proxy_id])
        second = await site.get("/cookies", session="ann")
        assert cookies(second) == {}
        assert identity(second) != identity(first)
        assert (await site.stored("ann")).identity == identity(second)
        assert len({request.peer for request in site.requests}) == 2


async def test_without_proxies_and_with_none_wanted_it_is_direct(drive):
    async with drive(proxies=1, proxy="none") as site:
        await site.get("/echo", session="ann")
        await site.get("/echo")
        assert {request.peer for request in site.requests} == {"127.0.0.1"}
        assert (await site.stored("ann")).proxy_id is None


async def test_sessions_are_given_back_whatever_happens(drive):
    # ``drive`` counts at its end
    async with drive(retries=0) as site:
        for path in ("/status/403", "/status/500", "/close", "/truncated", "/slow?seconds=30"):
            with pytest.raises(Exception):  # noqa: B017, PT011  # of every family
                await site.get(path, session="ann", meta={"download_timeout": 0.2})
        with pytest.raises(ConfigError):
            await site.get("/echo", session="ann", headers={"User-Agent": "curl/8"})
        loop = await site.get("/redirect/2", session="ann")
        assert loop.status == 200


async def test_a_redirect_loop_ends(drive):
    async with drive(lambda request: redirect("/again")) as site:
        with pytest.raises(IgnoreRequest, match="max redirections"):
            await site.get("/again", session="ann")
        assert len(site.requests) == 11


@pytest.mark.parametrize("session", ["ann", None])
async def test_a_redirect_that_another_identity_was_given_is_begun_again(drive, session):
    async with drive() as site:
        first = {"url": f"{URL}/cookies/chain", "method": "GET", "body": b"", "headers": {}}
        meta = {"fw_hop_of": "somebody", "fw_first": first, "redirect_urls": [first["url"]], "redirect_times": 1}
        answer = await site.get("/cookies/chain/3", session=session, meta=meta)
        assert cookies(answer) == {"first": "2", "last": "1"}
        assert site.paths == ["/cookies/chain", "/cookies/chain/2", "/cookies/chain/3", "/cookies/chain/4", "/cookies"]


async def test_tries_do_not_use_up_each_others_redirects(drive):
    arrivals = []

    def app(request):
        if request.route == "/end":
            arrivals.append(request.path)
            return text("no\n", 503) if len(arrivals) < 3 else text("yes\n")
        left = int(request.route.rpartition("/")[2])
        return redirect(f"/hop/{left - 1}" if left else "/end")

    async with drive(app) as site:
        answer = await site.get("/hop/5")
        assert answer.body == b"yes\n"
        assert site.paths.count("/hop/5") == 3


async def test_a_failed_request_leaves_its_cookies_in_the_session(drive):
    async with drive(retries=0) as site:
        with pytest.raises(OutcomeError):
            await site.get("/cookies/needed", session="ann")
        assert (await site.get("/cookies/needed", session="ann")).body == b"here you are\n"


async def test_who_is_cancelled_gives_the_session_back(drive):
    arrived = asyncio.Event()

    async def hold(request):
        arrived.set()
        await asyncio.Event().wait()

    async with drive(hold) as site:
        asked = asyncio.ensure_future(site.get("/", session="ann"))
        await arrived.wait()
        assert site.in_use() == 1
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        assert site.in_use() == 0
