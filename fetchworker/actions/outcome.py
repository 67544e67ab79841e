"""What has become of the actions of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

#: what failed (REQUIREMENTS: a failure keeps its layer)
Layer = Literal[
    "target_policy", "navigation", "action", "assertion", "schema", "browser_process", "deadline", "size", "artifact"
]


@dataclass(slots=True)
class ActionOutcome:
    """One action. ``ms``: milliseconds; ``value``: what came of it; ``artifact``: the id of what was kept."""

    index: int
    type: str
    name: str | None = None
    outcome: Literal["ok", "failed", "skipped"] = "skipped"
    ms: float | None = None
    layer: Layer | None = None
    error: str | None = None
    value: Any = None
    artifact: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Its fields, without those that are of no interest."""
        told = {name: getattr(self, name) for name in self.__slots__}
        kept = ("index", "type", "outcome", "ms")
        return {name: value for name, value in told.items() if name in kept or value is not None}

    def line(self) -> str:
        """The same for a terminal."""
        name = f" {self.name}" if self.name else ""
        took = f" {self.ms:.0f} ms" if self.ms is not None else ""
        why = f"  {self.layer}: {self.error}" if self.outcome == "failed" else ""
        kept = f"  artifact {self.artifact}" if self.artifact else ""
        return f"[{self.index}] {self.type}{name}: {self.outcome}{took}{why}{kept}"


@dataclass(slots=True)
class Report:
    """A run of actions.

    ``actions`` has one for each action; ``artifacts`` are kept beside those of single actions, kind → id; ``problems``
    are artifacts that could not be kept.
    """

    actions: list[ActionOutcome] = field(default_factory=list)
    artifacts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether an action was done, well or not."""
        return any(one.outcome != "skipped" for one in self.actions)

    @property
    def failed(self) -> ActionOutcome | None:
        """The first action that failed."""
        return next((one for one in self.actions if one.outcome == "failed"), None)

    @property
    def extracted(self) -> dict[str, Any]:
        """What was extracted, by the fields' names; of the same name the last one."""
        found: dict[str, Any] = {}
        for one in self.actions:
            if one.type == "extract" and isinstance(one.value, dict):
                found |= one.value
        return found
