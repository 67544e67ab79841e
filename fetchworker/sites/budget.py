"""How many bytes a site may cost on a day."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from fetchworker.config.sizes import parse_size, show_size
from fetchworker.sites.section import Section

Size = Annotated[int, BeforeValidator(parse_size), Field(ge=1, le=1 << 50)]
Tier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Budget(Section):
    """The bytes of a day (UTC), both ways, of all workers together, and what happens when they are used up."""

    bytes_per_day: Size = Field(description="bytes as a number, or a text such as 500 MB or 2 GiB")
    on_exceeded: Literal["stop", "down_tier"] = Field(
        default="stop",
        description="stop (crawls end, what is not done stays queued) or down_tier (only the cheapest proxies go on)",
    )
    tiers: dict[Tier, Size] = Field(
        default_factory=dict, description="a mapping of tiers of proxies and the bytes that each may cost of it"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.tiers and self.on_exceeded == "stop":
            raise ValueError("tiers have no meaning with on_exceeded stop; leave them out, or write down_tier")
        for tier, size in self.tiers.items():
            if size > self.bytes_per_day:
                raise ValueError(
                    f"tiers.{tier} ({show_size(size)}) is more than bytes_per_day ({show_size(self.bytes_per_day)}); "
                    "raise the one or lower the other"
                )
        return self
