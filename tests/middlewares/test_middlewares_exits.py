"""Gateways, tiers and what happens when no exit is left, on requests that really go through a gateway."""

from __future__ import annotations

import asyncio
from collections import defaultdict

import pytest

from fetchworker.demo.lab import lab_app, text
from fetchworker.demo.proxy import Mode
from fetchworker.download.wire import WIRE
from fetchworker.errors import OutcomeError, ProxyExhaustedError, ProxyFailedError
from fetchworker.proxies import ProxyResult
from fetchworker.sessions import MemorySessionStore

ONE = ({"provider": "evomi", "product": "residential"},)
TWO = ({"provider": "evomi", "product": "datacenter"}, {"provider": "decodo", "product": "residential"})
TIERS = ["datacenter", "residential"]


def peers(site):
    return [request.peer for request in site.requests]


def stats(site, kind):
    head = f"fetchworker/{kind}/instagram"
    return {name.removeprefix(head).lstrip("/"): value for name, value in site.stats.items() if name.startswith(head)}


def tier_of(request):
    """Which gateway it came by: the networks of its exits differ."""
    return {"60": "datacenter", "61": "residential"}[request.peer.split(".")[1]]


# ── one identity, one exit ───────────────────────────────────────────────────────────────────────────────────────────


async def test_each_identity_has_its_own_exit_and_keeps_it(drive):
    async with drive(gateways=ONE, proxy="required") as site:
        for _ in range(3):
            for name in ("ann", "bob"):
                await site.get("/cookies/set?a=1", session=name)
        for _ in range(3):
            await site.get("/")
        by_name = defaultdict(set)
        for request, name in zip(site.requests, ["ann", "ann", "bob", "bob"], strict=False):
            by_name[name].add(request.peer)
        tokens = {(await site.stored(name)).proxy_id.split(".")[3] for name in ("ann", "bob")}
        assert len(tokens) == 2
        assert len(site.gateways[0].exits) == 5, "two names, three strangers"
        assert all(len(addresses) == 1 for addresses in site.gateways[0].exits.values())


async def test_a_block_gives_the_name_another_exit(drive):
    async with drive(once("no", 403), gateways=ONE, proxy="required") as site:
        await site.get("/", session="ann")
        assert len(set(peers(site))) == 2
        token = (await site.stored("ann")).proxy_id.split(".")[3]
        assert site.gateways[0].exits[token] == [peers(site)[-1]]


async def test_a_stored_session_has_its_exit_again_in_the_next_crawl(drive):
    store = MemorySessionStore()
    options = {"gateways": ({**ONE[0], "port": 0, "password": "Zq9"},), "proxy": "required", "store": store}
    async with drive(**options) as site:
        await site.get("/", session="ann")
        port, first = site.gateways[0].port, await site.stored("ann")
    options["gateways"] = ({**ONE[0], "port": port, "password": "Zq9"},)
    async with drive(**options) as site:
        await site.get("/", session="ann")
        again = await site.stored("ann")
        assert (again.proxy_id, again.identity) == (first.proxy_id, first.identity)
        assert list(site.gateways[0].exits) == [first.proxy_id.split(".")[3]]


async def test_an_exit_that_left_the_list_is_left_by_its_session(drive):
    async with drive(gateways=TWO, proxy="required") as site:
        await site.get("/", session="ann")
        first = await site.stored("ann")
        stay = [entry for entry in site.runtime.proxies if entry.provider != first.proxy_id.partition(".")[0]]
        site.runtime.proxies.reload(stay)
        await site.get("/", session="ann")
        second = await site.stored("ann")
        assert second.identity != first.identity
        assert second.proxy_id.startswith(stay[0].provider)


# ── tiers ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def once(body, status):
    """Answers so the first time, and with data from then on."""
    answers = iter([text(body, status)])
    return lambda _: next(answers, text("data\n"))


def wary(cheap_status=999):
    """Refuses data centres."""

    def app(request):
        return text("no", cheap_status) if tier_of(request) == "datacenter" else text("data\n")

    return app


async def test_a_reputation_block_leads_up_at_once_and_others_begin_there(drive):
    async with drive(wary(), gateways=TWO, proxy="required", proxy_tiers=TIERS) as site:
        for _ in range(3):
            await site.get("/")
        assert [tier_of(request) for request in site.requests] == ["datacenter", *["residential"] * 3]
        assert stats(site, "tier") == {"datacenter": 1, "residential": 3}
        assert stats(site, "escalated") == {"residential": 1}


