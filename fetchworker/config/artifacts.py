"""The variables of artifacts: where what calls and crawls leave behind is kept, how much of it, and how long."""

from __future__ import annotations

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings


class ArtifactVariables(BaseSettings):
    """``FETCHWORKER_ARTIFACTS*``."""

    artifacts_store: SecretStr | None = Field(
        default=None,
        description="a folder, or a URL that fsspec knows",
        examples=["s3://bucket/artifacts"],
    )
    artifacts_max_bytes: int = Field(
        default=52_428_800, ge=1024, le=1 << 30, description="the bytes of an artifact at most", examples=["52428800"]
    )
    artifacts_total_bytes: int = Field(
        default=10_737_418_240,
        ge=0,
        le=1 << 50,
        description="the bytes of all artifacts, above which the oldest go, 0 for no bound",
        examples=["10737418240"],
    )
    artifacts_ttl: int = Field(
        default=2_592_000,
        ge=1,
        le=1 << 34,
        description="the whole seconds that an artifact is kept",
        examples=["2592000"],
    )
    artifacts_warc: bool = Field(
        default=False, description="true to keep what is fetched as WARC files, or false", examples=["true"]
    )
    artifacts_failures: int = Field(
        default=0,
        ge=0,
        le=100_000,
        description="how many failed fetches of a site a process keeps an hour",
        examples=["20"],
    )
