"""The store behind the service's sessions: named ones where crawls keep theirs, those of a single call in the process.

The second kind asks nothing of Redis: a call that names no session goes on without one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.errors import ArgumentError
from fetchworker.sessions import MemorySessionStore
from fetchworker.sessions.split import SplitStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from fetchworker.sessions import SessionStore

#: seconds that a session of a call that was cut off is kept
_LIFE = 900.0


#: begins the names of sessions that are one call's
PREFIX = "call:"


def call_sessions(shared: Callable[[], Awaitable[SessionStore]]) -> SplitStore:
    """The store; the ``shared`` one is opened when it is first needed."""
    return SplitStore(MemorySessionStore(ttl=_LIFE), shared, is_own=lambda name: name.startswith(PREFIX))


def check_name(name: str) -> str:
    """``name``, if a caller may give it to a session.

    Raises:
        ArgumentError: it begins as those of single calls do.
    """
    if name.startswith(PREFIX):
        told = f"session_id: names that begin with {PREFIX!r} are the service's own"
        raise ArgumentError(told, fields=["session_id"])
    return name
