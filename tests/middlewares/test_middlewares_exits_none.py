"""A site without exits: it pauses, tells, goes on by itself, and ends after its patience."""

from __future__ import annotations

import asyncio
import logging

import pytest
from scrapy import signals

from fetchworker.demo.lab import text
from fetchworker.demo.proxy import Mode
from fetchworker.errors import UnfinishedError
from fetchworker.middlewares.poolwarm import PoolWarmer
from fetchworker.proxies import ProxyResult
from fetchworker.signals import egress_back, no_egress

from .test_middlewares_exits import ONE, stats

# ── no egress ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def opened(site, kind):
    heard = []

    def hear(site):
        heard.append(site)

    site.crawler.signals.connect(hear, kind, weak=False)
    return heard


def quick(site):
    """Dead gateways are tried again in no time."""
    from dataclasses import replace

    manager = site.runtime.proxies
    manager._gateway_policy = replace(manager._gateway_policy, probe=0.2, probe_max=0.2)


async def test_a_site_without_exits_pauses_once_and_goes_on_by_itself(drive, caplog):
    async with drive(gateways=ONE, proxy="required", retries=0) as site:
        quick(site)
        paused, back = await opened(site, no_egress), await opened(site, egress_back)
        (gateway,) = site.gateways
        await gateway.set_mode(Mode.DEAD)
        waiting = [asyncio.create_task(site.get(f"/echo?{number}", session="ann")) for number in range(4)]
        waiting += [asyncio.create_task(site.get(f"/echo?{number}")) for number in range(4, 8)]
        while not paused:  # noqa: ASYNC110  # the signal is what is waited for
            await asyncio.sleep(0.01)
        assert not site.requests
        await gateway.set_mode(Mode.OK)
        answers = await asyncio.gather(*waiting)
        assert [answer.status for answer in answers] == [200] * 8
        assert {answer.meta.get("fw_tries", 1) for answer in answers} == {1}, "no try was spent"
        assert (paused, back) == (["instagram"], ["instagram"])
        assert stats(site, "no_egress") == {"": 1}
        assert [record.levelno for record in caplog.records if record.message.startswith("no_egress ")] == [
            logging.ERROR
        ]


async def test_a_proxy_that_was_away_for_long_is_found_within_the_patience(drive, caplog):
    """A dead one is due in 600 seconds, which is longer than the crawl waits for it."""
    async with drive(proxies=1, proxy="required", environment={"NO_EGRESS_PATIENCE": "20"}) as site:
        paused = await opened(site, no_egress)
        (proxy,) = site.proxies
        await proxy.set_mode(Mode.DEAD)
        waiting = [asyncio.create_task(site.get(f"/echo?{number}")) for number in range(3)]
        while not paused:  # noqa: ASYNC110  # the signal is what is waited for
            await asyncio.sleep(0.01)
        assert site.runtime.proxies.next_available_in("instagram") > 500
        await proxy.set_mode(Mode.OK)
        assert [answer.status for answer in await asyncio.gather(*waiting)] == [200] * 3
        assert paused == ["instagram"]
        (told,) = [record.getMessage() for record in caplog.records if record.message.startswith("no_egress ")]
        assert "the next is tried in 2 s; the site is paused and goes on by itself when one is back" in told


async def test_warm_ups_alone_tell_that_all_proxies_fail(drive):
    """A first rest is short; that no proxy has an answer is told long before the last one is dead."""
    environment = {"NO_EGRESS_PATIENCE": "20", "PROXY_COOLDOWN": "60", "FRONTIER": "memory"}
    pool = {"pool": {"max_total": 2}}
    app = lambda _: text("token: 1\n")  # noqa: E731
    async with drive(app, proxies=1, proxy="required", environment=environment, **pool) as site:
        site.runtime.exits._pause.short = 0.0
        paused = await opened(site, no_egress)
        await site.proxies[0].set_mode(Mode.DEAD)
        warmer = PoolWarmer(site.crawler, site.runtime)
        warming = asyncio.create_task(warmer.warm("main"))
        while not paused:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
        await site.proxies[0].set_mode(Mode.OK)
        assert await warming is not None
        assert (paused, stats(site, "no_egress")) == (["instagram"], {"": 1})


@pytest.mark.parametrize("watched", [True, False])
async def test_the_alert_says_what_becomes_of_the_site(drive, caplog, tmp_path, watched):
    listed = tmp_path / "proxies.txt"
    listed.write_text("http://ada:Zq9@127.0.0.1:9\n")
    told = {"PROXIES": f"@{listed}"} if watched else {}
    environment = {"NO_EGRESS_PATIENCE": "0.1", "FRONTIER": "memory", **told}
    async with drive(proxies=1, proxy="required", environment=environment) as site:
        (proxy,) = site.runtime.proxies
        site.runtime.exits.report(proxy, ProxyResult.AUTH_FAILED)
        assert not site.runtime.exits.ask()
    (told,) = [record.getMessage() for record in caplog.records if record.message.startswith("no_egress ")]
    assert "goes on by itself" not in told
    assert ("until the proxy file is changed" in told) == watched
    assert ("start again" in told) != watched


@pytest.mark.parametrize("meta", [{"fw_warmup": True}, {}], ids=["warm-up", "download_async"])
async def test_after_the_patience_the_crawl_ends(drive, meta):
    """Also who asked the engine for an answer gets an end: no scheduler is there to take the request back."""
    async with drive(
        gateways=ONE, proxy="required", environment={"NO_EGRESS_PATIENCE": "0.3", "FRONTIER": "memory"}
    ) as site:
        quick(site)
        reasons = []

        def closed(reason):
            reasons.append(reason)
            site.crawler.spider.ended.set()

        site.crawler.signals.connect(closed, signals.spider_closed)
        await site.gateways[0].set_mode(Mode.DEAD)
        waiting = asyncio.create_task(site.get("/robots.txt", meta=meta))
        with pytest.raises(UnfinishedError, match="the crawl ended"):
            await waiting
        while not reasons:  # noqa: ASYNC110  # as above
            await asyncio.sleep(0.01)
        assert reasons == ["no_egress"]
        assert not site.requests
