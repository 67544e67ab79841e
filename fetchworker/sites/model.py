"""One site's entry. Times are seconds, sizes bytes; the descriptions are what an error tells the reader to write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from fetchworker.contracts import Render  # noqa: TC001  # pydantic reads it
from fetchworker.sites.budget import Budget  # noqa: TC001  # pydantic reads it
from fetchworker.sites.pooling import Pool  # noqa: TC001  # pydantic reads it
from fetchworker.sites.section import Section

if TYPE_CHECKING:
    from pathlib import Path

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
# RFC 9110, 12.5.4; a browser sends no other characters, and no line break may get into a header
_LANGUAGES = re.compile(
    r"[A-Za-z*][A-Za-z0-9-]*(;q=[01](\.\d{1,3})?)?(, ?[A-Za-z*][A-Za-z0-9-]*(;q=[01](\.\d{1,3})?)?)*"
)

MIB = 1024 * 1024


def _languages(value: str) -> str:
    if not _LANGUAGES.fullmatch(value):
        raise ValueError("is no Accept-Language value")
    return value


def _hosts(value: tuple[str, ...]) -> tuple[str, ...]:
    wrong = [host for host in value if not _HOST.fullmatch(host)]
    if wrong:
        raise ValueError(f"{wrong[0]!r} is no host name in lower case (without scheme, port and path)")
    return value


class Backoff(Section):
    """How long to wait before a request is tried again: ``first``, then ``factor`` times as long, up to ``max``."""

    first: float = Field(default=2.0, gt=0, le=3600, description="seconds before the second try")
    factor: float = Field(default=2.0, ge=1, le=10, description="how many times longer each further wait is")
    max: float = Field(default=60.0, gt=0, le=86_400, description="seconds that no wait is longer than")
    retry_after_max: float = Field(
        default=300.0, ge=0, le=86_400, description="seconds that a site's Retry-After header is obeyed for at most"
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.first > self.max:
            raise ValueError(f"first ({self.first:g}) is greater than max ({self.max:g}); raise max or lower first")
        return self


_Tier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$")]


class SiteConfig(Section):
    """What a site needs. Every key has a default; ``sites.yaml`` writes down those that differ."""

    proxy: Literal["required", "preferred", "none"] = Field(
        default="preferred",
        description="required (no proxy, no request), preferred (direct when there is none) or none (always direct)",
    )
    profile: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,39}$")] = Field(
        default="chrome", description="the name of an impersonation profile"
    )
    concurrency: int = Field(default=4, ge=1, le=256, description="how many requests may run at once to a host")
    delay: float = Field(default=0.0, ge=0, le=3600, description="seconds between the starts of two requests")
    per_minute: int | None = Field(
        default=None, ge=1, le=6000, description="how many requests may start within a minute (unset: any number)"
    )
    pace: Literal["host", "identity"] = Field(
        default="host",
        description="host (delay and per_minute hold for all requests to a host) or identity (for each exit by itself)",
    )
    pace_scope: Literal["process", "shared"] | None = Field(
        default=None,
        description="process (each worker keeps the pace by itself) or shared (all workers together, by Redis; unset: "
        "shared where there is a Redis and a delay, a per_minute or a Crawl-delay to keep)",
    )
    timeout: float = Field(default=30.0, gt=0, le=600, description="seconds for one try, from connect to last byte")
    max_bytes: int = Field(default=16 * MIB, ge=1, le=1024 * MIB, description="bytes of a decoded body at most")
    retries: int = Field(default=3, ge=0, le=20, description="how many tries follow the first one")
    backoff: Backoff = Field(default_factory=Backoff, description="a mapping of first, factor, max, retry_after_max")
    robots: Literal["obey", "ignore"] = Field(default="obey", description="obey or ignore")
    warmup: bool = Field(
        default=False, description="true (a fresh session visits the site's own entry page first) or false"
    )
    render: Render = Field(
        default="never",
        description="never, on_evidence (a browser passes challenges and fills in pages that scripts make) or always",
    )
    on_block: Literal["rotate", "keep"] = Field(
        default="rotate", description="rotate (a block ends the identity) or keep (it rests and goes on)"
    )
    session_ttl: float | None = Field(
        default=None, gt=0, description="seconds that an unused session is kept (unset: FETCHWORKER_SESSION_TTL)"
    )
    pool: Pool | None = Field(
        default=None, description="a mapping of min_idle, max_total and others (unset: each call has its own session)"
    )
    accept_language: Annotated[str, Field(max_length=200), AfterValidator(_languages)] | None = Field(
        default=None,
        description="an Accept-Language value such as en-US,en;q=0.9, or exit (that of the exit's country; unset: the "
        "profile's)",
    )
    allowed_hosts: Annotated[tuple[str, ...], Field(strict=False, min_length=1), AfterValidator(_hosts)] | None = Field(
        default=None, description="a list of host names that requests may go to, subdomains included (unset: any)"
    )
    proxy_tiers: Annotated[tuple[_Tier, ...], Field(strict=False, min_length=1)] | None = Field(
        default=None,
        description="a list of tiers of proxies, the cheapest first; a block leads to the next (unset: any proxy)",
    )
    tier_requests: int | None = Field(
        default=None, ge=0, description="how many requests of a crawl may go by a tier above the first (unset: any)"
    )
    tier_cooldown: float = Field(
        default=600.0, ge=1, le=86_400, description="seconds after which the site tries the tier below again"
    )
    budget: Budget | None = Field(
        default=None, description="a mapping of bytes_per_day, on_exceeded, tiers (unset: no limit)"
    )

    @model_validator(mode="after")
    def _payable(self) -> Self:
        if self.budget is not None and self.budget.on_exceeded == "down_tier" and self.proxy == "none":
            raise ValueError("budget.on_exceeded down_tier with proxy none has no tier to go down to; write stop")
        if self.accept_language == "exit" and self.proxy == "none":
            raise ValueError("accept_language exit with proxy none has no exit to take it from; write a value")
        return self


class Sites(Mapping[str, SiteConfig]):
    """The entries by site name, in the file's order.

    Attributes:
        path: the file.
        warnings: what is allowed but probably not meant, one sentence each, for the log.
    """

    def __init__(self, entries: Mapping[str, SiteConfig], *, path: Path, warnings: tuple[str, ...] = ()) -> None:
        self._entries = dict(entries)
        self.path = path
        self.warnings = warnings

    def __getitem__(self, site: str) -> SiteConfig:
        return self._entries[site]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Sites({', '.join(self._entries)})"