async def test_too_many_requests_lead_nowhere(drive):
    answers = iter([text("slow down", 429)])
    async with drive(
        lambda _: next(answers, text("data\n")), gateways=TWO, proxy="required", proxy_tiers=TIERS
    ) as site:
        await site.get("/")
        assert [tier_of(request) for request in site.requests] == ["datacenter"] * 2


async def test_another_block_leads_up_this_request_and_the_site_stays(drive):
    answers = iter([text("no", 403)])
    async with drive(
        lambda _: next(answers, text("data\n")), gateways=TWO, proxy="required", proxy_tiers=TIERS
    ) as site:
        await site.get("/", session="ann")
        await site.get("/")
        assert [tier_of(request) for request in site.requests] == ["datacenter", "residential", "datacenter"]
        assert (await site.stored("ann")).proxy_id.startswith("decodo.residential.")


async def test_pooled_sessions_of_a_better_tier_are_apart(drive):
    pool = {"pool": {"max_total": 4}}
    async with drive(wary(), gateways=TWO, proxy="required", proxy_tiers=TIERS, **pool) as site:
        for _ in range(2):
            await site.get("/")
        assert [tier_of(request) for request in site.requests] == ["datacenter", *["residential"] * 2]
        standing = await (await site.runtime.leases.open()).standings()
        assert sorted((one.jar, one.uses) for one in standing) == [("main", 1), ("main_residential", 2)]


async def test_pooled_sessions_that_are_made_while_a_tier_rests_are_of_the_other_s_jar(drive):
    async with drive(gateways=TWO, proxy="required", proxy_tiers=TIERS, pool={"max_total": 4}) as site:
        manager = site.runtime.proxies
        (cheap,) = [entry for entry in manager if entry.tier == "datacenter"]
        manager.report(cheap.id, "instagram", ProxyResult.BLOCKED, retry_after=600)
        await site.get("/")
        standing = await (await site.runtime.leases.open()).standings()
        assert [(one.jar, one.uses) for one in standing] == [("main_residential", 1)]
        assert tier_of(site.requests[0]) == "residential"


async def test_what_waits_for_a_session_goes_by_the_tier_that_is_right_when_its_turn_comes(drive):
    gate = asyncio.Event()

    async def app(request):
        if request.path == "/held":
            await gate.wait()
        return text("data\n")

    pool = {"max_total": 1, "max_idle": 1, "wait": 20}
    async with drive(app, gateways=TWO, proxy="required", proxy_tiers=TIERS, pool=pool) as site:
        held = asyncio.create_task(site.get("/held"))
        while not site.requests:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(site.get(f"/{n}")) for n in range(2)]
        while site.runtime.leases.waits() < 2:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
        (cheap,) = [entry for entry in site.runtime.proxies if entry.tier == "datacenter"]
        site.runtime.proxies.report(cheap.id, "instagram", ProxyResult.BLOCKED, retry_after=600)
        answers = await asyncio.gather(*waiting)
        assert {answer.meta["fw_session"].split(".")[1] for answer in answers} == {"main_residential"}
        gate.set()
        await held
        assert [tier_of(request) for request in site.requests] == ["datacenter", *["residential"] * 2]


async def test_the_budget_ends_the_climb_and_the_failure_tells_the_tier(drive):
    budget = {"tier_requests": 2, "retries": 1}
    async with drive(wary(), gateways=TWO, proxy="required", proxy_tiers=TIERS, **budget) as site:
        for _ in range(2):
            await site.get("/")
        with pytest.raises(OutcomeError) as caught:
            await site.get("/")
        assert caught.value.context["tier"] == "datacenter"
        assert stats(site, "tier")["residential"] == 2


async def test_a_budget_of_bytes_holds_too(drive):
    budget = {"budget": {"bytes_per_day": 10**9, "on_exceeded": "down_tier", "tiers": {"residential": 1}}, "retries": 1}
    async with drive(wary(), gateways=TWO, proxy="required", proxy_tiers=TIERS, **budget) as site:
        await site.get("/")
        with pytest.raises(OutcomeError):
            await site.get("/")
        assert stats(site, "tier")["residential"] == 1


