"""robots.txt is looked at once, blames nobody, and holds nobody up."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.exceptions import IgnoreRequest

from fetchworker.demo.lab import text
from fetchworker.demo.model import HangUp

RULES = "User-agent: *\nDisallow: /private\n"


def site_with(robots):
    """Pages for all; ``robots()`` answers for robots.txt."""

    def answer(request):
        return robots() if request.route == "/robots.txt" else text("data\n")

    return answer


def robots_asked(site) -> int:
    return site.paths.count("/robots.txt")


@pytest.mark.parametrize("status", [403, 401, 429, 999])
async def test_a_refused_robots_txt_is_asked_for_once_and_blames_no_exit(drive, status):
    app = site_with(lambda: text("no\n", status))
    async with drive(app, proxies=2, proxy="required", robots="obey", retries=3) as site:
        assert (await site.get("/1")).status == 200
        assert (await site.get("/2")).status == 200
        assert robots_asked(site) == 1
        assert resting(site) == 0
        assert site.stats["fetchworker/robots_unknown/instagram"] == 1
        assert not [name for name in site.stats if name.startswith("fetchworker/retry/")]


def resting(site) -> int:
    """How many of the two exits rest."""
    return 2 - site.runtime.proxies.available("instagram")


async def test_a_fault_of_the_way_is_tried_once_more_and_blames_no_exit(drive):
    def hang_up():
        raise HangUp

    async with drive(site_with(hang_up), proxies=2, proxy="required", robots="obey", retries=4) as site:
        assert (await site.get("/1")).status == 200
        assert robots_asked(site) == 2
        assert resting(site) == 0


async def test_a_fault_that_passes_does_not_open_what_is_closed(drive):
    answers = [text("later\n", 503), text(RULES)]
    async with drive(site_with(lambda: answers.pop(0)), robots="obey") as site:
        with pytest.raises(IgnoreRequest, match=r"robots\.txt"):
            await site.get("/private/1")
        assert (await site.get("/open")).status == 200


async def test_who_gives_up_waiting_takes_nothing_from_the_others(drive):
    """The first one to ask is cancelled while robots.txt is on its way."""
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def app(request):
        if request.route != "/robots.txt":
            return text("data\n")
        asked.set()
        await go_on.wait()
        return text(RULES)

    async with drive(app, robots="obey") as site:
        first, second = (asyncio.ensure_future(site.get(path)) for path in ("/1", "/2"))
        await asyncio.wait_for(asked.wait(), 10)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go_on.set()
        assert (await asyncio.wait_for(second, 10)).status == 200
        assert robots_asked(site) == 1


async def test_a_look_that_nobody_waits_for_ends_and_the_next_one_begins_anew(drive):
    asked, hold = asyncio.Event(), [True]

    async def app(request):
        if request.route == "/robots.txt" and hold.pop():
            asked.set()
            await asyncio.Event().wait()
        return text(RULES)

    async with drive(app, robots="obey") as site:
        first = asyncio.ensure_future(site.get("/1"))
        await asyncio.wait_for(asked.wait(), 10)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        hold.append(False)
        with pytest.raises(IgnoreRequest):
            await asyncio.wait_for(site.get("/private"), 10)
        assert robots_asked(site) == 2
