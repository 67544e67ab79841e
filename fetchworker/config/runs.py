"""The variables of runs: how jobs are watched, how many there may be, how long is kept what they leave."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class RunVariables(BaseSettings):
    """``FETCHWORKER_RUNS_*``. Times are seconds."""

    runs_tick: float = Field(
        default=60, ge=0.05, le=3600, description="the seconds between two looks at the jobs of a run", examples=["60"]
    )
    runs_ticks: int = Field(
        default=240, ge=1, le=100_000, description="for how many ticks the jobs of a run may take", examples=["240"]
    )
    runs_lease: float = Field(
        default=180,
        ge=0,
        le=86_400,
        description="the seconds that a node may be silent before its jobs are lost",
        examples=["180"],
    )
    runs_lost: Literal["respawn", "fail"] = Field(
        default="respawn", description="what becomes of lost jobs, respawn or fail", examples=["respawn"]
    )
    runs_attempts: int = Field(
        default=3, ge=1, le=100, description="how often a job that is lost is begun at most", examples=["3"]
    )
    runs_jobs_max: int = Field(
        default=1000, ge=1, le=100_000, description="how many jobs one call may start", examples=["1000"]
    )
    runs_spawning: int = Field(
        default=16, ge=1, le=1000, description="how many jobs of a run are spawned at once", examples=["16"]
    )
    runs_keep: float = Field(
        default=2_592_000,
        ge=0,
        allow_inf_nan=False,
        description="the seconds that an ended run and its rows are kept, 0 for ever",
        examples=["2592000"],
    )
    runs_callback_secret: SecretStr | None = Field(
        default=None, description="the secret that signs callbacks of runs", examples=["…"]
    )
    runs_callback_timeout: float = Field(
        default=15,
        gt=0,
        le=300,
        description="the seconds that the receiver of a callback has to answer",
        examples=["15"],
    )
    runs_callback_patience: float = Field(
        default=86_400,
        ge=0,
        le=2_592_000,
        description="the seconds over which a callback is tried again",
        examples=["86400"],
    )
