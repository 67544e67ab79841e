"""``start()``, once for a namespace: by one worker at a time, from where the last one came to."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

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
        return
    worker.begin_start(queued)
    if queued:
        logger.info("start() goes on after the %d requests that are queued", queued)
    place = 0
    async for output in start:
        if isinstance(output, Request):
            place += 1
            if place <= queued:
                continue
        done.current.set(START)  # stays set while the engine, in this same task, schedules it
        await worker.room.wait()
        yield output
        done.current.set(None)
    await worker.told_start()
    await vigil.patiently(lambda: worker.frontier.start("done"))


async def _turn_of(worker: Worker, vigil: Vigil) -> int | None:
    """How many requests are queued, once it is our turn; None when start() was done by others."""
    while True:
        state, count = await vigil.patiently(lambda: worker.frontier.start("begin"))
        if state != "other":
            return None if state == "done" else int(count)
        await asyncio.sleep(_LOOK)
