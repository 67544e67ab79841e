"""The variables of jobs: where they run, and how their ends are judged."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class JobVariables(BaseSettings):
    """``FETCHWORKER_JOB*``, ``FETCHWORKER_NODES`` and ``FETCHWORKER_CONTROL_*``."""

    nodes: SecretStr | None = Field(
        default=None,
        description="scrapyd nodes, each as [name=]http://user:password@host:port, apart by spaces or lines",
        examples=["big=http://fetchworker:…@10.0.0.5:6800"],
    )
    jobs_slots: int | None = Field(
        default=None, ge=1, le=10_000, description="how many jobs this machine runs at once", examples=["4"]
    )
    jobs_project: str = Field(
        default="fetchworker",
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$",
        description="the name that the nodes know the project of the spiders by",
        examples=["fetchworker"],
    )
    job_grace: float = Field(
        default=40,
        ge=0,
        le=86_400,
        description="the seconds that a job past its limits has between TERM and KILL",
        examples=["40"],
    )
    job_block_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="the share of answers that are refusals from which on a job is degraded",
        examples=["0.5"],
    )
    job_drift_share: float = Field(
        default=0.1,
        gt=0,
        le=1,
        description="the share of pages without what their contract promises from which on a job is degraded",
        examples=["0.1"],
    )
    job_items_min: int = Field(
        default=0, ge=0, le=1 << 40, description="the items below which a job is degraded", examples=["1"]
    )
    control_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^\s@]+$",
        description="the URL of the service that is told of a job's end",
        examples=["https://control.example:8000"],
    )
    control_secret: SecretStr | None = Field(
        default=None, description="the secret that signs what the control is told", examples=["…"]
    )
