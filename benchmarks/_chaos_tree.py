"""The site of the chaos run: what its pages list, and which tries fail (pure; all follows from the numbers).

``/page/<n>``: page n of a tree, with its children; some pages list others again, their parent or themselves.
``/leaf/<n>``: asked for once by page n, with ``dont_filter``: nothing but the frontier keeps it from coming twice.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

FANOUT = 4
_FAULTS = ("unavailable", "reset", "truncated", "slow")
#: tries of one page that may fail one after the other
_IN_A_ROW = 2
_LATE = 8  # of so many slow answers one outlasts the lease


def _draw(*what: object) -> float:
    """A number from 0 to 1 that follows from the arguments."""
    return int.from_bytes(hashlib.blake2b(repr(what).encode(), digest_size=8).digest()) / 2**64


@dataclass(frozen=True, slots=True)
class Tree:
    """Pages 0 to ``pages - 1``; ``faults`` is the share of tries that fail, ``seed`` picks which."""

    pages: int
    faults: float = 0.3
    seed: int = 0

    def children(self, page: int) -> list[int]:
        first = page * FANOUT + 1
        return [number for number in range(first, first + FANOUT) if number < self.pages]

    def links(self, page: int) -> list[int]:
        """Children, and for two of three pages links that others have as well."""
        listed = self.children(page)
        if page % 3:
            listed += [int(_draw(self.seed, "link", page, place) * self.pages) for place in range(3)]
            listed += [page, max(page - 1, 0) // FANOUT]
        return listed

    def has_leaf(self, page: int) -> bool:
        return page % 5 == 2

    def leaves(self) -> list[int]:
        return [page for page in range(self.pages) if self.has_leaf(page)]

    def paths(self) -> list[str]:
        """All that there is to fetch."""
        return [f"/page/{page}" for page in range(self.pages)] + [f"/leaf/{page}" for page in self.leaves()]

    def fault(self, path: str, attempt: int) -> str | None:
        """How this try goes wrong, None when it goes well; attempts count from 0."""
        if not self._hit(path, attempt):
            return None
        if all(self._hit(path, before) for before in range(attempt - _IN_A_ROW, attempt)):
            return None
        return _FAULTS[int(_draw(self.seed, "kind", path, attempt) * len(_FAULTS))]

    def _hit(self, path: str, attempt: int) -> bool:
        return attempt >= 0 and _draw(self.seed, "fault", path, attempt) < self.faults

    def delay(self, path: str, attempt: int, lease: float) -> float:
        """Seconds that a slow answer takes."""
        late = _draw(self.seed, "late", path, attempt) * _LATE < 1
        return lease * 1.5 if late else 0.3
