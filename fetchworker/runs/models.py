"""What a run is asked for with, and what is told of it: JSON in camelCase, as ``POST /runs`` has it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:@-]*$")]
Tag = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
State = Literal["queued", "spawning", "running", "partial", "succeeded", "failed", "timed_out", "aborted"]
#: states that are ends
ENDED: frozenset[str] = frozenset({"partial", "succeeded", "failed", "timed_out", "aborted"})


#: what pydantic calls the kinds of an input
_KINDS = ("dict[str,any]", "str")


def place_of(loc: tuple[int | str, ...]) -> str:
    """Where a field stands, as ``runs[2].input`` (pure)."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc if part not in _KINDS]
    return "".join(parts).removeprefix(".")


class _Json(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )


class RunOptions(_Json):
    """What a job may use. ``memoryMb``: resident memory of its processes together. ``timeoutSec``: from its start."""

    memory_mb: Annotated[int, Field(strict=True, ge=32, le=1_048_576)] | None = None
    timeout_sec: Annotated[float, Field(strict=True, gt=0, le=604_800)] | None = None
    priority: Annotated[float, Field(strict=True, ge=-1000, le=1000)] = 0.0
    node_tags: Annotated[list[Tag], Field(max_length=16)] = []


class RunJob(_Json):
    """One entry of ``runs``: a spider and what it is to do.

    ``input`` is what a seed of the spider may be: an object of arguments, or an http(s) address. An object with
    ``seeds`` alone, a list of such, makes one job of each.
    """

    actor: Annotated[str, Field(min_length=1, max_length=128)]
    input: dict[str, Any] | str
    options: RunOptions = RunOptions()


class RunRequest(_Json):
    """The body of ``POST /runs``."""

    workspace_id: Name
    conversation_id: Name | None = None
    skill_id: Name | None = None
    callback_webhook: Annotated[str, Field(max_length=2048)] | None = None
    runs: Annotated[list[RunJob], Field(min_length=1)]


class UsageSums(_Json):
    """What was used: tries, bytes as docs/usage.md counts them, and milliseconds that pages were in a browser."""

    requests: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    browser_ms: int = 0


class WayView(UsageSums):
    """The same for one operation and way out."""

    site: str
    operation: str
    provider: str
    tier: str


class UsageView(UsageSums):
    """What the ended attempts of a run have used, and by which ways."""

    by: list[WayView]


class SessionView(_Json):
    """A stored session that an attempt has used; ``exit`` is its last way out, of ``exits`` in all."""

    job_id: str
    attempt_id: str
    site: str
    session_id: str
    provider: str
    tier: str
    exit: str | None
    country: str | None
    exits: int
    requests: int
    bytes_up: int
    bytes_down: int
    outcomes: dict[str, int]


class JobView(_Json):
    """A job of a run. Times are ISO-8601 in UTC, sizes bytes."""

    job_id: str
    number: int
    actor: str
    input: dict[str, Any] | str
    options: RunOptions
    state: State
    exit_cause: str | None
    reasons: list[str]
    attempt: int
    node: str | None
    exit_code: int | None
    signal: int | None
    peak_rss: int | None
    items: int
    rejects: int
    usage: UsageSums
    created_at: str
    started_at: str | None
    ended_at: str | None


class RunView(_Json):
    """A run. ``exitCauses`` counts its jobs; ``jobList`` and ``usage`` are there where one run is asked for."""

    run_id: str
    workspace_id: str
    conversation_id: str | None
    skill_id: str | None
    state: State
    aborting: bool
    reasons: list[str]
    exit_causes: dict[str, int]
    jobs: int
    items: int
    rejects: int
    generation: int
    version: str
    created_at: str
    started_at: str | None
    deadline_at: str | None
    ended_at: str | None
    usage: UsageView | None = None
    job_list: list[JobView] | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen to it by itself."""
        return self.state in ENDED


class EventView(_Json):
    """A change. ``seq`` numbers the events of a run."""

    seq: int
    at: str
    type: str
    job_id: str | None
    attempt: int | None
    state_from: str | None
    state_to: str | None
    detail: dict[str, Any]


class RejectView(_Json):
    """A line of a job's data set that is no item: where it began, why it was refused, and its beginning."""

    job_id: str
    attempt_id: str
    line_offset: int
    line_bytes: int
    reason: str
    line: str


class Row(_Json):
    """A row of a data set: the item as its line has it, and where it belongs. ``seq`` numbers the rows of a run."""

    run_id: str
    seq: int
    item_id: str
    job_id: str
    workspace_id: str
    conversation_id: str | None
    skill_id: str | None
    item: dict[str, Any]


class RunPage(_Json):
    """Runs, the newest first. ``next`` is what the next page is asked for with; none after the last."""

    runs: list[RunView]
    next: str | None


class RowPage(_Json):
    """Rows in their order. ``next`` is the number to ask for the next page with; none when there is no row yet."""

    rows: list[Row]
    next: int | None


class EventPage(_Json):
    """Events in their order; ``next`` as for rows."""

    events: list[EventView]
    next: int | None


class DeliveryView(_Json):
    """A callback: ``state`` is pending, delivered or dead; ``tries`` are the latest of them."""

    delivery_id: str
    run_id: str
    workspace_id: str
    url: str
    event: str
    state: str
    attempts: int
    created_at: str
    next_at: str | None
    tried_at: str | None
    delivered_at: str | None
    status: int | None
    error: str | None
    tries: list[dict[str, Any]]


class DeliveryPage(_Json):
    """Callbacks, those of the newest runs first; ``next`` as for runs."""

    deliveries: list[DeliveryView]
    next: str | None
