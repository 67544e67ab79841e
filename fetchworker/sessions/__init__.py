"""Identities: cookie jar, sticky exit, impersonation profile and page tokens, kept together and shared by processes.

The store in Redis is imported at its first use: Redis's library costs some 50 ms, which listing spiders need not pay.
"""

from typing import TYPE_CHECKING, Any

from fetchworker.sessions._rules import Cookie
from fetchworker.sessions.cookies import CookieJar
from fetchworker.sessions.keys import check_session_id, session_key
from fetchworker.sessions.model import Session
from fetchworker.sessions.store import MemorySessionStore, SessionStore

if TYPE_CHECKING:
    from fetchworker.sessions._redis_store import RedisSessionStore

__all__ = [
    "Cookie",
    "CookieJar",
    "MemorySessionStore",
    "RedisSessionStore",
    "Session",
    "SessionStore",
    "check_session_id",
    "session_key",
]


def __getattr__(name: str) -> Any:
    if name != "RedisSessionStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fetchworker.sessions._redis_store import RedisSessionStore  # noqa: PLC0415  # see above

    return RedisSessionStore
