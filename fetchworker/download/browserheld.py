"""Pages that a spider has (``meta["playwright_include_page"]``): theirs to close, and closed when they forget to."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AsyncExitStack

    from fetchworker.browser import BrowserContext
    from fetchworker.usage import Charge

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Hold:
    """A page in a spider's hands.

    ``stack`` ends it and its context; ``url`` is the request's, for the log; ``seconds`` that the callback may have it
    for; its further bytes are counted as ``charge``.
    """

    context: BrowserContext
    stack: AsyncExitStack
    url: str
    seconds: float
    charge: Charge
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


class HeldPages:
    """The pages of a crawl that are in its spider's hands; ``count`` adds to a stat."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._held: dict[Any, Hold] = {}

    def __len__(self) -> int:
        return len(self._held)

    def context_of(self, page: Any) -> BrowserContext | None:
        """The context of a page that a spider has, and sends back with a request; None for what is none, or closed."""
        held = self._held.get(page) if page is not None else None
        return held.context if held is not None and not held.closed.is_set() else None

    def keep(self, page: Any, hold: Hold) -> None:
        """Leave a page to the spider."""
        page.on("close", lambda _: hold.closed.set())
        page.on("crash", lambda _: hold.closed.set())
        if page.is_closed():
            hold.closed.set()
        self._held[page] = hold
        hold.task = asyncio.create_task(self._until_closed(page, hold), name="fetchworker-held-page")

    async def _until_closed(self, page: Any, hold: Hold) -> None:
        try:
            async with asyncio.timeout(hold.seconds):
                await hold.closed.wait()
        except TimeoutError:
            self._count("browser/pages_forgotten")
            logger.warning("the spider did not close its page of %s in %g s: it is closed now", hold.url, hold.seconds)
        finally:
            hold.closed.set()
            hold.charge.add(*hold.context.take_bytes())
            try:
                await hold.stack.aclose()
            finally:
                self._held.pop(page, None)

    async def close(self) -> None:
        """Close all."""
        held = list(self._held.values())
        for each in held:
            each.closed.set()
        await asyncio.gather(*(each.task for each in held if each.task), return_exceptions=True)
