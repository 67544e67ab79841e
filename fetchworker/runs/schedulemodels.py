"""What schedules are asked for with, and what is told of them: JSON in camelCase."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from fetchworker.runs.models import Name, RunRequest  # noqa: TC001  # pydantic needs them

Word = Annotated[str, Field(min_length=1, max_length=128)]


class _Json(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )


class ScheduleRequest(_Json):
    """The body of ``POST /schedules``: runs that the clock starts.

    ``cron``: minute, hour, day of month, month, day of week, by the clocks of ``timezone``. ``overlap``: what becomes
    of a time that comes while the run before it goes on. ``misfire``: what becomes of times at which nobody was there.
    """

    name: Name
    cron: Word
    timezone: Word = "UTC"
    overlap: Annotated[str, Field(pattern="^(skip|queue|allow)$")] = "skip"
    misfire: Annotated[str, Field(pattern="^(skip|once|all)$")] = "once"
    enabled: Annotated[bool, Field(strict=True)] = True
    run: RunRequest


class ScheduleView(_Json):
    """A schedule. ``waiting``: times whose runs wait for the one before. ``error``: why the last start failed."""

    schedule_id: str
    workspace_id: str
    name: str
    cron: str
    timezone: str
    overlap: str
    misfire: str
    enabled: bool
    run: RunRequest
    created_at: str
    next_at: str | None
    last_at: str | None
    last_run_id: str | None
    waiting: list[str]
    error: str | None


class SchedulesView(_Json):
    """Schedules, by their workspaces and names."""

    schedules: list[ScheduleView]
