"""Playwright's driver and one Chromium, started so that neither outlives us and the proxy is the only way out."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fetchworker.browser.identity import plain_agent
from fetchworker.browser.place import EnginePlace, kill_group
from fetchworker.browser.program import VARIABLE
from fetchworker.browser.watch import EndWatch, group_memory
from fetchworker.egress.chromium import UNWANTED, chromium_arguments, chromium_environment
from fetchworker.errors import ConfigError, PageFailedError, how_to_install

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

    from fetchworker.browser.options import EngineOptions
    from fetchworker.browser.slot import Slot

logger = logging.getLogger(__name__)

_NODE = "PLAYWRIGHT_NODEJS_PATH"
_SECRET = ("FETCHWORKER_", "REDIS_")
_TRUST = Path(__file__).with_name("_trust.py")
#: seconds that a closing may take before it is done by force
_GENTLY = 5.0
_VERSION_SECONDS = 30.0
_VERSION = re.compile(r"(\d+)\.\d+\.\d+\.\d+")
#: beside what Playwright and the egress policy want: no windows that nobody asked for (the headless shell knows that),
#: one process for a page and its frames, so that all say the same name, and no sign of being driven
_OWN = (
    "--disable-gpu", "--block-new-web-contents", "--disable-site-isolation-trials",
    "--disable-blink-features=AutomationControlled",
)  # fmt: skip
_starting = asyncio.Lock()


class Driver:
    """Playwright's driver, a process of node."""

    def __init__(self, playwright: Playwright, place: EnginePlace) -> None:
        self.playwright, self.place = playwright, place
        self.pid = place.pid("driver")
        self.ended = asyncio.Event()
        self._watch = EndWatch(self.pid, self.ended.set) if self.pid else None

    @classmethod
    async def start(cls, place: EnginePlace, seconds: float) -> Driver:
        """Start it.

        Raises:
            ConfigError: Playwright is not installed.
            PageFailedError: it does not start.
        """
        try:
            from playwright._impl._driver import compute_driver_executable  # noqa: PLC0415  # 0.3 s to import
            from playwright.async_api import async_playwright  # noqa: PLC0415
        except ImportError as exc:
            raise ConfigError(f"pages that need a browser need Playwright: {how_to_install('browser')}") from exc
        hidden = tuple(name for name in os.environ if name.startswith(_SECRET))
        async with _starting:  # the environment is everybody's
            before = os.environ.pop(_NODE, None)
            node = before or compute_driver_executable()[0]
            os.environ[_NODE] = place.bound("driver", node, parent=os.getpid(), unset=(*UNWANTED, _NODE, *hidden))
            try:
                async with asyncio.timeout(seconds):
                    manager = async_playwright()
                    playwright = await manager.start()
            except TimeoutError:
                raise PageFailedError(
                    "browser_process", f"Playwright's driver did not start in {seconds:g} s"
                ) from None
            finally:
                os.environ.pop(_NODE)
                if before is not None:
                    os.environ[_NODE] = before
        _hush(manager)
        return cls(playwright, place)

    async def close(self) -> None:
        """End it."""
        if not self.ended.is_set():
            with suppress(Exception):  # whatever a broken driver says
                async with asyncio.timeout(_GENTLY):
                    await self.playwright.stop()
        if self.pid is not None and not self.ended.is_set():
            with suppress(ProcessLookupError):
                os.kill(self.pid, 9)
        if self._watch is not None:
            self._watch.close()


