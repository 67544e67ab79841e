"""What becomes of a namespace when one of its workers ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from fetchworker.frontier.keys import Namespace
    from fetchworker.frontier.store import Frontier

logger = logging.getLogger(__name__)

#: how a crawl of the shared namespace ends that had nothing to do for SCHEDULER_IDLE_BEFORE_CLOSE seconds
IDLE = "idle"
#: ends after which a private namespace is over, once nothing is left in it
_OVER = frozenset({"finished", IDLE})


async def settle(frontier: Frontier, crawler: Crawler, reason: str) -> None:
    """End a private namespace that is done, empty a shared one that is not to be kept, or tell what is left.

    Args:
        frontier: the namespace, which this worker has left.
        crawler: the crawl.
        reason: how it ended.
    """
    state, over = await frontier.look(holds=False), reason in _OVER
    await frontier.leave()  # a look is a sign of life of the worker that runs start(), which others are to go on with
    if frontier.names.id is not None:
        if over and state.empty and state.start == "done":
            await frontier.expire()
        elif not state.empty:
            _tell_rest(crawler, frontier.names, state.queued + state.delayed)
    elif over and state.empty and _forgets(crawler) and not await frontier.workers():
        await frontier.purge()


def _forgets(crawler: Crawler) -> bool:
    return not crawler.settings.getbool("SCHEDULER_PERSIST", True)


def _tell_rest(crawler: Crawler, names: Namespace, count: int) -> None:
    crawler.stats.set_value("frontier/left", count)
    logger.warning(
        "%d requests of crawl %s wait in the queue: FETCHWORKER_CRAWL_ID=%s and the same command go on with them",
        count, names.id, names.id,
    )  # fmt: skip
