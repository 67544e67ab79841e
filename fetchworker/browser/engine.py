"""The browser of a process: one Chromium, its contexts in a bounded number, replaced when it dies or grows old."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

from fetchworker.browser.context import BrowserContext
from fetchworker.browser.place import EnginePlace
from fetchworker.browser.program import find_program
from fetchworker.browser.slot import Slot
from fetchworker.egress import EgressPolicy
from fetchworker.errors import BrowserError, PageFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence

    from fetchworker.browser.options import ContextSpec, EngineOptions
    from fetchworker.browser.process import Chromium, Driver
    from fetchworker.egress.filter_proxy import FilterProxy

logger = logging.getLogger(__name__)
_T = TypeVar("_T")
#: seconds between two looks at the memory of the browser
_LOOK = 5.0

_engines: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[EngineOptions, BrowserEngine]] = WeakKeyDictionary()


class BrowserEngine:
    """One browser for all who want it in this process and loop; nothing is started before the first context.

    ::

        engine = await BrowserEngine.of(EngineOptions())
        try:
            async with engine.context(ContextSpec(deadline=30)) as context, context.page() as page:
                await context.guard(page.goto("https://www.example.com/"))
        finally:
            await engine.release()

    Attributes:
        options: what it was made with.
        counts: ``launched``, ``died`` (browsers that ended by themselves), ``recycled``, ``contexts`` made, ``evicted``
            (kept ones closed to make room) and ``repeated`` (runs done again after the browser died).
    """

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self.counts: Counter[str] = Counter()
        self._users = 0
        self._place: EnginePlace | None = None
        self._proxy: FilterProxy | None = None
        self._driver: Driver | None = None
        self._chromium: Chromium | None = None
        self._browsers: set[Chromium] = set()  # with those that end as soon as their last context does
        self._launching = asyncio.Lock()
        self._turn = asyncio.Lock()
        self._changed = asyncio.Event()
        self._slots: list[Slot] = []  # the least recently used first
        self._closing: set[asyncio.Task[None]] = set()
        self._looked = 0.0
        self._closed = False

    @classmethod
    async def of(cls, options: EngineOptions) -> BrowserEngine:
        """The loop's engine with these options; every caller gives it back with :meth:`release`."""
        engines = _engines.setdefault(asyncio.get_running_loop(), {})
        engine = engines.get(options)
        if engine is None:
            engine = engines[options] = cls(options)
        engine._users += 1
        return engine

    async def release(self) -> None:
        """One who uses it needs it no longer; with the last one all of it ends."""
        self._users -= 1
        if self._users > 0:
            return
        engines = _engines.get(asyncio.get_running_loop(), {})
        if engines.get(self.options) is self:
            del engines[self.options]
        await self.close()

    @property
    def contexts(self) -> int:
        """How many contexts there are, kept ones included."""
        return len(self._slots)

    @property
    def pid(self) -> int | None:
        """The process id of the browser, while there is one."""
        return self._chromium.pid if self._chromium is not None else None

    async def memory(self) -> int:
        """Resident bytes that the processes of the browser hold."""
        # one may be replaced while another is measured
        return sum([await asyncio.to_thread(chromium.memory) for chromium in list(self._browsers)])

    async def settled(self) -> None:
        """Wait until what was given back is closed."""
        while self._closing:
            await asyncio.wait(self._closing)

    # ── use ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def run(self, spec: ContextSpec, work: Callable[[BrowserContext], Coroutine[Any, Any, _T]]) -> _T:
        """Do something in a context, guarded by its deadline; once more where the browser died under it.

        Args:
            spec: of the context.
            work: what is to be done. It must be such that it may be begun again.

        Raises:
            BrowserError: as :meth:`context` and :meth:`BrowserContext.guard`.
        """

        async def once(spec: ContextSpec) -> _T:
            async with self.context(spec) as context:
                return await context.guard(work(context))

        return await self.repeating(spec, once)

    async def repeating(
        self,
        spec: ContextSpec,
        once: Callable[[ContextSpec], Awaitable[_T]],
        *,
        ending: Callable[[], bool] = lambda: False,
    ) -> _T:
        """Do something once more where the browser died under it (or the driver), and only then.

        Args:
            spec: of the context that it needs.
            once: does it in such a context, which it opens itself.
            ending: whether who asks is about to end: nothing is begun again then.
        """
        try:
            return await once(spec)
        except BrowserError as exc:
            if not exc.context.get("died") or self._closed or ending():
                raise
        self.counts["repeated"] += 1
        return await once(spec)

    @asynccontextmanager
    async def context(self, spec: ContextSpec) -> AsyncIterator[BrowserContext]:
        """A context, made or kept; given back, or closed, at the end of the block.

        Raises:
            ConfigError: there is no Playwright, no Chromium, or a setting of theirs is wrong.
            BrowserError: none came free in time, or the browser does not start.
        """
        slot, reused = await self._take(spec)
        context = BrowserContext(slot, spec, reused=reused)
        try:
            if spec.cookies is not None:
                await context.guard(_set_cookies(slot, spec.cookies))
            slot.run.allow(spec.max_bytes, afresh=slot.users == 1)
            yield context
        finally:
            try:
                await context.finish()
            finally:
                self._give_back(slot)

    async def _take(self, spec: ContextSpec) -> tuple[Slot, bool]:
        seconds = self.options.wait if spec.wait is None else spec.wait
        try:
            async with asyncio.timeout(seconds):
                slot, made = await self._place_for(spec)
        except TimeoutError:
            told = f"all {self.options.contexts} browser contexts were in use for {seconds:g} s"
            raise PageFailedError("browser_process", told, busy=True) from None
        try:
            if made:
                await self._open(slot)
            else:
                await asyncio.shield(slot.opened)
        except BaseException:
            self._give_back(slot)
            raise
        return slot, not made

    async def _place_for(self, spec: ContextSpec) -> tuple[Slot, bool]:
        """A slot and whether it is to be opened. Who comes first is served first, so nobody waits for ever."""
        async with self._turn:
            while True:
                kept = next((slot for slot in self._slots if spec.key and slot.spec.key == spec.key), None)
                if kept is not None and kept.usable:
                    kept.users += 1
                    self._slots.remove(kept)
                    self._slots.append(kept)
                    return kept, False
                if kept is None and len(self._slots) < self.options.contexts:
                    slot = Slot(spec, self.options.pages_per_context)
                    self._slots.append(slot)
                    return slot, True
                idle = kept if kept is not None and not kept.users else self._idle()
                if kept is None and idle is not None:
                    self.counts["evicted"] += 1
                if idle is not None:
                    await self._drop(idle)
                    continue
                self._changed.clear()
                await self._changed.wait()

    def _idle(self) -> Slot | None:
        return next((slot for slot in self._slots if not slot.users), None)

    async def _open(self, slot: Slot) -> None:
        try:
            chromium = await self._browser()
            assert self._proxy is not None
            await slot.open(chromium, self._proxy)
        except BaseException as exc:
            slot.spoilt = True
            failed = exc if isinstance(exc, Exception) else PageFailedError("browser_process", "nobody waited for it")
            slot.opened.set_exception(failed)
            slot.opened.exception()  # it need not be asked for
            raise
        self.counts["contexts"] += 1
        slot.opened.set_result(None)

    def _give_back(self, slot: Slot) -> None:
        slot.users -= 1
        if slot.users == 0 and (not slot.spec.key or not slot.usable):
            self._later(self._drop(slot))
        self._changed.set()

    async def _drop(self, slot: Slot) -> None:
        """Close a context that nobody uses. Its place is free when it is closed."""
        slot.users = -1  # nobody else takes or drops it
        slot.spoilt = True
        closing = asyncio.ensure_future(self._close_slot(slot))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)
        await asyncio.shield(closing)

    async def _close_slot(self, slot: Slot) -> None:
        chromium = slot.browser
        try:
            await slot.close()
        finally:
            if slot in self._slots:
                self._slots.remove(slot)
            self._changed.set()
        if chromium is not None and not self._closed:
            await self._renew(chromium)

    def _later(self, work: Awaitable[None]) -> None:
        task: asyncio.Future[None] = asyncio.ensure_future(work)
        self._closing.add(task)  # type: ignore[arg-type]  # a coroutine's is a task
        task.add_done_callback(self._closing.discard)

    # ── the browser ──────────────────────────────────────────────────────────────────────────────────────────────

    async def _browser(self) -> Chromium:
        """The browser; a new one where there is none, or where it ended or grew old."""
        from fetchworker.browser.process import Chromium  # noqa: PLC0415  # imports Playwright's parts

        async with self._launching:
            if self._closed:
                raise PageFailedError("browser_process", "the browser is closed")
            chromium = self._chromium
            if chromium is not None and not chromium.ended.is_set() and not chromium.retired:
                return chromium
            if chromium is not None and chromium.ended.is_set():
                self.counts["died"] += 1
                logger.warning("the browser (process %s) has ended: another one is started", chromium.pid)
                self._later(self._end(chromium))
            self._chromium = None
            proxy, driver = await self._base()
            program = find_program(self.options.program)
            self._chromium = await Chromium.start(driver, program, self.options, proxy.url)
            self._browsers.add(self._chromium)
            self.counts["launched"] += 1
            return self._chromium

    async def _base(self) -> tuple[FilterProxy, Driver]:
        """What stands below every browser: the place, the proxy, the driver."""
        from fetchworker.browser.process import Driver, trust  # noqa: PLC0415  # as above
        from fetchworker.browser.resolve import resolver  # noqa: PLC0415  # needs the extra `browser`
        from fetchworker.egress.filter_proxy import FilterProxy  # noqa: PLC0415  # as above

        if self._place is None:
            place = EnginePlace()
            try:
                if self.options.ca_file:
                    await trust(place, self.options.ca_file)
            except BaseException:
                place.remove()
                raise
            self._place = place
        if self._proxy is None:
            proxy = FilterProxy(EgressPolicy(), resolve=resolver(self.options.host_map))
            await proxy.start()
            self._proxy = proxy
        if self._driver is None or self._driver.ended.is_set():
            if self._driver is not None:
                await self._driver.close()
            self._driver = await Driver.start(self._place, self.options.start)
        return self._proxy, self._driver

    async def _renew(self, chromium: Chromium) -> None:
        """Retire a browser that has had enough contexts or holds too much memory, and close one that is not used."""
        if chromium.ended.is_set():
            return
        if not chromium.retired and await self._is_old(chromium):
            chromium.retired = True
            self.counts["recycled"] += 1
        if not chromium.retired:
            return
        for slot in [slot for slot in self._slots if not slot.users and slot in chromium.slots]:
            self._later(self._drop(slot))
        if not chromium.slots:
            if self._chromium is chromium:
                self._chromium = None
            await self._end(chromium)

    async def _end(self, chromium: Chromium) -> None:
        self._browsers.discard(chromium)
        await chromium.close()

    async def _is_old(self, chromium: Chromium) -> bool:
        options, now = self.options, asyncio.get_running_loop().time()
        if options.recycle_contexts and chromium.made >= options.recycle_contexts:
            return True
        if not options.recycle_bytes or now - self._looked < _LOOK:
            return False
        self._looked = now
        return await asyncio.to_thread(chromium.memory) > options.recycle_bytes

    async def close(self) -> None:
        """End everything: contexts, browser, driver, proxy, and the folder."""
        self._closed = True
        for slot in self._slots:
            slot.fail(PageFailedError("browser_process", "the browser is closed"))
        await asyncio.gather(*(self._close_slot(slot) for slot in list(self._slots)), return_exceptions=True)
        await self.settled()
        async with self._launching:
            await asyncio.gather(*(self._end(chromium) for chromium in list(self._browsers)))
            if self._driver is not None:
                await self._driver.close()
            if self._proxy is not None:
                await self._proxy.close()
            if self._place is not None:
                self._place.remove()
            self._chromium = self._driver = self._proxy = self._place = None


async def _set_cookies(slot: Slot, cookies: Sequence[Mapping[str, Any]]) -> None:
    """Have the context hold these cookies; and no others, where nobody else uses it."""
    if slot.users == 1:
        await slot.context.clear_cookies()
    try:
        await slot.context.add_cookies([dict(cookie) for cookie in cookies])
    except Exception:  # noqa: BLE001  # one that no browser would take spoils the whole call
        for cookie in cookies:
            with suppress(Exception):
                await slot.context.add_cookies([dict(cookie)])
