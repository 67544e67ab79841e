"""What is left of a browser when its owner is killed: no process, and no folder after the next start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fetchworker.browser.place import sweep

from .conftest import gone, processes_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

OWNER = """
import asyncio, json, sys
from fetchworker.browser import BrowserEngine, ContextSpec, EngineOptions

async def main():
    engine = await BrowserEngine.of(EngineOptions(program=sys.argv[1]))
    async with engine.context(ContextSpec()) as context, context.page() as page:
        await page.set_content("<script>for (;;);</script>") if sys.argv[2] == "busy" else None
        print(json.dumps([engine.pid, engine._driver.pid, str(engine._place.path)]), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.fixture
def owner(shell):
    process = subprocess.Popen([sys.executable, "-c", OWNER, shell, "idle"], stdout=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def folders() -> list[Path]:
    return list(Path(tempfile.gettempdir()).iterdir())


@pytest.mark.parametrize("stopped", [False, True])
async def test_kill_9_of_us(owner, stopped):
    pid, driver, folder = json.loads(owner.stdout.readline())
    family = processes_of(pid)
    if stopped:  # a driver that can do nothing more for its browser
        os.kill(driver, signal.SIGSTOP)
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    await gone(driver, *family)
    assert processes_of(pid) == []
    sweep()
    assert Path(folder) not in folders()


async def test_a_signal_to_our_group_does_not_reach_the_driver(owner):
    pid, driver, _ = json.loads(owner.stdout.readline())
    assert os.getsid(driver) == driver
    assert len({os.getpgid(one) for one in (owner.pid, driver, pid)}) == 3
