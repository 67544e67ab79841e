"""The variables of pages that need a browser."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings


class BrowserVariables(BaseSettings):
    """What :class:`fetchworker.config.environment.Environment` has of them."""

    browser: str | None = Field(
        default=None,
        description="the path of the Chromium for pages that need a browser",
        examples=["/usr/bin/chromium-headless-shell"],
    )
    browser_contexts: int = Field(
        default=8,
        ge=1,
        le=500,
        description="how many browser contexts a process has at once",
        examples=["8"],
    )
    browser_recycle: int = Field(
        default=200,
        ge=0,
        le=1_000_000,
        description="after how many contexts the browser is replaced by a fresh one, 0 for never",
        examples=["200"],
    )
    browser_memory: int = Field(
        default=2 * 1024**3,
        ge=0,
        le=1 << 44,
        description="the bytes that the browser's processes may hold before it is replaced, 0 for any number",
        examples=["2147483648"],
    )
