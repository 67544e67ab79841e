"""What a site's pages carry when they are served: the proof that a page is none of the refusals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

    from fetchworker.outcomes._view import View
    from fetchworker.outcomes.conditions import Condition


@dataclass(frozen=True, slots=True)
class Expectation:
    """Data of these sites' pages; those whose requested URL contains ``requested`` always have it."""

    sites: frozenset[str]
    requested: re.Pattern[str] | None
    when: Condition

    def met_by(self, view: View) -> bool:
        """Whether the data is there."""
        return self.when.holds(view)

    def due_in(self, view: View) -> bool:
        """Whether the page that was asked for always has the data."""
        return self.requested is not None and self.requested.search(view.requested) is not None
