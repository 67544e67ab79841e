"""The end of background tasks."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable

logger = logging.getLogger(__name__)

#: seconds after which a task that still runs is cancelled once more
AGAIN = 1.0


async def end(*tasks: asyncio.Task[None] | None, again: float = AGAIN) -> None:
    """Cancel tasks and wait for their end.

    One cancellation is not enough: ``asyncio.wait_for`` of Python 3.11, by which redis-py sends, gives its result
    instead when both come in the same turn of the loop, and a task that goes round then goes round for ever.

    Args:
        tasks: those that run; None and those that have ended are left alone.
        again: seconds that a task has for its own clearing up.
    """
    running = [task for task in tasks if task is not None]
    left = {task for task in running if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=again)
    for task in running:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a bug of ours: %s had ended", task.get_coro(), exc_info=error)


async def drop(task: asyncio.Future[Any]) -> None:
    """Cancel a task that still runs, and see to its end; what it ends with is of no interest then."""
    while not task.done():
        task.cancel()
        await asyncio.wait((task,), timeout=AGAIN)
    if not task.cancelled():
        with suppress(Exception):
            task.exception()


async def within(seconds: float, work: Awaitable[object], what: str) -> bool:
    """Do a part of an ending, which must not keep the rest from its own; whether it was done in time.

    Args:
        seconds: how long it may take; then it is cancelled.
        work: what is to be done.
        what: its name, for the log.
    """
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        logger.warning("%s: not done within %g s at the end, it is left as it is", what, seconds)
        return False
    return True
