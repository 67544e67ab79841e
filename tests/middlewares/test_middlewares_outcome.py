"""Verdicts and errors become retries, rotations, rests and typed errors, each counted."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadFailedError, DownloadTimeoutError, ResponseDataLossError
from scrapy.http.request import NO_CALLBACK

from fetchworker.demo.lab import lab_app, text
from fetchworker.demo.model import HangUp
from fetchworker.demo.proxy import Mode
from fetchworker.download.wire import WIRE
from fetchworker.errors import OutcomeError, ProxyAuthError, ProxyExhaustedError

URL = "https://lab.example"


class Script:
    """Answers the first requests as told, all later ones with 200; an exception is raised."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)

    def __call__(self, request):
        answer = self.answers.pop(0) if self.answers else text("data\n")
        if isinstance(answer, Exception):
            raise answer
        return answer


def block(status=403, **headers):
    return text("no\n", status, list(headers.items()))


def counted(site, prefix: str) -> dict[str, int]:
    start = f"fetchworker/{prefix}/"
    return {name.removeprefix(start): count for name, count in site.stats.items() if name.startswith(start)}


def peers(site) -> list[str]:
    return [request.peer for request in site.requests]


async def test_data_passes_and_is_counted(drive):
    async with drive() as site:
        assert (await site.get("/")).status == 200
        assert counted(site, "outcome") == {"instagram/ok": 1}
        assert counted(site, "retry") == {}


@pytest.mark.parametrize(("status", "outcome"), [(404, "not_found"), (410, "gone"), (400, "error")])
async def test_what_no_further_try_can_better_is_an_error_at_once(drive, status, outcome):
    async with drive() as site:
        with pytest.raises(OutcomeError) as caught:
            await site.get(f"/status/{status}")
        assert caught.value.outcome == outcome
        assert caught.value.context["status"] == status
        assert caught.value.context["attempts"] == len(site.requests) == 1


async def test_a_blocked_stateless_try_is_made_again_by_others(drive):
    async with drive(Script(block(), block()), proxies=3) as site:
        answer = await site.get("/")
        assert answer.body == b"data\n"
        assert answer.meta["fw_tries"] == 3
        assert len(set(peers(site))) == 3, "a blocked exit rests"
        assert counted(site, "outcome") == {"instagram/blocked": 2, "instagram/ok": 1}
        assert counted(site, "retry") == {"instagram/blocked": 2}


async def test_a_blocked_session_goes_on_under_its_name_as_somebody_else(drive):
    async with drive(Script(text("hi", headers=[("set-cookie", "sid=1")]), block()), proxies=2) as site:
        first = await site.get("/", session="ann")
        second = await site.get("/", session="ann")
        assert second.meta[WIRE].session.identity != first.meta[WIRE].session.identity
        assert [request.cookies() for request in site.requests] == [{}, {"sid": "1"}, {}]
        assert peers(site)[0] == peers(site)[1] != peers(site)[2]
        assert (await site.stored("ann")).identity == second.meta[WIRE].session.identity
        assert counted(site, "rotated") == {"instagram": 1}


async def test_many_blocked_at_once_rotate_one_identity_once(drive):
    blocked = set()

    def app(request):
        if request.cookies().get("sid") == "1":
            blocked.add(request.path)
            return block()
        return lab_app(request)

    async with drive(app) as site:
        await site.get("/cookies/set?sid=0", session="ann")
        (await site.runtime.sessions())._entries["instagram", "ann"].session.jar.set("sid", "1", url=URL, now=2e9)
        answers = await asyncio.gather(*(site.get(f"/echo?{number}", session="ann") for number in range(5)))
        assert len(blocked) == 5
        assert len({answer.meta[WIRE].session.identity for answer in answers}) == 1


async def test_an_identity_that_is_to_be_kept_rests_and_goes_on(drive):
    async with drive(Script(block()), proxies=2, on_block="keep") as site:
        first = await site.get("/", session="ann")
        assert first.meta["fw_tries"] == 2
        assert len(set(peers(site))) == 1
        assert "fetchworker/rotated/instagram" not in site.stats


async def test_the_sites_own_fault_keeps_the_identity(drive):
    answers = [text("later", 503, [("set-cookie", "seen=1")]), text("later", 502)]
    async with drive(Script(*answers), proxies=2) as site:
        answer = await site.get("/", session="ann")
        assert answer.meta["fw_tries"] == 3
        assert [request.cookies() for request in site.requests] == [{}, {"seen": "1"}, {"seen": "1"}]
        assert len(set(peers(site))) == 1


