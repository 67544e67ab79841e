"""A crawl with a pool: whose session each request gets, what a refusal does to it, and that all comes back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import pairwise

import pytest
from scrapy import signals

from fetchworker.contracts import Call, Fetch, Paged, Parsed
from fetchworker.demo.lab import lab_app, redirect, text
from fetchworker.demo.proxy import Mode
from fetchworker.download.wire import WIRE
from fetchworker.errors import (
    BrokenChainError,
    SessionBusyError,
    SessionExhaustedError,
    SessionNewerError,
    UnfinishedError,
)
from fetchworker.items import Page, Post
from fetchworker.middlewares.poolwarm import pause_after
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.spiders.base import operation

POOL = {"max_total": 2, "max_idle": 2, "wait": 10}


def cookies(response) -> dict[str, str]:
    return json.loads(response.body)["cookies"]


def session_of(response):
    return response.meta[WIRE].session


async def standings(site):
    return await (await site.runtime.leases.open()).standings()


async def states(site):
    return sorted(one.state for one in await standings(site))


def stat(site, what):
    return site.stats.get(f"fetchworker/pool/instagram/{what}", 0)


async def test_each_try_has_a_session_of_the_pool_to_itself(drive):
    async with drive(pool=POOL) as site:
        answers = await asyncio.gather(*(site.get(f"/slow?seconds=0.05&n={n}") for n in range(6)))
        used = {session_of(answer).id for answer in answers}
        assert len(used) == 2
        assert {jar_of(name) for name in used} == {"main"}
        assert await states(site) == ["idle", "idle"]
        assert sum(one.uses for one in await standings(site)) == 6


async def test_a_session_brings_its_cookies_to_the_next_request(drive):
    async with drive(pool={**POOL, "max_total": 1, "max_idle": 1}) as site:
        assert cookies(await site.get("/cookies/set?sid=1")) == {"sid": "1"}, "over its redirect"
        assert cookies(await site.get("/cookies")) == {"sid": "1"}
        (one,) = await standings(site)
        assert (one.state, one.uses) == ("idle", 2), "a redirect goes on with what its try has"


async def test_nobody_waits_longer_than_is_written_and_the_error_says_so(drive):
    gate = asyncio.Event()

    async def app(request):
        await gate.wait()
        return text("late")

    async with drive(app, pool={**POOL, "max_total": 1, "max_idle": 1, "wait": 0.2}) as site:
        first = asyncio.create_task(site.get("/held"))
        while not site.requests:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.01)
        with pytest.raises(SessionExhaustedError) as told:
            await site.get("/second")
        assert told.value.type == "SESSION_EXHAUSTED"
        assert "sites.instagram.pool.max_total" in told.value.message
        gate.set()
        await first
        assert stat(site, "exhausted") == 1
        assert await states(site) == ["idle"]


async def test_who_waits_gets_what_is_given_back(drive):
    gate = asyncio.Event()

    async def app(request):
        if request.path == "/held":
            await gate.wait()
        return text("ok")

    async with drive(app, pool={**POOL, "max_total": 1, "max_idle": 1}) as site:
        first = asyncio.create_task(site.get("/held"))
        while not site.requests:  # noqa: ASYNC110  # the server tells nobody
            await asyncio.sleep(0.01)
        others = []
        for n in range(3):
            others.append(asyncio.create_task(site.get(f"/{n}")))
            while site.runtime.leases.waits() < n + 1:  # noqa: ASYNC110  # as above
                await asyncio.sleep(0.01)
        gate.set()
        answers = [await first, *[await other for other in others]]
        assert len({session_of(answer).identity for answer in answers}) == 1
        assert [request.path for request in site.requests] == ["/held", "/0", "/1", "/2"], "in the order of asking"


async def test_a_refused_session_rests_with_its_reason_and_the_next_try_has_another(drive):
    answers = iter([text("", 999), text("ok")])
    async with drive(lambda _: next(answers), pool=POOL) as site:
        got = await site.get("/page")
        refused, good = sorted(await standings(site), key=lambda one: one.state, reverse=True)
        assert (refused.state, good.state) == ("quarantined", "idle")
        assert good.id == session_of(got).id
        assert refused.reason
        assert refused.score < good.score
        assert stat(site, "quarantined") == 1


async def test_a_session_that_cannot_be_read_is_dropped_counted_and_another_one_made(drive):
    async with drive(pool=POOL) as site:
        first = session_of(await site.get("/echo")).id
        key = f"fw:session:{{instagram}}:{first}"
        site.store._records[key] = (site.store._records[key][0], {b"v": b"1", b"identity": b"x"})
        site.runtime._sessions._entries.clear()
        second = session_of(await site.get("/echo")).id
        assert second != first
        assert stat(site, "damaged") == 1
        assert [one.id for one in await standings(site)] == [second]


async def test_a_session_whose_record_is_gone_is_dropped(drive):
    async with drive(pool=POOL) as site:
        first = session_of(await site.get("/echo")).id
        await site.store.delete("instagram", first)
        site.runtime._sessions._entries.clear()
        assert session_of(await site.get("/echo")).id != first
        assert stat(site, "vanished") == 1


async def test_a_session_of_a_newer_version_is_left_to_it(drive):
    async with drive(pool={**POOL, "max_total": 1, "max_idle": 1}) as site:
        first = session_of(await site.get("/echo")).id
        site.store._records[f"fw:session:{{instagram}}:{first}"][1][b"v"] = b"99"
        site.runtime._sessions._entries.clear()
        others = {session_of(await site.get(f"/echo?{n}")).id for n in range(3)}
        assert len(others) == 1
        assert first not in others
        assert await states(site) == ["idle", "idle"], "it is there for those who can read it"
        assert stat(site, "newer") == 1, "told once, and not leased again"
        assert site.store._records[f"fw:session:{{instagram}}:{first}"][1][b"v"] == b"99"


EXCLUSIVE = {"fw_exclusive": True, "fw_scope": "one"}


@pytest.mark.parametrize("meta", [{}, EXCLUSIVE])
@pytest.mark.parametrize("pool", [None, POOL])
@pytest.mark.parametrize("version", [b"x", b"0"])
async def test_a_named_session_that_cannot_be_read_is_made_anew_and_counted(drive, pool, meta, version):
    async with drive(pool=pool) as site:
        await site.get("/cookies/set?sid=1", session="ann", meta=dict(meta))
        site.store._records["fw:session:{instagram}:ann"][1][b"v"] = version
        site.runtime._sessions._entries.clear()
        both = await asyncio.gather(*(site.get("/cookies", session="ann", meta=dict(meta)) for _ in range(2)))
        assert [cookies(answer) for answer in both] == [{}, {}]
        assert len({session_of(answer).identity for answer in both}) == 1
        assert site.stats["fetchworker/damaged/instagram"] == 1
        assert (await site.stored("ann")).identity == session_of(both[0]).identity


async def test_a_named_session_of_a_newer_version_is_refused_and_left(drive):
    async with drive() as site:
        await site.get("/echo", session="ann")
        record = site.store._records["fw:session:{instagram}:ann"][1]
        record[b"v"] = b"99"
        site.runtime._sessions._entries.clear()
        with pytest.raises(SessionNewerError, match=r"update the workers.*scrapy sessions drop") as told:
            await site.get("/echo", session="ann")
        assert told.value.type == "SESSION_NEWER"
        assert site.store._records["fw:session:{instagram}:ann"][1] == record


async def test_a_scope_keeps_its_session_until_it_ends(drive):
    async with drive(pool=POOL) as site:
        mine = [await site.get(f"/echo?{n}", meta={"fw_scope": "call-1"}) for n in range(3)]
        other = await site.get("/echo", meta={"fw_scope": "call-2"})
        assert len({session_of(answer).id for answer in mine}) == 1
        assert session_of(other).id != session_of(mine[0]).id
        assert await states(site) == ["leased", "leased"]
        await site.runtime.end_scope({**mine[0].meta, "fw_session_ends": True})
        assert await states(site) == ["idle", "leased"]
        assert sum(one.uses for one in await standings(site)) == 2, "a scope counts once"


async def test_a_refusal_ends_the_session_of_a_scope_and_breaks_a_chain(drive):
    refused = []

    def app(request):
        if request.path == "/leg" and not refused:
            refused.append(request)
            return text("", 999)
        return text("ok")

    async with drive(app, pool=POOL) as site:
        first = await site.get("/page", meta={"fw_scope": "c"})
        with pytest.raises(BrokenChainError):
            await site.get("/leg", meta={"fw_scope": "c", "fw_leg": True})
        again = await site.get("/page", meta={"fw_scope": "c"})
        assert session_of(again).id != session_of(first).id
        assert await states(site) == ["leased", "quarantined"]


async def test_jars_are_never_mixed(drive):
    async with drive(pool=POOL) as site:
        jobs = session_of(await site.get("/cookies/set?a=1", meta={"fw_jar": "jobs"}))
        other = await site.get("/cookies", meta={"fw_jar": "company"})
        assert jar_of(jobs.id) == "jobs"
        assert cookies(other) == {}
        assert cookies(await site.get("/cookies", meta={"fw_jar": "jobs"})) == {"a": "1"}


async def test_a_child_that_copies_its_pages_meta_has_a_session_of_its_own(drive):
    async with drive(pool={**POOL, "max_uses": 1}) as site:
        page = await site.get("/echo")
        child = await site.get("/echo?child", meta=dict(page.meta))
        assert session_of(child).id != session_of(page).id


async def test_a_named_session_is_not_of_the_pool(drive):
    async with drive(pool=POOL) as site:
        assert session_of(await site.get("/echo", session="ann")).id == "ann"
        assert await standings(site) == []


async def test_an_exclusive_session_has_one_owner(drive):
    async with drive(pool={**POOL, "wait": 0.1}) as site:
        meta = {"fw_exclusive": True, "fw_scope": "one"}
        await site.get("/echo", session="ann", meta=meta)
        await site.get("/echo", session="ann", meta=dict(meta))
        with pytest.raises(SessionBusyError) as told:
            await site.get("/echo", session="ann", meta={**meta, "fw_scope": "two"})
        assert told.value.type == "SESSION_BUSY"
        await site.runtime.end_scope({**meta, "fw_session": "ann", "fw_session_ends": True})
        await site.get("/echo", session="ann", meta={**meta, "fw_scope": "two"})
        assert await site.stored("ann"), "a lock that ends leaves the session"


async def test_a_session_whose_exit_is_gone_is_dropped_and_its_exit_never_changes(drive):
    async with drive(pool=POOL, proxies=2, proxy="required") as site:
        first = session_of(await site.get("/echo"))
        site.runtime.proxies._proxies = {
            name: proxy for name, proxy in site.runtime.proxies._proxies.items() if name != first.proxy_id
        }
        second = session_of(await site.get("/echo"))
        assert second.id != first.id
        assert second.proxy_id not in (None, first.proxy_id)
        assert [one.id for one in await standings(site)] == [second.id]


SLOW_REST = {"PROXY_COOLDOWN": "60"}


async def test_a_session_waits_for_its_exit_without_blame_and_the_request_has_another(drive):
    pool = {**POOL, "max_total": 1, "max_idle": 1, "quarantine": 1000}
    async with drive(pool=pool, proxies=2, proxy="required", environment=SLOW_REST) as site:
        first = session_of(await site.get("/echo"))
        site.runtime.proxies.report(first.proxy_id, "instagram", "transport_failure")
        second = session_of(await site.get("/echo"))
        assert second.proxy_id != first.proxy_id
        found = {one.id: one for one in await standings(site)}
        waits = found[first.id]
        assert (waits.state, waits.blocks, waits.score) == ("waiting", 0, 1000)
        assert 0 < waits.until - waits.reason_at <= 5, "as long as its exit rests"
        assert found[second.id].state == "idle"
        assert stat(site, "waited") == 1
        assert stat(site, "quarantined") == stat(site, "exhausted") == 0


async def test_more_sessions_than_few_may_wait_for_one_exit(drive):
    """Each of them is put aside, however many there are, and the request goes by another exit."""
    pool = {**POOL, "max_total": 14, "max_idle": 14}
    async with drive(pool=pool, proxies=2, proxy="required", environment=SLOW_REST) as site:
        bad, good = (proxy.id for proxy in site.runtime.proxies)
        site.runtime.proxies.report(good, "instagram", "transport_failure")
        await asyncio.gather(*(site.get(f"/slow?seconds=0.2&n={n}") for n in range(14)))
        site.runtime.proxies.reload(list(site.runtime.proxies))
        site.runtime.proxies._health.clear()
        site.runtime.proxies.report(bad, "instagram", "transport_failure")
        assert session_of(await site.get("/echo")).proxy_id == good
        assert await states(site) == ["idle", *["waiting"] * 14]


async def test_an_exit_that_fails_under_a_request_is_not_its_sessions_fault(drive):
    pool = {**POOL, "max_total": 1, "max_idle": 1}
    async with drive(pool=pool, proxies=2, proxy="required", environment=SLOW_REST) as site:
        first = session_of(await site.get("/echo"))
        (server,) = [proxy for proxy in site.proxies if _id_of(site, proxy) == first.proxy_id]
        await server.set_mode(Mode.DEAD)
        second = session_of(await site.get("/echo"))
        assert second.id != first.id
        found = {one.id: one for one in await standings(site)}
        assert (found[first.id].state, found[first.id].blocks, found[first.id].score) == ("waiting", 0, 1000)
        assert found[second.id].state == "idle"


def _id_of(site, server):
    (proxy,) = [one for one in site.runtime.proxies if one.url.get_secret_value() == server.url]
    return proxy.id


async def test_a_site_without_exits_loses_no_session_and_no_request(drive):
    """All exits are gone for longer than anybody waits for a session; then all that was asked for comes."""
    pool = {**POOL, "max_total": 2, "max_idle": 2, "wait": 0.2}
    async with drive(pool=pool, proxies=2, proxy="required", environment={"PROXY_COOLDOWN": "0.3"}) as site:
        site.runtime.proxies._policy = replace(site.runtime.proxies._policy, probe=0.3, probe_max=0.3, trial=0.3)
        before = {session_of(answer).id for answer in await asyncio.gather(*map(site.get, ["/echo?1", "/echo?2"]))}
        for server in site.proxies:
            await server.set_mode(Mode.DEAD)
        asked = [asyncio.create_task(site.get(f"/echo?n={n}")) for n in range(6)]

        async def paused():
            return site.runtime.exits.paused_for > 0.5

        await until(paused)
        # one may be leased: by whom the way is tried
        assert "quarantined" not in {one.state for one in await standings(site)}
        for server in site.proxies:
            await server.set_mode(Mode.OK)
        answers = await asyncio.gather(*asked)
        assert [answer.status for answer in answers] == [200] * 6
        assert stat(site, "quarantined") == stat(site, "exhausted") == stat(site, "dropped") == 0
        found = await standings(site)
        assert before <= {one.id for one in found}
        assert {(one.blocks, one.score) for one in found} == {(0, 1000)}


async def test_a_paused_crawl_closes_while_requests_and_warm_ups_wait(drive):
    pool = {**POOL, "min_idle": 1}
    async with drive(pool=pool, proxies=1, proxy="required", environment=SLOW_REST) as site:
        (proxy,) = site.runtime.proxies
        site.runtime.proxies.report(proxy.id, "instagram", "blocked")
        asked = [asyncio.create_task(site.get(f"/echo?n={n}", meta={"fw_warmup": True})) for n in range(4)]

        async def waiting():
            return site.runtime.exits.paused_for > 0 and site.runtime.waits.count >= 4

        await until(waiting)
        async with asyncio.timeout(20):
            await site.crawler.engine.close_spider_async(reason="shutdown")
        ended = await asyncio.gather(*asked, return_exceptions=True)
        assert {type(one) for one in ended} == {UnfinishedError}
        assert site.runtime.waits.count == 0, "nobody waits any longer"
        assert site.requests == []
        assert stat(site, "quarantined") == 0


async def test_redirects_of_a_scope_stay_with_it(drive):
    async with drive(
        lambda request: redirect("/cookies") if request.path == "/go" else lab_app(request), pool=POOL
    ) as site:
        first = await site.get("/cookies/set?a=1", meta={"fw_scope": "c"})
        assert cookies(await site.get("/go", meta={"fw_scope": "c"})) == {"a": "1"}
        assert session_of(first).id


# Warm-up


async def until(done):
    async with asyncio.timeout(30):
        while not await done():  # noqa: ASYNC110  # the task works in the background
            await asyncio.sleep(0.02)


async def test_sessions_are_made_ready_in_the_background(drive):
    def app(request):
        return text("lsd: x\n", headers=[("Set-Cookie", "seen=1")]) if request.path == "/tokens" else lab_app(request)

    async with drive(app, pool={**POOL, "min_idle": 2}) as site:

        async def ready():
            return await states(site) == ["idle", "idle"]

        await until(ready)
        assert site.paths.count("/tokens") == 2
        answer = await site.get("/cookies", meta={"fw_token_headers": {"X-Lsd": ["lsd", None]}})
        assert cookies(answer) == {"seen": "1"}
        assert site.paths.count("/tokens") == 2, "it is warm already"
        assert stat(site, "warmed") == 2


async def refusing(_):
    return text("", 999)


async def slow(_):
    await asyncio.sleep(0.5)
    return text("late")


@pytest.mark.parametrize("app", [refusing, slow])
async def test_a_warm_up_that_fails_leaves_nothing_and_is_not_hurried(drive, monkeypatch, app):
    monkeypatch.setattr("fetchworker.middlewares.poolwarm._FIRST_PAUSE", 0.02)
    async with drive(app, pool={**POOL, "min_idle": 1}, retries=0, timeout=0.2) as site:

        async def failed():
            return stat(site, "warmup_failed") >= 3

        await until(failed)
        assert stat(site, "warmed") == 0
        assert await states(site) in ([], ["leased"])


def test_pauses_between_warm_ups_grow_up_to_a_limit():
    pauses = [pause_after(failures) for failures in range(40)]
    assert pauses[0] == 0
    assert pauses[1] > 0
    assert all(later >= earlier for earlier, later in pairwise(pauses))
    assert max(pauses) == pauses[-1] == 600


# A chain


class Feed(Paged):
    who: str


def parse_feed(page, call):
    cursor = "2" if call.page == 1 else None
    end = Page.draft(next_cursor=cursor, total=2, exhausted=cursor is None, url=page.url)
    return Parsed([Post.draft(id=f"{call.page}", url=page.url), end], cursor, {})


async def test_a_chain_that_is_refused_begins_again_with_another_session(drive, driven):
    class ChainSpider(driven):
        name = "instagram"

        @operation(parse=parse_feed, params=Feed, default_for=("who",), counts="post", session_scope="chain")
        def feed(self, call: Call[Feed]):
            yield Fetch("page", f"https://lab.example/feed/{call.cursor or 1}")

    visits, refused = [], []

    def app(request):
        who = request.header("cookie") or f"v={len(visits)}"
        visits.append((who, request.path))
        if request.path == "/feed/2" and not refused:
            refused.append(who)
            return text("", 999)
        return text("ok", headers=[("Set-Cookie", who)])

    async with drive(app, pool=POOL, spider=ChainSpider) as site:
        items = []

        def keep(item):
            items.append(item)

        site.crawler.signals.connect(keep, signals.item_scraped)
        spider = site.crawler.spider
        site.crawler.engine.crawl(spider.request(spider.make_resolver().arguments({"who": "ada"})))

        async def over():
            return site.paths.count("/feed/2") == 2 and sorted(await states(site)) == ["idle", "quarantined"]

        await until(over)
        assert [path for _, path in visits] == ["/feed/1", "/feed/2", "/feed/1", "/feed/2"]
        assert len({who for who, _ in visits[:2]}) == len({who for who, _ in visits[2:]}) == 1
        assert visits[0][0] != visits[2][0], "another visitor from the first page on"
        assert [item.id for item in items if item.kind == "post"] == ["1", "2"]
        assert site.stats["fetchworker/chain_begun_again/instagram/feed"] == 1
