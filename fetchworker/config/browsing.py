"""The variables of pages that need a browser."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_settings import BaseSettings

from fetchworker.errors import ConfigError

Render = Literal["never", "on_evidence", "always"]  # as in the contracts, which stand above
#: the variable, and the Scrapy setting, for sites that say nothing about it
RENDER = "FETCHWORKER_RENDER"


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class BrowserVariables(BaseSettings):
    """What :class:`fetchworker.config.environment.Environment` has of them."""

    browser: str | None = Field(
        default=None,
        description="the path of the Chromium for pages that need a browser",
        examples=["/usr/bin/chromium-headless-shell"],
    )
    render: Annotated[Render | None, BeforeValidator(_lower)] = Field(
        default=None,
        description="never, on_evidence or always: whether a browser loads pages of sites whose entries do not say it",
        examples=["on_evidence"],
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
    browser_navigations: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="how often a page that a browser loads for us may go on to another one by itself",
        examples=["10"],
    )


def default_render(environment: BrowserVariables, setting: Any) -> Render:
    """Whether a browser loads pages of sites whose entries in sites.yaml do not say it.

    Args:
        environment: with the variable, and what ``-s`` said over it.
        setting: the Scrapy setting of the project or of a spider, None where there is none.

    Raises:
        ConfigError: the setting has another value than the variable, or none that there is.
    """
    wanted = _lower(setting) or None
    if wanted is not None and wanted not in get_args(Render):
        raise ConfigError(f"{RENDER}: {setting!r} is none of {', '.join(get_args(Render))} (the Scrapy setting)")
    if wanted is not None and environment.render is not None and wanted != environment.render:
        told = f"the Scrapy setting says {wanted} and the environment {environment.render}: leave one of them out"
        raise ConfigError(f"{RENDER}: {told}")
    found: Render = environment.render or wanted or "never"
    return found
