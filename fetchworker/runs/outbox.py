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
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, update

from fetchworker.db.runtables import webhook_deliveries
from fetchworker.errors import ArgumentError, EgressDeniedError, StorageError
from fetchworker.jobs.webhook import HEADER, signed
from fetchworker.runs.store import at, now
from fetchworker.tasks import end, within

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
#: sent at once, and seconds between two looks for more while places are free
_AT_ONCE, _LOOK = 8, 1.0
#: bytes of an answer that are read, and tries that the log of a delivery keeps
_MOST, _KEPT = 64 * 1024, 50
_GONE = 410
#: seconds that an ended process has to say that a try of its own is over
_ENDING = 0.8


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
        """Deliver what is due, until nothing is: the next one begins as one ends; how many tries were made.

        Raises:
            StorageError: the database is away; what was claimed is tried again after the lease.
        """
        tries = 0
        under_way: set[asyncio.Task[None]] = set()
        try:
            while (claimed := await self._next(_AT_ONCE - len(under_way))) or under_way:
                tries += len(claimed)
                under_way |= {asyncio.create_task(self._deliver(one)) for one in claimed}
                wait = None if len(under_way) == _AT_ONCE else _LOOK
                done, under_way = await asyncio.wait(under_way, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:
            await end(*under_way)
        return tries

    async def _next(self, most: int) -> Sequence[Row[Any]]:
        """So many that are due, at most."""
        return await self._store.write(partial(self._claim, most=most)) if most else ()

    async def _claim(self, connection: AsyncConnection, most: int) -> Sequence[Row[Any]]:
        """Note that tries begin; nobody else makes them for as long as they may take."""
        due = select(_W.delivery_id).where(_W.state == "pending", _W.next_at <= now()).order_by(_W.next_at)
        ids = (await connection.execute(due.limit(most).with_for_update(skip_locked=True))).scalars().all()
        values = {"attempts": _W.attempts + 1, "tried_at": now(), "next_at": at(time.time() + self._lease)}
        begun = update(webhook_deliveries).where(_W.delivery_id.in_(ids)).values(values).returning(webhook_deliveries)
        return (await connection.execute(begun)).all() if ids else []

    async def _deliver(self, delivery: Row[Any]) -> None:
        try:
            values = await self._tried(delivery)
            await self._note(delivery, values)
        except asyncio.CancelledError:
            with suppress(StorageError):  # then the next try waits for the lease
                await within(_ENDING, self._note(delivery, {"next_at": now()}), "a callback that was under way")
            raise
        if values["state"] == "dead":
            told = values["error"] or values["status"]
            logger.error("the callback of run %s is given up: %s", delivery.run_id, told)

    async def _tried(self, delivery: Row[Any]) -> dict[str, Any]:
        """Make a try; what is to be written of it."""
        started = time.monotonic()
        try:
            found = await self._callbacks.send(delivery)
        except Exception as exc:
            logger.exception("a bug of ours: a callback of run %s could not be sent", delivery.run_id)
            found = Try(None, f"an error of our own ({type(exc).__name__})")
        return self._values(delivery, found, (time.monotonic() - started) * 1000)

    async def _note(self, delivery: Row[Any], values: dict[str, Any]) -> None:
        """Write of a try that is still ours, and whose delivery has no end yet."""
        ours = (_W.delivery_id == delivery.delivery_id) & (_W.attempts == delivery.attempts) & (_W.state == "pending")
        await self._store.execute(update(webhook_deliveries).where(ours).values(values))

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
