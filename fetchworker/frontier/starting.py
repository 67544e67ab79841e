"""``start()``, once for a namespace: by one worker at a time, from where the last one came to."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Literal

from scrapy import Request

from fetchworker.frontier import done

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.frontier.vigil import Vigil
    from fetchworker.frontier.worker import Worker

logger = logging.getLogger(__name__)

#: seconds between looks whether the worker that runs start() is still there
_LOOK = 1.0


class _Start:
    """The owner of what ``start()`` gives."""

    def fail(self, error: BaseException) -> None:
        """Nothing is on lease that could fail."""


START = _Start()


async def starting(start: AsyncIterator[Any], worker: Worker, vigil: Vigil) -> AsyncIterator[Any]:
    """What is still to come of ``start()``.

    A worker that takes it over runs it anew and leaves out as many requests as are queued already: ``start()`` has to
    give the same requests in the same order. Items that it gives are given again.
    """
    queued = await _turn_of(worker, vigil)
    if queued is None:
        worker.start_is_over()
        await _tell_why_nothing_comes(worker, vigil)
        return
    worker.begin_start(queued)
    if queued:
        logger.info("start() goes on after the %d requests that are queued", queued)
    try:
        async for output in _further(start, queued):
            done.current.set(START)  # stays set while the engine, in this same task, schedules it
            await worker.room()
            yield output
            done.current.set(None)
    except Exception:
        await _over(worker, vigil, "failed")
        raise  # the engine logs it
    await _over(worker, vigil, "done")


async def _tell_why_nothing_comes(worker: Worker, vigil: Vigil) -> None:
    """A crawl of its own begins once under its id; whoever gives the id again may expect otherwise."""
    crawl = worker.frontier.names.id
    if crawl is None:
        return
    state = await vigil.patiently(lambda: worker.frontier.look(holds=False))
    if state.empty:
        logger.warning("crawl %s is over, nothing is fetched: give another FETCHWORKER_CRAWL_ID, or purge it", crawl)
    else:
        logger.info("crawl %s goes on with what it has in the queue, whatever the arguments are now", crawl)


async def _further(start: AsyncIterator[Any], queued: int) -> AsyncIterator[Any]:
    """What ``start()`` gives, without its first requests."""
    place = 0
    async for output in start:
        place += isinstance(output, Request)
        if not isinstance(output, Request) or place > queued:
            yield output


async def _over(worker: Worker, vigil: Vigil, how: Literal["done", "failed"]) -> None:
    done.current.set(None)
    await worker.told_start()
    await vigil.patiently(lambda: worker.frontier.start(how))
    worker.start_is_over()


async def _turn_of(worker: Worker, vigil: Vigil) -> int | None:
    """How many requests are queued, once it is our turn; None when start() was done by others."""
    while True:
        state, count = await vigil.patiently(lambda: worker.frontier.start("begin"))
        if state != "other":
            return None if state == "done" else int(count)
        await asyncio.sleep(_LOOK)
