"""A browser context as the engine keeps it: Playwright's, with the run of the filtering proxy that it goes out by."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from fetchworker.browser.windows import NO_WINDOWS, SAME_PAGE
from fetchworker.errors import BrowserError, PageFailedError, PageSizeError, PageTimeoutError

if TYPE_CHECKING:
    from fetchworker.browser.options import ContextSpec
    from fetchworker.browser.process import Chromium
    from fetchworker.egress.filter_proxy import FilterProxy, Run

logger = logging.getLogger(__name__)

#: seconds that the closing of a context may take; a browser that needs longer is ended
_CLOSING = 10.0
#: seconds that the making of one may take
_OPENING = 30.0
_UNLIMITED = 1 << 30


class Slot:
    """One context and all that hangs on it.

    Attributes:
        users: how many use it now.
        spoilt: it is not used again.
        introduced: the filtering proxy's credentials are known in it.
        doom: what ended it, as soon as something does.
    """

    def __init__(self, spec: ContextSpec, pages: int) -> None:
        self.spec = spec
        self.users = 1
        self.spoilt = False
        self.doom: asyncio.Future[BrowserError] = asyncio.get_running_loop().create_future()
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.introduction = asyncio.Lock()
        self.introduced = False
        self.pages = asyncio.Semaphore(pages or _UNLIMITED)
        self._context: Any = None
        self._run: Run | None = None
        self._chromium: Chromium | None = None
        self._counted = (0, 0)

    @property
    def context(self) -> Any:
        """Playwright's."""
        return self._context

    @property
    def run(self) -> Run:
        """The run of the filtering proxy."""
        assert self._run is not None
        return self._run

    @property
    def chromium(self) -> Chromium:
        """The browser that it is in."""
        assert self._chromium is not None
        return self._chromium

    @property
    def browser(self) -> Chromium | None:
        """The same; None before it is opened."""
        return self._chromium

    @property
    def usable(self) -> bool:
        """Whether somebody else may use it."""
        return not (self.spoilt or self.doom.done() or (self._chromium is not None and self._chromium.retired))

    async def open(self, chromium: Chromium, proxy: FilterProxy) -> None:
        """Make it.

        Raises:
            BrowserError: the browser cannot.
        """
        from playwright.async_api import Error  # noqa: PLC0415  # loaded by now

        self._chromium = chromium
        chromium.slots.add(self)
        chromium.made += 1
        spec = self.spec
        self._run = proxy.open_run(policy=spec.policy, upstream=spec.upstream)
        self._run.on_end = self._run_ended
        try:
            async with asyncio.timeout(_OPENING):
                self._context = await chromium.browser.new_context(**arguments_of(spec, self._run))
                await self._context.add_init_script(SAME_PAGE)
                if chromium.opens_windows:
                    await self._context.add_init_script(NO_WINDOWS)
                if spec.trace:
                    await self._context.tracing.start(screenshots=True, snapshots=True)
        except (Error, TimeoutError) as exc:
            if isinstance(exc, TimeoutError):
                chromium.end()
            raise PageFailedError("browser_process", f"the browser made no context: {exc}", died=True) from exc

    def fail(self, error: BrowserError) -> None:
        """It is over; who uses it is told."""
        if not self.doom.done():
            self.doom.set_result(error)

    def take_bytes(self) -> tuple[int, int]:
        """Bytes sent and received since the last call."""
        if self._run is None:
            return 0, 0
        before, self._counted = self._counted, (self._run.sent, self._run.received)
        return self._counted[0] - before[0], self._counted[1] - before[1]

    async def close(self) -> None:
        """End the context, its pages and its connections, whatever state they are in."""
        try:
            if self._context is not None and self._chromium is not None and not self._chromium.ended.is_set():
                await self._close_context(self._chromium)
        finally:
            if self._chromium is not None:
                self._chromium.slots.discard(self)
            if self._run is not None:
                await self._run.close()

    async def _close_context(self, chromium: Chromium) -> None:
        try:
            async with asyncio.timeout(_CLOSING):
                await self._context.close()
        except TimeoutError:
            logger.warning("a browser context was not closed in %g s: the browser is ended", _CLOSING)
            chromium.end()
        except Exception as exc:  # noqa: BLE001  # Playwright's, of many classes: it is closed, or the browser is gone
            logger.debug("closing a browser context: %s", exc)

    def _run_ended(self, why: str) -> None:
        if why == "byte_cap":
            self.fail(PageSizeError("size", "the page, with what belongs to it, has more bytes than it may have"))
        elif why == "deadline":
            self.fail(PageTimeoutError("deadline", "the time of the context is over"))


def arguments_of(spec: ContextSpec, run: Run) -> dict[str, Any]:
    """Arguments of Playwright's ``new_context`` (pure)."""
    width, height = spec.viewport
    made: dict[str, Any] = {
        "viewport": {"width": width, "height": height},
        "service_workers": "block",  # theirs would go by the browser's own name, whatever the pages say
        "is_mobile": spec.mobile,
        "has_touch": spec.mobile,
        **spec.extra,
        "ignore_https_errors": not spec.verify,
        "proxy": {"server": run.url, "bypass": "<-loopback>"},  # introduce() gives the credentials
    }
    if spec.accept_language:  # workers of the headless shell send none by themselves
        made["extra_http_headers"] = {"accept-language": spec.accept_language, **made.get("extra_http_headers", {})}
    if spec.timezone:
        made["timezone_id"] = spec.timezone
    if spec.har:
        made["record_har_path"] = spec.har
    return made
