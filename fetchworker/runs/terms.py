"""By which terms runs are watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from fetchworker.config import Environment


@dataclass(frozen=True, slots=True)
class Terms:
    """Times are seconds.

    ``tick``: between two looks; ``ticks``: how many of them a run has; ``lease``: that a node may be silent;
    ``respawn``: whether lost jobs are begun anew, ``attempts`` times at most; ``spawning``: jobs that are spawned at
    once; ``grace``: that a job has to end; ``keep``: that ended runs are kept, 0 for ever; ``sweep``: between two looks
    for what other processes have asked for; ``project``: the name that the nodes know the spiders' project by.
    """

    tick: float = 60.0
    ticks: int = 240
    lease: float = 180.0
    respawn: bool = True
    attempts: int = 3
    spawning: int = 16
    grace: float = 30.0
    keep: float = 2_592_000.0
    sweep: float = 5.0
    project: str = "fetchworker"

    @classmethod
    def of(cls, environment: Environment) -> Self:
        """As the environment says."""
        return cls(
            tick=environment.runs_tick,
            ticks=environment.runs_ticks,
            lease=environment.runs_lease,
            respawn=environment.runs_lost == "respawn",
            attempts=environment.runs_attempts,
            spawning=environment.runs_spawning,
            grace=environment.grace,
            keep=environment.runs_keep,
            sweep=min(5.0, environment.runs_tick),
            project=environment.jobs_project,
        )
