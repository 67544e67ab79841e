"""A control process to be killed: ``_control.py URL FOLDER TICK``; it watches runs until its end."""

import asyncio
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).parent


def _load(name):
    spec = importlib.util.spec_from_file_location(f"runs_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


async def main(url: str, folder: str, tick: str) -> None:
    conftest = _load("conftest")
    nodes = conftest.Nodes(Path(folder))
    async with conftest.opened(url, nodes, runs_tick=float(tick), runs_ticks=100_000, runs_lease=3.0):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