# ── whose fault ──────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize(
    ("mode", "outcome"),
    [
        (Mode.REFUSE_CREDENTIALS, "proxy_auth"),
        (Mode.FORBID, "proxy_refused"),
        (Mode.UNREACHABLE, "proxy_refused"),
        (Mode.DEAD, "proxy_error"),
        (Mode.DROP, "proxy_tls"),
    ],
)
async def test_a_proxys_fault_has_a_name_and_is_no_fault_of_the_site(drive, scheme, mode, outcome):
    options = {**ONE[0], "scheme": scheme}
    async with drive(gateways=(options,), proxies=1, proxy="preferred", retries=0) as site:
        await site.gateways[0].set_mode(mode)
        await site.proxies[0].set_mode(mode)
        if scheme == "socks5":
            site.runtime.proxies.reload([entry for entry in site.runtime.proxies if entry.gateway])
        with pytest.raises(Exception) as caught:  # noqa: PT011  # its class is the next line's
            await site.get("/", session="ann")
        assert getattr(caught.value, "context", {}).get("outcome") == outcome, caught.value
        assert not site.requests
        assert (await site.stored("ann")).blocks == 0
        assert "suspect" not in str(site.stats)


async def test_a_torn_answer_is_tried_again(drive):
    async with drive(lambda _: text("x" * 100_000), gateways=ONE, proxy="required", retries=2) as site:
        await site.gateways[0].set_mode(Mode.TRUNCATE)
        waiting = asyncio.create_task(site.get("/"))
        while not site.requests:  # noqa: ASYNC110  # what the server saw is what is waited for
            await asyncio.sleep(0.01)
        site.gateways[0].mode = Mode.OK
        assert len((await waiting).body) == 100_000


# ── never directly ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", [Mode.DEAD, Mode.FORBID, Mode.REFUSE_CREDENTIALS, Mode.DROP])
async def test_nothing_goes_out_directly_whatever_it_is_for(drive, mode):
    environment = {"NO_EGRESS_PATIENCE": "0"}
    async with drive(
        gateways=ONE, proxy="required", retries=1, robots="obey", warmup=True, environment=environment
    ) as site:
        await site.gateways[0].set_mode(mode)
        for meta in ({}, {"fw_warmup": True}, {"fw_media": True}, {"fw_session": "ann"}):
            with pytest.raises(Exception):  # noqa: B017, PT011  # whatever it is called
                await asyncio.wait_for(site.get("/redirect/2", meta=dict(meta)), 5)
        assert site.requests == []


async def test_hops_and_media_go_by_the_exit(drive):
    async with drive(lab_app, gateways=ONE, proxy="required", robots="obey") as site:
        await site.get("/redirect/3", session="ann")
        await site.get("/redirect-to?url=https://other.example/echo", session="ann")
        (address,) = {request.peer for request in site.requests if request.route != "/robots.txt"}
        assert address.startswith("127.60.")
        assert all(request.peer.startswith("127.60.") for request in site.requests)


async def test_who_cannot_wait_is_told_at_once(drive):
    async with drive(gateways=ONE, proxy="required", retries=0) as site:
        site.runtime.exits.waits = False
        await site.gateways[0].set_mode(Mode.DEAD)
        for _ in range(5):
            with pytest.raises(ProxyFailedError):
                await site.get("/")
        with pytest.raises(ProxyExhaustedError):
            await site.get("/")
        assert stats(site, "no_egress") == {}
        assert not site.crawler.engine._slot.closing


async def test_without_any_proxy_it_fails_at_once(drive):
    async with drive(proxy="required") as site:
        with pytest.raises(ProxyExhaustedError, match="0 configured"):
            await site.get("/")


# ── the language ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_language_is_that_of_the_exits_country(drive):
    async with drive(gateways=ONE, proxy="required", accept_language="exit") as site:
        answer = await site.get("/")
        assert answer.meta[WIRE].proxy.country is None
        (entry,) = site.runtime.proxies
        from dataclasses import replace

        german = replace(entry.gateway, country="DE").entry(entry.scheme, (entry.host, entry.port))
        site.runtime.proxies.reload([german])
        await site.get("/")
        told = [request.header("accept-language") for request in site.requests]
        assert told == ["en-US,en;q=0.9", "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"]
        assert site.gateways[0].countries == {None, "DE"}
