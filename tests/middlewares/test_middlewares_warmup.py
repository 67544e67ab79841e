"""Tokens a session lacks are fetched by that session first: once, with its cookies, whoever waits for them."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from fetchworker.demo.lab import as_json, text
from fetchworker.download.wire import WIRE
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.middlewares.warmup import uses_tokens, wanted_tokens

HEADER = {"fw_token_headers": {"X-Token": ["token", None]}}


class TokenSite:
    """Gives a guest a cookie and a token that goes with it, and takes calls with both."""

    def __init__(self) -> None:
        self.guests = 0
        self.visits = 0
        self.refuse = 0
        self.page = "token: {}\n"
        self.generation = 0
        self.gate: asyncio.Event | None = None

    async def __call__(self, request):
        return await self.tokens(request) if request.route == "/tokens" else self.call(request)

    async def tokens(self, request):
        self.visits += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.refuse:
            self.refuse -= 1
            return text("no\n", 403)
        guest = request.cookies().get("guest")
        if guest is None:
            self.guests += 1
            guest = str(self.guests)
        return text(self.page.format(self.token(guest)), headers=[("set-cookie", f"guest={guest}; Path=/")])

    def token(self, guest: str) -> str:
        return f"t{guest}.{self.generation}"

    def call(self, request):
        if request.route == "/plain":
            return text("plain\n")
        good = self.token(request.cookies().get("guest", "nobody"))
        if request.header("x-token") == good or request.form().get("token") == good:
            return text(f"data for {good}\n")
        return as_json({"errors": [{"message": "execution error", "code": 1675002, "summary": "Incorrect Query"}]})


async def call(site, path="/api", **options):
    return await site.get(path, meta=HEADER, **options)


async def test_many_that_lack_a_token_fetch_it_once(drive):
    app = TokenSite()
    async with drive(app) as site:
        answers = await asyncio.gather(*(call(site, f"/api?{n}", session="ann") for n in range(6)))
        assert {answer.body for answer in answers} == {b"data for t1.0\n"}
        assert app.visits == 1
        assert (await call(site, session="ann")).body == b"data for t1.0\n"
        assert app.visits == 1
        assert (await site.stored("ann")).tokens == {"token": "t1.0"}


async def test_another_process_finds_the_tokens_in_the_store(drive):
    app = TokenSite()
    async with drive(app) as site:
        await call(site, session="ann")
        store = site.store
    async with drive(app, store=store) as site:
        assert (await call(site, session="ann")).body == b"data for t1.0\n"
    assert app.visits == 1


async def test_an_identity_that_is_not_stored_warms_itself(drive):
    app = TokenSite()
    async with drive(app, proxies=2) as site:
        answers = [await call(site) for _ in range(3)]
        assert [answer.body for answer in answers] == [b"data for t1.0\n", b"data for t2.0\n", b"data for t3.0\n"]
        assert app.visits == 3
        peers = [request.peer for request in site.requests]
        assert peers[0::2] == peers[1::2], "the call leaves by the exit of its warm-up"
        assert [name async for name in site.store.ids("instagram")] == []


@pytest.mark.parametrize("session", ["ann", None])
async def test_a_block_of_the_warm_up_changes_the_identity_and_the_tokens_land_in_it(drive, session):
    app = TokenSite()
    app.refuse = 2
    async with drive(app, proxies=2) as site:
        answer = await call(site, session=session)
        assert answer.body == b"data for t1.0\n"
        assert app.visits == 3
        wire = answer.meta[WIRE]
        assert wire.session.tokens == {"token": "t1.0"}
        last = site.requests[-2:]
        assert [request.route for request in last] == ["/tokens", "/api"]
        assert last[0].peer == last[1].peer
        if session:
            assert (await site.stored("ann")).identity == wire.session.identity


async def test_a_warm_up_that_stays_blocked_fails_the_request_with_its_outcome(drive):
    app = TokenSite()
    app.refuse = 99
    async with drive(app, retries=2) as site:
        with pytest.raises(OutcomeError) as caught:
            await call(site, session="ann")
        assert caught.value.outcome == "blocked"
        assert app.visits == 3
        assert "/api" not in site.paths


async def test_a_warm_up_that_cannot_be_reached_is_tried_as_often_as_any_request(drive):
    async with drive(TokenSite(), proxy="required", broken=("http://u:p@127.0.0.1:9",), retries=2) as site:
        site.runtime.exits.waits = False
        with pytest.raises(Exception, match=r"curl 7|usable"):
            await call(site, session="ann")
        tries = sum(count for name, count in site.stats.items() if name.startswith("fetchworker/retry/"))
        assert tries <= 2


async def test_a_page_without_the_token_is_a_contract_error_that_names_it(drive):
    app = TokenSite()
    app.page = "nothing here {}\n"
    async with drive(app) as site:
        with pytest.raises(ContractError, match="brought no token"):
            await call(site, session="ann")
        assert "/api" not in site.paths


async def test_tokens_go_into_forms_too_and_defaults_need_no_warm_up(drive):
    app = TokenSite()
    async with drive(app) as site:
        form = {"fw_token_form": {"token": ["token", None], "kind": ["kind", "plain"]}}
        answer = await site.get("/api", method="POST", body=b"a=1&token=&b=2", meta=form, session="ann")
        assert answer.body == b"data for t1.0\n"
        assert site.requests[-1].form() == {"a": "1", "b": "2", "token": "t1.0", "kind": "plain"}
        headers = {"fw_token_headers": {"X-Kind": ["kind", "plain"]}}
        await site.get("/plain", meta=headers, session="bob")
        assert site.requests[-1].header("x-kind") == "plain"
    assert app.visits == 1


async def test_stale_tokens_are_fetched_anew_once(drive):
    app = TokenSite()
    async with drive(app) as site:
        await call(site, session="ann")
        app.generation = 1
        answer = await call(site, session="ann")
        assert answer.body == b"data for t1.1\n", "the identity stays"
        assert answer.meta.get("fw_tries", 1) == 1
        assert app.visits == 2


async def test_what_stays_stale_fails_after_one_refresh(drive):
    app = TokenSite()
    async with drive(app) as site:
        app.page = "token: never right\n"
        with pytest.raises(OutcomeError) as caught:
            await call(site, session="ann")
        assert caught.value.outcome == "stale_contract"
        assert Counter(site.paths) == {"/tokens": 2, "/api": 2}


async def test_a_site_that_wants_a_visit_first_gets_it_before_any_request(drive):
    app = TokenSite()
    app.gate = asyncio.Event()
    async with drive(app, warmup=True) as site:
        asked = [asyncio.ensure_future(call(site, f"/api?{n}", session="ann")) for n in range(3)]
        while not app.visits:  # noqa: ASYNC110  # a look at the server from outside, below at the engine
            await asyncio.sleep(0)
        asked += [asyncio.ensure_future(site.get(f"/plain?{n}", session="ann")) for n in range(3)]
        while len(site.crawler.engine.downloader.active) < 7:  # noqa: ASYNC110
            await asyncio.sleep(0)
        app.gate.set()
        await asyncio.gather(*asked)
        assert site.paths[0] == "/tokens"
        assert app.visits == 1
        assert [request.cookies() for request in site.requests[1:]] == [{"guest": "1"}] * 6


def test_which_tokens_are_wanted():
    meta = {"fw_token_headers": {"A": ["a", None], "B": ["b", "x"]}, "fw_token_form": {"c": ["c", None]}}
    assert wanted_tokens(meta) == {"a", "c"}
    assert wanted_tokens({}) == set()
    assert uses_tokens(meta)
    assert not uses_tokens({})
