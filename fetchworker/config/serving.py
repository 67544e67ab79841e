"""The variables of the HTTP service; :class:`~fetchworker.config.Environment` has them beside its own."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # pydantic needs it

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class Serving(BaseSettings):
    """What ``scrapy serve`` is told. Times are seconds, sizes bytes."""

    serve_keys: SecretStr | None = Field(
        default=None,
        description="the API keys as JSON, hashed (`scrapy serve --new-key` makes one)",
        examples=['[{"name": "shop", "hash": "sha256:…", "scopes": ["fetch"]}]'],
    )
    serve_keys_file: Path | None = Field(
        default=None, description="the path of a file with the API keys as JSON", examples=["keys.json"]
    )
    serve_in_flight: int = Field(
        default=64, ge=1, le=10_000, description="how many calls are under way at most", examples=["64"]
    )
    serve_waiting: int = Field(
        default=128, ge=0, le=100_000, description="how many calls may wait for a place", examples=["128"]
    )
    serve_listeners: int = Field(
        default=64, ge=1, le=10_000, description="how many streams of events are open at most", examples=["64"]
    )
    serve_timeout: float = Field(
        default=60, gt=0, le=3600, description="the seconds that a call may take which says nothing", examples=["60"]
    )
    serve_timeout_max: float = Field(
        default=300, gt=0, le=3600, description="the seconds that a call may ask for at most", examples=["300"]
    )
    serve_body_max: int = Field(
        default=8_388_608, ge=1024, le=1 << 30, description="the bytes of a call's body at most", examples=["8388608"]
    )
    serve_bodies_max: int = Field(
        default=268_435_456,
        ge=1024,
        description="the bytes of the bodies of all calls together; one of the longest kind always has room",
        examples=["268435456"],
    )
    serve_patience: float = Field(
        default=15,
        gt=0,
        le=600,
        description="the seconds within which a client has to send its request, and to take each part of the answer",
        examples=["15"],
    )
    shutdown_drain_seconds: float = Field(
        default=30, ge=0, le=3600, description="the seconds that calls may take to end at a stop", examples=["30"]
    )
