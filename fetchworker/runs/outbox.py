"""Brings callbacks of runs to those who asked for them: at least once, each try signed, with pauses, for a day.

A row of the outbox is made in the transaction that ends its run (:mod:`.ledger`); its id stays the same whatever comes
of the tries. A try is noted as begun before anything is sent, so that a process which is killed costs a try and no
delivery.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, update

from fetchworker.db.runtables import webhook_deliveries
from fetchworker.errors import ArgumentError, EgressDeniedError
from fetchworker.jobs.webhook import HEADER, signed
from fetchworker.runs.store import at, now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.config import Environment
    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
_W = webhook_deliveries.c
#: seconds before the second try; each pause is twice the one before, up to the longest
_FIRST, _LONGEST = 5.0, 3600.0
#: sent at once
_AT_ONCE = 8
#: bytes of an answer that are read, and tries that the log of a delivery keeps
_MOST, _KEPT = 64 * 1024, 50
_GONE = 410


class Try(NamedTuple):
    """How a try ended: with a status, or an error in words; ``final``: another one would end alike."""

    status: int | None
    error: str | None
    final: bool = False

    @property
    def taken(self) -> bool:
        """Whether the receiver has it."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004  # the successes


def pause_after(attempts: int, patience: float) -> float | None:
    """Seconds until the next try after so many; None when all pauses together would be longer than patience (pure)."""
    pauses = [min(_FIRST * 2**number, _LONGEST) for number in range(min(attempts, 1 + int(patience / _FIRST)))]
    return pauses[-1] if sum(pauses) <= patience else None


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Where callbacks may go, and how they are signed."""

    environment: Environment

    def check(self, url: str | None) -> None:
        """Refuse a callback that could never be delivered.

        Raises:
            ArgumentError: nothing would sign it, or the URL is none.
            EgressDeniedError: it may not go there.
        """
        if url is None:
            return
        from fetchworker.egress import EgressPolicy, denied  # noqa: PLC0415  # few runs have one

        if self.environment.runs_callback_secret is None:
            told = "callbackWebhook: FETCHWORKER_RUNS_CALLBACK_SECRET is not set, so that nothing would sign it"
            raise ArgumentError(told, fields=["callbackWebhook"])
        if not url.isascii() or any(char <= " " for char in url):
            raise ArgumentError("callbackWebhook: no URL; percent-encode it", fields=["callbackWebhook"])
        policy = EgressPolicy(allow=self.environment.destinations(), ports=self.environment.egress_ports)
        decision = policy.classify(url)
        if not decision.allowed:
            raise denied(decision, url, field="callbackWebhook")

    async def send(self, delivery: Row[Any]) -> Try:
        """Send a delivery once; redirects are not followed."""
        from fetchworker.download.direct import Direct, UnansweredError  # noqa: PLC0415  # curl is heavy

        secret = self.environment.runs_callback_secret
        if secret is None:
            return Try(None, "FETCHWORKER_RUNS_CALLBACK_SECRET is not set")
        body = json.dumps(delivery.body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "fetchworker",
            "X-Fetchworker-Event": delivery.event,
            "X-Fetchworker-Delivery": delivery.delivery_id,
            "X-Fetchworker-Attempt": str(delivery.attempts),
            HEADER: signed(secret.get_secret_value(), body, int(time.time())),
        }
        direct = Direct(self.environment, timeout=self.environment.runs_callback_timeout, most=_MOST)
        try:
            answer = await direct.send("POST", delivery.url, headers, body)
        except EgressDeniedError as exc:
            return Try(None, exc.message, final=True)
        except UnansweredError as exc:
            return Try(None, exc.why)
        return Try(answer.status, None, final=answer.status == _GONE)


class Outbox:
    """Delivers what is due.

    Args:
        store: the database.
        callbacks: sends.
        patience: seconds that all pauses of a delivery have together.
        lease: seconds after which a try that was begun and not ended is made again.
    """

    def __init__(self, store: RunStore, callbacks: Callbacks, *, patience: float, lease: float) -> None:
        self._store = store
        self._callbacks = callbacks
        self._patience = patience
        self._lease = lease

    async def turn(self) -> int:
        """Deliver what is due now, some at once; how many tries were made.

        Raises:
            StorageError: the database is away.
        """
        claimed = await self._store.write(self._claim)
        await asyncio.gather(*(self._deliver(one) for one in claimed))
        return len(claimed)

    async def _claim(self, connection: AsyncConnection) -> Sequence[Row[Any]]:
        """Note that tries begin; nobody else makes them for as long as they may take."""
        due = select(_W.delivery_id).where(_W.state == "pending", _W.next_at <= now()).order_by(_W.next_at)
        ids = (await connection.execute(due.limit(_AT_ONCE).with_for_update(skip_locked=True))).scalars().all()
        values = {"attempts": _W.attempts + 1, "tried_at": now(), "next_at": at(time.time() + self._lease)}
        begun = update(webhook_deliveries).where(_W.delivery_id.in_(ids)).values(values).returning(webhook_deliveries)
        return (await connection.execute(begun)).all() if ids else []

    async def _deliver(self, delivery: Row[Any]) -> None:
        started = time.monotonic()
        try:
            found = await self._callbacks.send(delivery)
        except Exception as exc:
            logger.exception("a bug of ours: a callback of run %s could not be sent", delivery.run_id)
            found = Try(None, f"an error of our own ({type(exc).__name__})")
        values = self._values(delivery, found, (time.monotonic() - started) * 1000)
        ours = (_W.delivery_id == delivery.delivery_id) & (_W.attempts == delivery.attempts)
        await self._store.execute(update(webhook_deliveries).where(ours).values(values))
        if values["state"] == "dead":
            logger.error("the callback of run %s is given up: %s", delivery.run_id, found.error or found.status)

    def _values(self, delivery: Row[Any], found: Try, milliseconds: float) -> dict[str, Any]:
        """What is written of a try that has ended."""
        tried = {"at": delivery.tried_at, "status": found.status, "error": found.error, "ms": round(milliseconds)}
        same = {"status": found.status, "error": found.error, "log": [*delivery.log, tried][-_KEPT:]}
        if found.taken:
            return {**same, "state": "delivered", "delivered_at": now(), "next_at": None}
        pause = None if found.final else pause_after(delivery.attempts, self._patience)
        if pause is None:
            return {**same, "state": "dead", "next_at": None}
        return {**same, "state": "pending", "next_at": at(time.time() + pause)}
