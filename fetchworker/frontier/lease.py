"""A request on lease, from when it is handed out until the queue knows what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fetchworker.frontier.entry import Child, Entry, Leased

_LONGEST_DELAY = 3600.0


class Lease:
    """One lease in this process.

    Attributes:
        token: its number in the queue.
        priority: the request's priority in the queue.
        entry: what was leased.
        open: requests of it that the engine has, or that wait here: the one that was leased and what carries it on.
        children: its further requests that were not told yet.
        staged: how many were.
        error: why it is not done; the first reason counts.
        back: whether it goes back to the queue as if nothing had happened.
    """

    __slots__ = ("back", "children", "entry", "error", "open", "priority", "staged", "token")

    def __init__(self, leased: Leased, entry: Entry) -> None:
        self.token = leased.token
        self.priority = leased.priority
        self.entry = entry
        self.open = 1
        self.children: list[Child] = []
        self.staged = 0
        self.error: BaseException | None = None
        self.back = False

    def fail(self, error: BaseException) -> None:
        """The request cannot count as done."""
        self.error = self.error or error


def delay_of(failures: int, pause: float) -> int:
    """Milliseconds until a request is tried again that has failed so often before."""
    return int(min(_LONGEST_DELAY, pause * 2.0**failures) * 1000)
