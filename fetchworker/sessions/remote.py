"""Sessions of a pool in the hands of somebody elsewhere, such as a client of a service, who has a token for each."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import orjson

from fetchworker.errors import LeaseLostError
from fetchworker.sessions.pool import Lease
from fetchworker.sessions.poolkeys import MAIN, jar_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.sessions.hold import Hold
    from fetchworker.sessions.leases import SessionPool


#: random bytes of a token, and hex digits of the digest that stands for it
_BYTES, _DIGITS = 16, 32


class Token(NamedTuple):
    """A lease in the hands of somebody elsewhere; nobody guesses the ``secret``, which is kept nowhere."""

    lease: Lease
    secret: str

    @property
    def text(self) -> str:
        """What :meth:`of` reads."""
        return f"{self.lease.session_id}~{self.lease.number}~{self.secret}"

    @classmethod
    def of(cls, text: str) -> Token:
        """The token in a text.

        Raises:
            LeaseLostError: it is none.
        """
        session_id, number, secret = (*text.split("~", 2), "", "")[:3]
        if jar_of(session_id) is None or not re.fullmatch("[0-9]{1,18}", number) or not secret:
            raise LeaseLostError("this is no token of a lease")
        return cls(Lease(session_id, int(number)), secret)


class RemoteLeases:
    """Gives sessions out by token, which is of use to the same caller alone; times are POSIX seconds.

    The lease's owner is a digest of the caller and the token's secret, so that every process can tell whose it is.

    Args:
        pool: where they are from.
        caller: who asks, such as the name of an API key; None: nobody in particular.
    """

    def __init__(self, pool: SessionPool, *, caller: str | None = None) -> None:
        self._pool = pool
        self._caller = caller

    def _owner(self, secret: str) -> str:
        told = orjson.dumps([self._caller, secret])
        return f"remote.{hashlib.sha256(told).hexdigest()[:_DIGITS]}"

    async def _own(self, token: str) -> tuple[Lease, str]:
        """The lease that a token stands for, and its owner's name."""
        lease, secret = Token.of(token)
        owner = self._owner(secret)
        if not hmac.compare_digest(await (await self._pool.open()).owner(lease) or "", owner):
            raise LeaseLostError(f"the lease of session {lease.session_id} is over, or somebody else's")
        return lease, owner

    async def check_out(self, jar: str = MAIN, *, wait: float | None = None) -> tuple[str, float]:
        """A session: the lease's token, and when it ends unless it is extended.

        Raises:
            SessionExhaustedError: none came free in ``wait`` seconds (None: as the terms say).
        """
        secret = secrets.token_urlsafe(_BYTES)
        name = self._owner(secret)
        lease = (await self._pool.take(jar, name, wait=wait, patient=False, lent=True)).lease
        self._pool.hand_over(name)
        return Token(lease, secret).text, time.time() + self._pool.terms.lease

    async def extend(self, token: str) -> float:
        """Hold a session for longer: when the lease ends now.

        Raises:
            LeaseLostError: it is over, or somebody else's.
        """
        lease, _ = await self._own(token)
        if not (await (await self._pool.open()).extend([lease]))[0]:
            raise LeaseLostError(f"the lease of session {lease.session_id} is over")
        return time.time() + self._pool.terms.lease

    @asynccontextmanager
    async def borrowed(self, token: str) -> AsyncIterator[Hold]:
        """A session for requests of this process, as long as the block lasts; it stays with its holder.

        Raises:
            LeaseLostError: the lease is over, or somebody else's.
        """
        await self.extend(token)
        lease, owner = await self._own(token)
        hold = self._pool.take_over(f"lease~{owner}", lease)
        try:
            yield hold
        finally:
            if self._pool.held(hold.owner) is hold:
                self._pool.hand_over(hold.owner)

    async def check_in(
        self, token: str, *, good: int = 0, bad: int = 0, quarantine: str | None = None, seconds: float | None = None
    ) -> None:
        """Give a session back, or take it out of use for the reason in ``quarantine``.

        ``seconds``: for how long (None: as the terms say; 0: for good).

        Raises:
            LeaseLostError: the lease is over, or somebody else's.
        """
        (lease, _), backend = await self._own(token), await self._pool.open()
        if quarantine is None:
            counted, dropped = await backend.put(lease, good=good, bad=bad)
        else:
            counted, gone = await backend.quarantine(lease, quarantine, seconds=seconds)
            dropped = (lease.session_id,) if gone else ()
        await self._pool.came_back(dropped)
        if not counted:
            raise LeaseLostError(f"the lease of session {lease.session_id} is over")
