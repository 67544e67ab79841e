"""The engine with a real Chromium: contexts, their number, their end, and the end of what it runs on."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from fetchworker.errors import BrowserError, PageFailedError, PageTimeoutError

from .conftest import gone, processes_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


async def visit(context, url: str) -> str:
    async with context.page() as page:
        await page.goto(url)
        return await page.title()


def visiting(url: str):
    return lambda context: visit(context, url)


@pytest.fixture
def page(site):
    site.pages["/"] = b"<title>here</title>"
    return site.url()


async def test_equal_options_are_one_browser_and_the_last_one_ends_it(engine, engine_with, within_spec, page):
    same, other = await engine_with(), await engine_with(contexts=2)
    assert same is engine
    assert other is not engine
    assert engine.pid is None, "nothing is started before it is needed"
    assert await engine.run(within_spec(), visiting(page)) == "here"
    pid, folder = engine.pid, engine._place.path
    await same.release()
    assert await engine.run(within_spec(), visiting(page)) == "here"
    assert engine.pid == pid
    engine._users += 1  # the fixtures give theirs back
    same._users += 1
    await engine.close()
    await gone(pid)
    assert not folder.exists()


class TestContexts:
    async def test_a_key_keeps_its_context_and_none_is_closed(self, engine, within_spec, site):
        site.pages["/"] = b"<script>document.title = localStorage.seen || 'new'; localStorage.seen = 'seen'</script>"
        named, other = within_spec(key="a"), within_spec(key="b")
        found = [await engine.run(spec, visiting(site.url())) for spec in (named, named, other, within_spec())]
        assert found == ["new", "seen", "new", "new"]
        async with engine.context(named) as context:
            assert context.reused

    async def test_the_least_recently_used_goes(self, engine_with, within_spec, page):
        engine = await engine_with(contexts=2)
        for key in ("a", "b", "a", "c"):
            await engine.run(within_spec(key=key), visiting(page))
        assert [slot.spec.key for slot in engine._slots] == ["a", "c"]
        assert engine.counts["evicted"] == 1

    async def test_one_place_and_many_names(self, engine_with, within_spec, page):
        engine = await engine_with(contexts=1)
        keys = ["a", "b", "a", "", "b", "", "a", "c"]
        async with asyncio.timeout(50):
            runs = (engine.run(within_spec(key=key), visiting(page)) for key in keys)
            assert await asyncio.gather(*runs) == ["here"] * len(keys)
        assert engine.contexts == 1

    async def test_who_waits_too_long_is_told(self, engine_with, within_spec):
        engine = await engine_with(contexts=1)
        async with engine.context(within_spec()):
            with pytest.raises(PageFailedError, match=r"all 1 browser contexts were in use for 0\.1 s") as caught:
                async with engine.context(within_spec(wait=0.1)):
                    pass
        assert caught.value.layer == "browser_process"

    async def test_one_who_leaves_while_he_waits_leaves_nothing(self, engine_with, within_spec, page):
        engine = await engine_with(contexts=1)
        async with engine.context(within_spec()):
            waiting = [asyncio.create_task(engine.run(within_spec(key=key), visiting(page))) for key in "abc"]
            await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
        assert await engine.run(within_spec(), visiting(page)) == "here"

    async def test_an_old_browser_is_replaced(self, engine_with, within_spec, page):
        engine = await engine_with(recycle_contexts=2)
        pids = []
        for _ in range(5):
            await engine.run(within_spec(), visiting(page))
            pids.append(engine.pid)
        assert engine.counts["recycled"] == engine.counts["launched"] - 1 >= 1
        await engine.settled()
        assert engine.counts["died"] == 0
        assert len(engine._browsers) <= 1

    async def test_a_large_one_too(self, engine_with, within_spec, page, monkeypatch):
        monkeypatch.setattr("fetchworker.browser.engine._LOOK", 0)
        engine = await engine_with(recycle_bytes=1)
        await engine.run(within_spec(key="kept"), visiting(page))
        await engine.run(within_spec(), visiting(page))
        await engine.run(within_spec(), visiting(page))
        assert engine.counts["recycled"] >= 1


class TestMany:
    async def test_a_third_of_the_pages_fails_and_nothing_is_left(self, engine, within_spec, site):
        async def never(writer, asked):
            await asyncio.Event().wait()

        site.pages |= {"/": b"<title>here</title>", "/never": never}

        async def one(number: int) -> str:
            async def work(context):
                async with context.page() as page:
                    await page.goto(site.url("/never" if number % 6 == 1 else "/"))
                    if number % 6 == 4:
                        await page.evaluate("() => { throw new Error('no') }")
                    return await page.title()

            try:
                return await engine.run(within_spec(deadline=4), work)
            except BrowserError as exc:
                return exc.layer

        found = await asyncio.gather(*(one(number) for number in range(24)))
        assert {each: found.count(each) for each in set(found)} == {"here": 16, "deadline": 4, "action": 4}
        await engine.settled()
        assert engine.contexts == 0
        (chromium,) = engine._browsers
        assert (chromium.slots, chromium.browser.contexts) == (set(), [])
        assert 0 < await engine.memory() < 2 * 1024**3

    async def test_memory_is_measured_while_a_browser_is_replaced(self, engine, within_spec, site):
        site.pages["/"] = b"<title>here</title>"
        assert await engine.run(within_spec(), visiting(site.url("/"))) == "here"
        first = engine._chromium
        measuring = asyncio.ensure_future(engine.memory())
        await asyncio.sleep(0)  # it asks the first one, in a thread
        engine._chromium = None
        assert (await engine._browser()) is not first
        assert await measuring > 0


class TestEnds:
    async def test_five_pages_under_a_browser_that_is_killed(self, engine, within_spec, site):
        """It is replaced once, and all five are done again."""
        shut = asyncio.Event()

        async def waiting(writer, asked):
            await shut.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n<title>done</title>")

        site.pages["/wait"] = waiting
        runs = [asyncio.create_task(engine.run(within_spec(), visiting(site.url(f"/wait?{n}")))) for n in range(5)]
        while len(site.to("/wait")) < 5:
            site.came.clear()
            await site.came.wait()
        pid = engine.pid
        family = processes_of(pid)
        os.kill(pid, signal.SIGKILL)
        shut.set()
        assert await asyncio.gather(*runs) == ["done"] * 5
        assert (engine.counts["died"], engine.counts["launched"], engine.counts["repeated"]) == (1, 2, 5)
        await gone(*family)
        assert processes_of(pid) == []

    async def test_nothing_is_begun_again_for_one_who_is_about_to_end(self, engine, spec):
        async def killed(spec):
            async with engine.context(spec) as context, context.page() as page:
                os.kill(engine.pid, signal.SIGKILL)
                return await context.guard(page.goto("about:blank"))

        with pytest.raises(PageFailedError):
            await engine.repeating(spec, killed, ending=lambda: True)
        assert (engine.counts["launched"], engine.counts["repeated"]) == (1, 0)

    async def test_the_driver_is_killed(self, engine, within_spec, page):
        await engine.run(within_spec(), visiting(page))
        pid, driver = engine.pid, engine._driver.pid
        family = processes_of(pid)
        os.kill(driver, signal.SIGKILL)
        await gone(driver, *family)
        assert processes_of(pid) == []
        assert await engine.run(within_spec(), visiting(page)) == "here"
        assert engine.counts["launched"] == 2

    async def test_a_browser_that_hangs_is_ended(self, engine, within_spec, page, monkeypatch):
        monkeypatch.setattr("fetchworker.browser.slot._CLOSING", 0.5)
        monkeypatch.setattr("fetchworker.browser.context._CLOSING", 0.5)
        await engine.run(within_spec(), visiting(page))
        pid = engine.pid
        async with engine.context(within_spec(deadline=1)) as context:
            os.kill(pid, signal.SIGSTOP)
            with pytest.raises(PageTimeoutError):
                await context.guard(visit(context, page))
        await gone(pid)
        assert await engine.run(within_spec(), visiting(page)) == "here"
