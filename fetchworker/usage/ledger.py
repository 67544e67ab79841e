"""What transfers cost, by whose work it was; in this process, until :class:`~fetchworker.usage.keeper.Keeper` sends it.

A :class:`Charge` is opened before a transfer and is told its bytes. What the answer was worth is known a moment later,
when it has been judged; a charge that nobody judges counts as what its transfer ended with.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: what stands for "none" in a part of a key: no proxy, no tier told, no stored session
NONE = "-"
#: the provider of requests that go out without a proxy
DIRECT = "direct"
#: the outcome of a transfer of which nobody said how it ended
UNJUDGED = "unjudged"
#: what stands for the sessions beyond those that are told apart
OTHERS = "(others)"


class Key(NamedTuple):
    """Whose bytes they are; the parts by which ``scrapy usage`` can group them."""

    provider: str
    tier: str
    site: str
    operation: str
    session: str
    outcome: str


@dataclass(slots=True)
class Used:
    """Bytes up and down, and how many transfers they are of."""

    up: int = 0
    down: int = 0
    transfers: int = 0

    @property
    def total(self) -> int:
        """Both ways together."""
        return self.up + self.down

    def add(self, up: int, down: int, transfers: int = 0) -> None:
        """So much more."""
        self.up += up
        self.down += down
        self.transfers += transfers


class DayKey(NamedTuple):
    """A key on a day (``yyyy-mm-dd``, UTC)."""

    day: str
    key: Key


class Charge:
    """The bytes of one transfer, with all of its tries on the way out; a tally of the download path.

    Bytes that come after it was judged (the end of its connection, say) are added under the same key.
    """

    __slots__ = ("_key", "_ledger", "_since", "_used")

    def __init__(self, ledger: Ledger, key: Key) -> None:
        self._ledger = ledger
        self._key = key
        self._used: Used | None = Used()
        self._since = 0.0

    def add(self, up: int, down: int, /) -> None:
        """So many bytes more."""
        if self._used is None:
            self._ledger.add(self._key, up, down)
        else:
            self._used.add(up, down)

    def end(self, outcome: str) -> None:
        """The transfer is over; ``outcome`` counts unless the answer is judged soon."""
        if self._used is not None:
            self._key = self._key._replace(outcome=outcome)
            self._since = self._ledger.clock()
            self._ledger.wait_for(self)

    def judge(self, outcome: str) -> None:
        """What the answer was worth; the first word counts."""
        if self._used is not None:
            self._key = self._key._replace(outcome=outcome)
            self._ledger.settle(self)

    def settled(self) -> tuple[Key, Used] | None:
        """Key and bytes, once: then it is settled. For the ledger."""
        used, self._used = self._used, None
        return None if used is None else (self._key, used)

    @property
    def key(self) -> Key:
        """Whose bytes they are, as far as that is known."""
        return self._key

    @property
    def used(self) -> Used:
        """What is not settled yet, as one transfer."""
        found = self._used or Used()
        return Used(found.up, found.down, 1 if self._used is not None else 0)

    @property
    def bytes(self) -> int:
        """What is not settled yet, both ways together."""
        return 0 if self._used is None else self._used.total

    @property
    def tier(self) -> str:
        """The tier of its proxy."""
        return self._key.tier

    @property
    def since(self) -> float:
        """When its transfer ended, by the ledger's clock."""
        return self._since


@dataclass(slots=True)
class Ledger:
    """All that a process has used and not yet handed on.

    ``clock`` (seconds) says how old a charge is, ``today`` names the day.
    """

    clock: Callable[[], float] = time.monotonic
    today: Callable[[], str] = field(default=lambda: day_of(time.time()))
    _used: dict[DayKey, Used] = field(default_factory=dict)
    _waiting: dict[Charge, None] = field(default_factory=dict)

    def open(
        self, site: str, *, operation: str, provider: str = DIRECT, tier: str = NONE, session: str = NONE
    ) -> Charge:
        """A charge for one transfer."""
        return Charge(self, Key(provider, tier, site, operation, session, UNJUDGED))

    def add(self, key: Key, up: int, down: int, transfers: int = 0) -> None:
        """Bytes of today."""
        at = DayKey(self.today(), key)
        used = self._used.get(at)
        if used is None:
            used = self._used[at] = Used()
        used.add(up, down, transfers)

    def wait_for(self, charge: Charge) -> None:
        """A transfer is over whose answer may be judged yet."""
        self._waiting[charge] = None

    def settle(self, charge: Charge) -> None:
        """Nothing more is to be said about a transfer."""
        self._waiting.pop(charge, None)
        settled = charge.settled()
        if settled is not None:
            key, used = settled
            self.add(key, used.up, used.down, 1)

    def drain(self, *, older: float = 0.0) -> dict[DayKey, Used]:
        """Hand over all that is settled; charges that wait for longer than ``older`` seconds are settled now."""
        now = self.clock()
        for charge in [charge for charge in self._waiting if now - charge.since >= older]:
            self.settle(charge)
        used, self._used = self._used, {}
        return used

    def pending(self) -> list[tuple[Key, Used]]:
        """All that is not handed over yet, of transfers that are over; it stays here."""
        settled = [(at.key, used) for at, used in self._used.items()]
        return settled + [(charge.key, charge.used) for charge in self._waiting]

    def held(self) -> Counter[str]:
        """Bytes that are not handed over yet, both ways together, by tier."""
        found: Counter[str] = Counter()
        for at, used in self._used.items():
            found[at.key.tier] += used.total
        for charge in self._waiting:
            found[charge.tier] += charge.bytes
        return found


def day_of(when: float) -> str:
    """The day (UTC) of a time in seconds since 1970."""
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d")


def tiers_of(used: Mapping[DayKey, Used], day: str) -> Counter[str]:
    """Bytes of a day by tier, both ways together (pure)."""
    found: Counter[str] = Counter()
    for at, each in used.items():
        if at.day == day:
            found[at.key.tier] += each.total
    return found
