"""Identities: cookie jar, sticky exit, impersonation profile and page tokens, kept together and shared by processes."""

from fetchworker.sessions._redis_store import RedisSessionStore
from fetchworker.sessions._rules import Cookie
from fetchworker.sessions.cookies import CookieJar
from fetchworker.sessions.keys import check_session_id, session_key
from fetchworker.sessions.model import Session
from fetchworker.sessions.store import MemorySessionStore, SessionStore

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
