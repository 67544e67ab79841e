"""What one crawl has cost, by operation and way out, and which stored sessions it used: what a job tells at its end.

It holds names and numbers: no cookie, no token, no credential of a proxy.
"""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from fetchworker.usage.ledger import NONE, OTHERS, Key, Used

if TYPE_CHECKING:
    from collections.abc import Iterable

#: sessions that are told apart, and the ways out of each
_SESSIONS, _EXITS = 100, 100


class Way(NamedTuple):
    """By what a crawl's cost is told."""

    operation: str
    provider: str
    tier: str


class Exit(NamedTuple):
    """A way out as logs name it; ``country`` is its ISO code, None where it is not known."""

    label: str
    country: str | None = None


@dataclass(slots=True)
class _Session:
    used: Used = field(default_factory=Used)
    outcomes: Counter[str] = field(default_factory=Counter)
    provider: str = NONE
    tier: str = NONE
    exit: Exit | None = None
    exits: set[str] = field(default_factory=set)


class Account:
    """The sums of one crawl.

    Args:
        site: whose crawl it is.
    """

    def __init__(self, site: str) -> None:
        self._site = site
        self._ways: dict[Way, Used] = {}
        self._browsed: Counter[Way] = Counter()
        self._sessions: dict[str, _Session] = {}

    def add(self, key: Key, used: Used) -> None:
        """So much more, of transfers that are over."""
        self._ways.setdefault(_way(key), Used()).add(used.up, used.down, used.transfers)
        if key.session != NONE:
            session = self._session(key.session)
            session.used.add(used.up, used.down, used.transfers)
            session.outcomes[key.outcome] += used.transfers
            session.provider, session.tier = key.provider, key.tier

    def browse(self, key: Key, seconds: float) -> None:
        """A page was in a browser for so long."""
        self._browsed[_way(key)] += round(seconds * 1000)

    def leave(self, name: str, exit_: Exit | None) -> None:
        """A stored session is about to use this way out, None: it goes directly."""
        session = self._session(name)
        session.exit = exit_
        if exit_ is not None and len(session.exits) < _EXITS:
            session.exits.add(exit_.label)

    def told(self, pending: Iterable[tuple[Key, Used]] = ()) -> dict[str, Any]:
        """All of it as plain values, with what is not added yet."""
        whole = deepcopy(self)
        for key, used in pending:
            whole.add(key, used)
        return whole._plain()  # noqa: SLF001  # it is one of these

    def _plain(self) -> dict[str, Any]:
        ways = sorted(self._ways.keys() | self._browsed.keys())
        return {
            "site": self._site,
            "costs": [_cost(way, self._ways.get(way, Used()), self._browsed[way]) for way in ways],
            "sessions": [_told(name, session) for name, session in sorted(self._sessions.items())],
        }

    def _session(self, name: str) -> _Session:
        known = name in self._sessions or len(self._sessions) < _SESSIONS
        return self._sessions.setdefault(name if known else OTHERS, _Session())


def _way(key: Key) -> Way:
    return Way(key.operation, key.provider, key.tier)


def _cost(way: Way, used: Used, browser_ms: int) -> dict[str, Any]:
    return {**way._asdict(), **_sums(used), "browser_ms": browser_ms}


def _told(name: str, session: _Session) -> dict[str, Any]:
    out = session.exit
    return {
        "session_id": name,
        "provider": session.provider,
        "tier": session.tier,
        "exit": out.label if out is not None else None,
        "country": out.country if out is not None else None,
        "exits": len(session.exits),
        "outcomes": dict(sorted(session.outcomes.items())),
        **_sums(session.used),
    }


def _sums(used: Used) -> dict[str, int]:
    return {"requests": used.transfers, "bytes_up": used.up, "bytes_down": used.down}
