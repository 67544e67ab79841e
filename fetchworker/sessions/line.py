"""A fair line of those who wait for one thing (``lua/line_lib.lua`` has the same rules for Redis)."""

from __future__ import annotations


class Line:
    """Whoever has waited for longest is first. Times are in one unit, whichever.

    Args:
        grace: for how long somebody in the line may not ask.
    """

    def __init__(self, grace: int) -> None:
        self._grace = grace
        self._since: dict[str, int] = {}
        self._seen: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._since)

    def ahead(self, who: str, since: int, now: int) -> int:
        """How many others have waited for longer."""
        for gone in [name for name, until in self._seen.items() if until <= now]:
            self.leave(gone)
        return sum(other <= since for name, other in self._since.items() if name != who)

    def stand(self, who: str, since: int, now: int) -> None:
        """Wait, since then."""
        self._since[who], self._seen[who] = since, now + self._grace

    def leave(self, who: str) -> None:
        """Wait no longer."""
        self._since.pop(who, None)
        self._seen.pop(who, None)
