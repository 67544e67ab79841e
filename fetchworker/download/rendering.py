"""Waits in the browser until a page is what was asked for: no challenge any more, and filled in."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fetchworker.browser.faults import is_playwright_error
from fetchworker.contracts import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.download.browserseen import Seen

#: seconds between two looks at a page that does not navigate
_LOOK = 0.25


@dataclass(slots=True)
class Rendering:
    """One page that a browser loads instead of the HTTP client.

    Attributes:
        reason: why: ``always``, ``challenge``, ``shell``, ``contract`` or ``mint``.
        complete: whether a page is what is waited for.
        patience: seconds that it is waited for; after them the page is read as it is.
        most: how often it may go on to another page by itself; one that goes on and on has failed.
    """

    reason: str
    complete: Callable[[Page], Awaitable[bool]]
    patience: float
    most: int

    async def settle(self, page: Any, seen: Seen, hopeless: Callable[[], Exception | None]) -> Any:
        """Wait for the page, through the navigations that its scripts make.

        Args:
            page: Playwright's.
            seen: what its events tell.
            hopeless: says why it will not become what is waited for, if it will not.

        Returns:
            The last answer of the page's main frame, None when there was none.

        Raises:
            Exception: what ``hopeless`` has said.
        """
        wake = asyncio.Event()

        def woken(_: Any) -> None:
            wake.set()

        page.on("domcontentloaded", woken)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.patience):
                    await self._wait(page, seen, wake, hopeless)
        finally:
            page.remove_listener("domcontentloaded", woken)
        return seen.committed

    async def _wait(self, page: Any, seen: Seen, wake: asyncio.Event, hopeless: Callable[[], Exception | None]) -> None:
        while not await self._is_complete(page, seen):
            if (error := hopeless()) is not None:
                raise error
            wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK):
                    await wake.wait()

    async def _is_complete(self, page: Any, seen: Seen) -> bool:
        answer = seen.parsed
        if seen.lost is not None:
            return False
        if answer is None or answer is not seen.answer:  # a further page is on its way
            return seen.answer is None
        try:
            text, headers = await page.content(), await answer.all_headers()
        except Exception as exc:
            if is_playwright_error(exc) and not page.is_closed():  # it navigates
                return False
            raise
        found = Page(page.url, answer.status, {name: [value] for name, value in headers.items()}, text.encode())
        return await self.complete(found) and answer is seen.answer
