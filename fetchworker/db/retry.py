"""Trying again what may pass by itself."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import TYPE_CHECKING, TypeVar

from fetchworker.db.faults import PassingError
from fetchworker.errors import StorageAwayError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)
T = TypeVar("T")

#: seconds before the second try, and between two tries at most
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 5.0


async def patiently(action: Callable[[], Awaitable[T]], *, patience: float) -> T:
    """What ``action`` returns, tried again with growing pauses while its error is one that may pass.

    Args:
        action: what to do; safe to do twice.
        patience: seconds after the first failure for which another try is begun.

    Raises:
        StorageError: the last try's; :class:`~fetchworker.errors.StorageAwayError` for one that may still pass.
    """
    deadline: float | None = None
    pause = FIRST_PAUSE
    while True:
        try:
            return await action()
        except PassingError as exc:
            now = time.monotonic()
            if deadline is None:
                deadline = now + patience
                logger.warning("%s; trying again for %g s", exc, patience)
            left = deadline - now
            if left <= 0:
                raise StorageAwayError(f"{exc} (tried for {patience:g} s)") from exc
            # jitter, so that processes that lost the same server do not come back as one
            await asyncio.sleep(min(left, pause * random.uniform(0.5, 1)))  # noqa: S311
            pause = min(LONGEST_PAUSE, pause * 2)
