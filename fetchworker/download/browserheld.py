"""Pages that a spider has (``meta["playwright_include_page"]``): theirs to close, and closed when they forget to."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AsyncExitStack

    from fetchworker.browser import BrowserContext
    from fetchworker.usage import Charge

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Held:
    context: BrowserContext
    task: asyncio.Task[None]
    closed: asyncio.Event


class HeldPages:
    """The pages of a crawl that are in its spider's hands; ``count`` adds to a stat."""

    def __init__(self, count: Callable[[str], None]) -> None:
        self._count = count
        self._held: dict[Any, _Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def context_of(self, page: Any) -> BrowserContext | None:
        """The context of a page that a spider has, and sends back with a request; None for what is none, or closed."""
        held = self._held.get(page) if page is not None else None
        return held.context if held is not None and not held.closed.is_set() else None

    def hold(
        self, page: Any, context: BrowserContext, stack: AsyncExitStack, seconds: float, url: str, charge: Charge
    ) -> None:
        """Leave a page to the spider.

        Args:
            page: Playwright's.
            context: which it is in.
            stack: ends both.
            seconds: that the callback may have it for.
            url: of the request, for the log.
            charge: what its further bytes are counted as.
        """
        closed = asyncio.Event()
        page.on("close", lambda _: closed.set())
        page.on("crash", lambda _: closed.set())
        if page.is_closed():
            closed.set()

        async def wait() -> None:
            try:
                async with asyncio.timeout(seconds):
                    await closed.wait()
            except TimeoutError:
                self._count("browser/pages_forgotten")
                logger.warning("the spider did not close its page of %s in %g s: it is closed now", url, seconds)
            finally:
                closed.set()
                self._held.pop(page, None)
                charge.add(*context.take_bytes())
                await stack.aclose()

        self._held[page] = _Held(context, asyncio.create_task(wait(), name="fetchworker-held-page"), closed)

    async def close(self) -> None:
        """Close all."""
        held = list(self._held.values())
        for each in held:
            each.closed.set()
        await asyncio.gather(*(each.task for each in held), return_exceptions=True)
