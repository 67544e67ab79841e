"""What is told of sessions, to people and to programs: names and numbers, never the value of a cookie or token."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from fetchworker.queueing.status import span, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.sessions import Session
    from fetchworker.sessions.pool import Standing

_HEAD = ("SITE", "SESSION", "JAR", "STATE", "USES", "SCORE", "BLOCKS", "AGE", "UNUSED", "UNTIL", "REASON")


def plain(text: str) -> str:
    """What Redis has, without characters that drive a terminal or that no text may have."""
    return text if text.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def listed(site: str, standing: Standing) -> dict[str, Any]:
    """A pooled session."""
    return {
        "site": site,
        "id": plain(standing.id),
        "pooled": True,
        "jar": plain(standing.jar),
        "state": standing.state,
        "uses": standing.uses,
        "score": standing.score,
        "blocks": standing.blocks,
        "created_at": standing.created_at,
        "used_at": standing.used_at,
        "until": standing.until,
        "owner": None if standing.owner is None else plain(standing.owner),
        "reason": None if standing.reason is None else plain(standing.reason),
        "reason_at": standing.reason_at,
    }


def named(site: str, session: Session, lock: tuple[str, float] | None = None) -> dict[str, Any]:
    """A session that somebody named; ``lock``: who has it to himself, and for how many seconds at least."""
    held = {} if lock is None else {"state": "exclusive", "owner": plain(lock[0]), "until": time.time() + lock[1]}
    return {
        "site": site,
        "id": session.id,
        "pooled": False,
        "state": "named",
        "uses": session.uses,
        "blocks": session.blocks,
        "created_at": session.created_at,
        "used_at": session.used_at,
    } | held


def shown(session: Session) -> dict[str, Any]:
    """What a stored session consists of."""
    cookies = Counter((cookie.domain, cookie.name) for cookie in session.jar)
    return {
        "identity": session.identity,
        "profile": session.profile,
        "proxy": session.proxy_id,
        "requests": session.uses,
        "refusals": session.blocks,
        "cookies": [{"domain": domain, "name": name} for domain, name in sorted(cookies)],
        "tokens": sorted(session.tokens),
    }


def lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """A table of sessions."""
    now = time.time()
    return table(_HEAD, [_row(one, now) for one in found])


def _row(one: dict[str, Any], now: float) -> list[str]:
    until = one.get("until")
    return [
        one["site"],
        one["id"],
        one.get("jar") or "-",
        one["state"],
        str(one["uses"]),
        "-" if one.get("score") is None else str(one["score"]),
        str(one["blocks"]),
        span(now - one["created_at"]),
        span(now - one["used_at"]),
        "-" if until is None else span(max(0.0, until - now)),
        one.get("reason") or "-",
    ]


def told(one: dict[str, Any]) -> list[str]:
    """One session, a fact a line."""
    facts = {name: value for name, value in one.items() if value is not None and name not in ("cookies", "tokens")}
    cookies = ", ".join(f"{cookie['name']} ({cookie['domain']})" for cookie in one.get("cookies", ())) or "none"
    facts |= {"cookies": cookies, "tokens": ", ".join(one.get("tokens", ())) or "none"}
    for name in ("created_at", "used_at", "until", "reason_at"):
        if name in facts:
            facts[name] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(facts[name]))
    width = max(map(len, facts))
    return [f"{name.ljust(width)}  {value}" for name, value in facts.items()]
