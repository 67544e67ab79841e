"""What is known of an artifact (pure)."""

from __future__ import annotations

import re
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

from fetchworker.telemetry.redaction import hide_userinfo, redact

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["screenshot", "pdf", "trace", "har", "html", "warc", "bundle"]
KINDS: tuple[str, ...] = get_args(Kind)
_ID = re.compile(r"\d{20}-[0-9a-f]{8}")


def is_id(text: str) -> bool:
    """Whether this can be the id of an artifact."""
    return _ID.fullmatch(text) is not None


def new_id(now: datetime) -> str:
    """An id that sorts by time."""
    return f"{now.astimezone(UTC):%Y%m%d%H%M%S%f}-{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class ArtifactContext:
    """Where an artifact comes from: what it can be found by.

    ``more`` is kept as it is given, as JSON; it must not hold secrets.
    """

    site: str | None = None
    operation: str | None = None
    request_id: str | None = None
    run_id: str | None = None
    job_id: str | None = None
    session: str | None = None
    workspace: str | None = None
    url: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def safe(self) -> dict[str, Any]:
        """The fields without credentials in the address."""
        told = {name: getattr(self, name) for name in FOUND_BY}
        told["url"] = redact(hide_userinfo(self.url)) if self.url else None
        return {**told, "about": dict(self.more)}


#: fields that an artifact can be found by
FOUND_BY = ("site", "operation", "request_id", "run_id", "job_id", "session", "workspace", "url")


@dataclass(frozen=True, slots=True)
class Artifact:
    """One artifact. Times as items write them; ``size`` in bytes; ``place`` is the object in the store."""

    id: str
    kind: str
    sha256: str
    size: int
    media_type: str
    created_at: str
    expires_at: str
    place: str
    site: str | None = None
    operation: str | None = None
    request_id: str | None = None
    run_id: str | None = None
    job_id: str | None = None
    session: str | None = None
    workspace: str | None = None
    url: str | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """All of it, as it is stored."""
        return asdict(self)

    def to_json(self) -> dict[str, Any]:
        """What users are told: all but where the bytes are."""
        told = self.row()
        del told["place"]
        return told

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """What :meth:`row` gave. Fields of a newer version are left out."""
        return cls(**{name: row[name] for name in cls.__slots__ if name in row})


class Filters(NamedTuple):
    """Which artifacts are meant: those for which everything that is given holds."""

    kind: str | None = None
    site: str | None = None
    operation: str | None = None
    request_id: str | None = None
    run_id: str | None = None
    job_id: str | None = None
    session: str | None = None
    workspace: str | None = None
    sha256: str | None = None

    def given(self) -> dict[str, str]:
        """Those that are given."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def hold(self, artifact: Artifact) -> bool:
        """Whether they hold for an artifact."""
        return all(getattr(artifact, name) == value for name, value in self.given().items())


class Entry(NamedTuple):
    """What keeping and dropping needs to know of an artifact. ``expires``: POSIX seconds."""

    id: str
    sha256: str
    size: int
    expires: float


def instant_of(now: datetime) -> str:
    """A time as items write it."""
    return now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