async def test_the_last_try_tells_what_it_met(drive):
    async with drive(Script(*[block() for _ in range(9)]), retries=2) as site:
        with pytest.raises(OutcomeError) as caught:
            await site.get("/secret?token=1")
        assert (caught.value.outcome, caught.value.error_type) == ("blocked", "UPSTREAM_BLOCKED")
        assert caught.value.context["attempts"] == len(site.requests) == 3
        assert caught.value.context["evidence"]
        assert "after 3 tries" in caught.value.message


async def test_a_wait_that_the_site_asks_for_is_kept_and_capped(drive):
    clock = asyncio.get_running_loop().time
    async with drive(Script(block(429, **{"retry-after": "0.2"}), block(429, **{"retry-after": "9999"}))) as site:
        start = clock()
        await site.get("/")
        assert clock() - start >= 0.5  # the cap of this site, after the first wait
        assert site.stats["fetchworker/retry_after_capped/instagram"] == 1
        assert counted(site, "retry") == {"instagram/rate_limited": 2}


async def test_a_crawl_that_ends_waits_for_nothing(drive):
    backoff = {"first": 1, "factor": 1, "max": 1, "retry_after_max": 3600}
    async with drive(lambda request: block(429, **{"retry-after": "3600"}), backoff=backoff) as site:
        waiting = asyncio.ensure_future(site.get("/"))
        while not site.stats.get("fetchworker/retry/instagram/rate_limited"):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await site.crawler.engine.stop_async()
        await asyncio.gather(waiting, return_exceptions=True)


async def test_who_can_take_no_for_an_answer_gets_it(drive):
    async with drive() as site:
        assert (await site.get("/status/404", callback=NO_CALLBACK)).status == 404
        with pytest.raises(OutcomeError):
            await site.get("/status/400", callback=NO_CALLBACK)


class TestTransport:
    async def test_errors_are_tried_again(self, drive):
        async with drive(Script(HangUp(), HangUp())) as site:
            answer = await site.get("/")
            assert answer.meta["fw_tries"] == 3
            assert counted(site, "error") == {"instagram/DownloadFailedError": 2}

    async def test_and_end_as_what_they_are(self, drive):
        async with drive(retries=1) as site:
            with pytest.raises(DownloadTimeoutError):
                await site.get("/slow?seconds=30", meta={"download_timeout": 0.05})
            with pytest.raises(CannotResolveHostError):
                await site.get("https://no-such-host.invalid/")
            with pytest.raises(DownloadFailedError):
                await site.get("/close")
            assert site.paths.count("/close") == 2

    async def test_a_torn_body_is_not_the_proxys_fault(self, drive):
        async with drive(proxies=1, proxy="required", retries=1) as site:
            with pytest.raises(ResponseDataLossError):
                await site.get("/truncated")
            assert counted(site, "proxy") == {}

    async def test_a_session_leaves_a_dead_exit_for_another(self, drive):
        async with drive(proxies=1, broken=("http://u:p@127.0.0.1:9",), proxy="required") as site:
            for name in ("ann", "bob", "cyd"):
                assert (await site.get("/", session=name)).status == 200
            assert set(peers(site)) == {"127.0.0.11"}
            assert "instagram/ProxyFailedError" in counted(site, "error")

    async def test_refused_credentials_are_tried_once_and_the_exit_left(self, drive):
        async with drive(proxies=2, proxy="required") as site:
            await site.proxies[0].set_mode(Mode.REFUSE_CREDENTIALS)
            for name in ("ann", "bob", None, None):
                assert (await site.get("/", session=name)).status == 200
            assert set(peers(site)) == {"127.0.0.12"}
            assert counted(site, "error") == {"instagram/ProxyAuthError": 1}
            await site.proxies[1].set_mode(Mode.REFUSE_CREDENTIALS)
            with pytest.raises((ProxyAuthError, ProxyExhaustedError)):
                await site.get("/")
            with pytest.raises(ProxyExhaustedError):
                await site.get("/")
            assert len(site.requests) == 4

    async def test_where_all_exits_rest_the_next_try_waits_for_one(self, drive):
        async with drive(Script(block()), proxies=1, proxy="required") as site:
            answer = await site.get("/")
            assert answer.body == b"data\n"
            assert peers(site) == ["127.0.0.11"] * 2
            assert counted(site, "retry") == {"instagram/blocked": 1}, "the wait for an exit spends no try"
            assert "fetchworker/no_egress/instagram" not in site.stats, "a rest is no alarm"

    async def test_a_dropped_tunnel_goes_by_another_exit_in_the_end(self, drive):
        async with drive(proxies=2, proxy="required") as site:
            await site.proxies[0].set_mode(Mode.DROP)
            for name in ("ann", "bob"):
                assert (await site.get("/", session=name)).status == 200
            assert set(peers(site)) == {"127.0.0.12"}
