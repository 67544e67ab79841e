"""The ``pool`` section of a site. Times are seconds; the descriptions are what an error tells the reader to write."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from fetchworker.sites.section import Section

_DAY = 86_400


class Pool(Section):
    """Sessions that all workers of a site share, each in one hand at a time. Numbers hold for each jar by itself."""

    min_idle: int = Field(default=0, ge=0, le=10_000, description="how many sessions are kept ready, warmed up")
    via: Literal["http", "browser"] = Field(
        default="http", description="http (the warm-up pages are fetched) or browser (a browser visits them)"
    )
    max_idle: int = Field(default=20, ge=0, le=100_000, description="how many unused sessions are kept at most")
    max_total: int = Field(default=100, ge=1, le=100_000, description="how many sessions there are at most")
    concurrency: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="how many sessions of the site are in use at once (unset: any number)",
    )
    cooldown: float | None = Field(
        default=None,
        ge=0,
        le=30 * _DAY,
        description="seconds that a session rests after a use (unset: as per_minute asks where pace is identity)",
    )
    max_uses: int | None = Field(
        default=None, ge=1, description="how often a session is given out until it is dropped (unset: any number)"
    )
    max_age: float | None = Field(
        default=None, gt=0, description="seconds after which a session is dropped (unset: it does not get too old)"
    )
    prefer: Literal["oldest", "best", "lru"] = Field(
        default="best",
        description="oldest (the oldest healthy session first), best (the one with the best score) or lru (the one "
        "longest unused)",
    )
    quarantine: float = Field(
        default=600.0, ge=0, le=30 * _DAY, description="seconds that a blocked session rests; 0: it is dropped"
    )
    blocks: int = Field(
        default=3, ge=0, le=1000, description="after how many blocks a session is dropped; 0: after any number it rests"
    )
    lease: float = Field(
        default=60.0, ge=1, le=3600, description="seconds after which the sessions of a worker that is gone come back"
    )
    hold: float = Field(
        default=300.0, ge=1, le=_DAY, description="seconds that a session is kept for a call that sends nothing"
    )
    wait: float = Field(default=30.0, ge=0, le=3600, description="seconds that a request waits for a session")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for low, high in (("min_idle", "max_total"), ("min_idle", "max_idle"), ("max_idle", "max_total")):
            least, most = getattr(self, low), getattr(self, high)
            # a max_idle that nobody wrote gives way
            if least > most and not ("max_idle" in (low, high) and "max_idle" not in self.model_fields_set):
                raise ValueError(f"{low} ({least}) is greater than {high} ({most}); raise {high} or lower {low}")
        if self.max_age is not None and self.max_age <= self.quarantine and "quarantine" in self.model_fields_set:
            raise ValueError(
                f"max_age ({self.max_age:g}) is not longer than quarantine ({self.quarantine:g}): a session would "
                "never come back from it; write quarantine: 0, or raise max_age"
            )
        if self.max_age is not None and self.cooldown is not None and self.max_age <= self.cooldown:
            raise ValueError(
                f"max_age ({self.max_age:g}) is not longer than cooldown ({self.cooldown:g}): no session would be used "
                "twice; lower cooldown or raise max_age"
            )
        return self