class Chromium:
    """One browser.

    Attributes:
        major: the first part of its version.
        opens_windows: scripts can open windows in it, which the headless shell is told not to.
        made: how many contexts it has had.
        slots: those that it has.
        retired: no further context is made in it.
        ended: set when it is gone.
    """

    def __init__(self, browser: Browser, pid: int | None, program: str) -> None:
        self.browser, self.pid = browser, pid
        self.opens_windows = "headless" not in Path(program).name
        self.major = int(browser.version.partition(".")[0])
        self.made = 0
        self.slots: set[Slot] = set()
        self.retired = False
        self.ended = asyncio.Event()
        browser.on("disconnected", lambda _: self.end())
        self._watch = EndWatch(pid, self.end) if pid else None

    def end(self) -> None:
        """It has ended, or must: what is left of it is killed, and all who use it are told."""
        if self.ended.is_set():
            return
        self.ended.set()
        kill_group(self.pid)
        for slot in tuple(self.slots):
            slot.fail(PageFailedError("browser_process", "the browser ended", died=True))

    @classmethod
    async def start(cls, driver: Driver, program: str, options: EngineOptions, proxy_url: str) -> Chromium:
        """Start it.

        Raises:
            PageFailedError: it does not start; the message ends with what it said.
        """
        from playwright.async_api import Error  # noqa: PLC0415  # as above

        place = driver.place
        command = place.bound("chromium", program, parent=driver.pid or 0)
        agent = plain_agent(await _major(program))
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        arguments: dict[str, Any] = {
            "chromium_sandbox": not root,
            **dict(options.launch),
            "headless": True,
            "executable_path": command,
            "args": [*_OWN, f"--user-agent={agent}", *options.arguments, *chromium_arguments(proxy_url)],
            "env": _environment(place),
            "timeout": options.start * 1000,
        }
        try:
            async with asyncio.timeout(options.start + _GENTLY):
                browser = await driver.playwright.chromium.launch(**arguments)
        except (Error, TimeoutError) as exc:
            kill_group(place.pid("chromium"))
            told = f"Chromium ({program}) does not start: {str(exc).strip()[-600:] or f'{options.start:g} s are over'}"
            raise PageFailedError("browser_process", told) from exc
        return cls(browser, place.pid("chromium"), program)

    def memory(self) -> int:
        """Bytes that its processes hold."""
        return group_memory(self.pid) if self.pid else 0

    async def close(self) -> None:
        """End it; by force if it does not by itself."""
        if not self.ended.is_set():
            with suppress(Exception):  # whatever a broken browser says
                async with asyncio.timeout(_GENTLY):
                    await self.browser.close()
        self.end()
        if self._watch is not None:
            self._watch.close()


def _hush(manager: Any) -> None:
    """Ask for the error of a driver that is killed, which asyncio would log as one that nobody asked for."""
    error = getattr(getattr(getattr(manager, "_client", None), "_transport", None), "on_error_future", None)
    if error is not None:
        error.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


async def trust(place: EnginePlace, ca_file: str) -> None:
    """Have browsers of this place trust the certificates in a PEM file, beside their own.

    Raises:
        ConfigError: they cannot be made to.
    """
    folder = place.home / ".pki" / "nssdb"
    folder.mkdir(parents=True, exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-IS", str(_TRUST), str(folder), ca_file, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, told = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        last = (told.decode("utf-8", "replace").strip().splitlines() or ["no reason told"])[-1]
        raise ConfigError(f"FETCHWORKER_CA_FILE: Chromium cannot be made to trust {ca_file}: {last}")


async def _major(program: str) -> int:
    """The first part of a program's version.

    Raises:
        ConfigError: it tells none.
    """
    told = b""
    with suppress(OSError):
        process = await asyncio.create_subprocess_exec(
            program, "--version", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(_VERSION_SECONDS):
                told, _ = await process.communicate()
        except TimeoutError:
            pass
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    found = _VERSION.search(told.decode("utf-8", "replace"))
    if found is None:
        raise ConfigError(f"{program} --version does not say which Chromium it is; {VARIABLE} may name another one")
    return int(found[1])


def _environment(place: EnginePlace) -> dict[str, str | float | bool]:
    """What Chromium may know of ours: no secrets, no proxies, and a HOME of its own."""
    kept = {name: value for name, value in chromium_environment(os.environ).items() if not name.startswith(_SECRET)}
    return {**kept, "HOME": str(place.home), "XDG_CONFIG_HOME": str(place.home), "XDG_CACHE_HOME": str(place.home)}
