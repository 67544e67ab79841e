"""The runs of a project, as commands open them."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fetchworker.errors import StorageError
from fetchworker.platforms.choice import open_platform
from fetchworker.runs.service import Runs
from fetchworker.runtime import database, load_configuration

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment

#: seconds between two looks at jobs of this machine, where one costs next to nothing and somebody waits
_LOCAL_TICK = 1.0


@asynccontextmanager
async def opened(settings: BaseSettings, *, engine: bool = False, making: bool = True) -> AsyncIterator[Runs]:
    """The runs of a project.

    Args:
        settings: Scrapy's.
        engine: watch them, unless another process does.
        making: False: a database that is not there yet is an error, and not made.

    Raises:
        ConfigError: something is configured wrong, or not installed.
        StorageError: the database does not answer, or there is none.
    """
    environment, _ = load_configuration(settings)
    place = database(environment)
    if not making and place.path is not None and not place.path.exists():
        raise StorageError(f"{place.label} does not exist yet: nothing was run")
    platform = open_platform(environment)
    try:
        runs = await Runs.open(place, platform, environment=_paced(environment), settings=settings, engine=engine)
        try:
            yield runs
        finally:
            await runs.close()
    finally:
        await platform.close()


def _paced(environment: Environment) -> Environment:
    """The same time for runs, in shorter ticks where jobs are this machine's (pure)."""
    tick = min(environment.runs_tick, _LOCAL_TICK)
    if environment.nodes is not None or tick == environment.runs_tick:
        return environment
    ticks = math.ceil(environment.runs_tick * environment.runs_ticks / tick)
    return environment.model_copy(update={"runs_tick": tick, "runs_ticks": ticks})
