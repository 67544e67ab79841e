"""One use of a browser context: pages that are bounded, and an end whatever happens."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from fetchworker.browser.faults import translated
from fetchworker.browser.identity import locale_of, overrides
from fetchworker.browser.introduce import introduce
from fetchworker.errors import BrowserError, PageFailedError, PageTimeoutError
from fetchworker.tasks import drop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from fetchworker.browser.options import ContextSpec
    from fetchworker.browser.slot import Slot
    from fetchworker.egress.filter_proxy import Run

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

#: Playwright's page → its run of the filtering proxy
_runs: WeakKeyDictionary[Any, Run] = WeakKeyDictionary()

#: seconds that the closing of a page may take; then its context is not used again
_CLOSING = 5.0
#: popups of one use; more of them end it
_POPUPS = 20
#: seconds in which the end of a browser is heard of, once its pages are gone
_HEARD = 1.0


def run_of(page: Any) -> Run | None:
    """The filtering proxy's run that a page of ours goes out by: its ``refusals``."""
    return _runs.get(page)


class BrowserContext:
    """What :meth:`BrowserEngine.context` gives.

    Attributes:
        playwright_context: Playwright's own; it knows the way out as soon as :meth:`page` has given a page.
        run: the filtering proxy's: bytes of the context, and what was refused (``refusals``).
        reused: whether somebody has used the context before.
    """

    def __init__(self, slot: Slot, spec: ContextSpec, *, reused: bool) -> None:
        self._slot, self.spec, self.reused = slot, spec, reused
        self._ends = asyncio.get_running_loop().time() + spec.deadline
        self._tasks: set[asyncio.Task[None]] = set()
        self._popups = 0

    @property
    def playwright_context(self) -> Any:
        return self._slot.context

    @property
    def run(self) -> Run:
        return self._slot.run

    @property
    def upstream(self) -> Any:
        """The proxy that the context really goes by, which is that of its first use."""
        return self._slot.spec.upstream

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self._ends - asyncio.get_running_loop().time())

    def take_bytes(self) -> tuple[int, int]:
        """Bytes sent and received since the last call, by whoever of the context's users."""
        return self._slot.take_bytes()

    def spoil(self) -> None:
        """Have the context closed as soon as nobody uses it."""
        self._slot.spoilt = True

    async def cookies(self, urls: list[str] | None = None) -> list[dict[str, Any]]:
        """The cookies of the context, in Playwright's form."""
        found: list[dict[str, Any]] = await self.playwright_context.cookies(urls)
        return found

    async def save_trace(self, path: str) -> None:
        """Write the trace (``ContextSpec.trace``) as a zip; no more is recorded."""
        await self.playwright_context.tracing.stop(path=path)

    async def guard(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do something with the context until its deadline, its end, or the end of the browser.

        Raises:
            PageTimeoutError: the deadline came first.
            BrowserError: the context ended first, or the work raised an error of Playwright's.
        """
        task, doom = asyncio.ensure_future(work), self._slot.doom
        try:
            await asyncio.wait((task, doom), timeout=self.left, return_when=asyncio.FIRST_COMPLETED)
            if task.done() and not doom.done():
                return task.result()
        except BrowserError as exc:
            raise await self._told(exc) from exc.__cause__
        except Exception as exc:
            raise await self._told(exc) from exc
        finally:
            await drop(task)
        self.spoil()
        raise _fresh(doom.result()) if doom.done() else self._late()

    async def _told(self, exc: Exception) -> Exception:
        """An error of Playwright's as ours; what ended the page may be heard of a moment after its end."""
        error = exc if isinstance(exc, BrowserError) else translated(exc)
        if error is None or not error.context.get("gone"):
            return error or exc
        self.spoil()
        doom = self._slot.doom
        await asyncio.wait((doom,), timeout=_HEARD)
        return _fresh(doom.result()) if doom.done() else error

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Any]:
        """A new page, closed at the end; popups are closed, dialogs dismissed unless somebody listens to them."""
        async with self._slot.pages:
            page = await self.playwright_context.new_page()
            _runs[page] = self.run
            try:
                await self._prepare(page)
                yield page
            finally:
                await self.close_page(page)

    async def _prepare(self, page: Any) -> None:
        slot = self._slot
        session = await self.playwright_context.new_cdp_session(page)
        async with slot.introduction:
            if not slot.introduced:
                await introduce(page, session, slot.run)
                slot.introduced = True
        await session.send("Emulation.setUserAgentOverride", overrides(slot.spec, slot.chromium.major))
        if locale := locale_of(self._slot.spec):
            with suppress(Exception):  # "Another locale override is already in effect": that of the page beside it
                await session.send("Emulation.setLocaleOverride", {"locale": locale})
        page.on("crash", lambda _: self._slot.fail(PageFailedError("browser_process", "the page crashed", crash=True)))
        page.on("popup", self._popup)

    def _popup(self, page: Any) -> None:
        self._popups += 1
        if self._popups > _POPUPS:
            self._slot.fail(BrowserError("navigation", f"the page opened more than {_POPUPS} windows"))
        page.on("popup", self._popup)
        task = asyncio.ensure_future(self.close_page(page))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close_page(self, page: Any) -> None:
        """Close a page; a context that does not get rid of it is not used again."""
        if self._slot.doom.done():
            return  # the context goes as a whole
        try:
            async with asyncio.timeout(_CLOSING):
                await page.close()
        except asyncio.CancelledError:
            self.spoil()
            raise
        except Exception as exc:  # noqa: BLE001  # Playwright's, of many classes
            logger.debug("closing a page: %s", exc)
            self.spoil()

    async def finish(self) -> None:
        """Wait for what goes on in the background."""
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _late(self) -> PageTimeoutError:
        return PageTimeoutError("deadline", f"the page was not done in {self.spec.deadline:g} s")


def _fresh(error: BrowserError) -> BrowserError:
    """The same error for one more user: an exception that is raised twice grows."""
    context = {name: value for name, value in error.context.items() if name != "layer"}
    made = type(error)(error.layer, error.message, **context)
    made.__cause__ = error.__cause__
    return made
