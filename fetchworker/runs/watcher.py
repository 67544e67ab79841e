"""One look at a run: what its nodes say, and all that follows from it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fetchworker.errors import PlatformError
from fetchworker.platforms import JobState, JobStatus, Placement
from fetchworker.runs.ingest import Source
from fetchworker.runs.models import ENDED
from fetchworker.runs.states import Ended, ended_as, judged
from fetchworker.runs.store import now, posix

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Row

    from fetchworker.platforms import Platform
    from fetchworker.runs.ingest import Ingest
    from fetchworker.runs.ledger import Ledger
    from fetchworker.runs.spawner import Spawner
    from fetchworker.runs.terms import Terms

logger = logging.getLogger(__name__)
#: seconds until the next look after something was begun or told to end
SOON = 1.0
#: seconds until the next look when more attempts are to be spawned
MORE = 0.1


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be done after a look: nothing any more, or another one in so many seconds."""

    done: bool
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class Parts:
    """What looking at runs needs.

    ``told`` and ``unread``: attempt → when it was told to end, and since when it cannot be read or found (monotonic).
    """

    ledger: Ledger
    platform: Platform
    spawner: Spawner
    ingest: Ingest
    terms: Terms
    told: dict[str, float] = field(default_factory=dict)
    unread: dict[str, float] = field(default_factory=dict)


class Watcher:
    """Looks at runs."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def look(self, run_id: str) -> Look:
        """Look at a run once.

        Raises:
            StorageError: the database is away; nothing is half done.
        """
        picture = await self._parts.ledger.picture(run_id)
        if picture is None or picture.run.state in ENDED:
            return Look(done=True)
        run, work = picture
        deadline = await self._deadline(run)
        stop = "abort" if run.abort_at else "deadline" if time.time() >= deadline else None
        turn = _Turn(self._parts, run, stop)
        await turn.watch([attempt for attempt in work if attempt.node is not None])
        await turn.begin([attempt for attempt in work if attempt.node is None or attempt.attempt_id in turn.unasked])
        if turn.over == len(work) and await turn.finish():
            return Look(done=True)
        tick = self._parts.terms.tick
        wait = min(SOON, tick) if turn.soon or stop else tick
        wait = min(MORE, wait) if turn.more else wait
        left = deadline - time.time()
        return Look(done=False, wait=min(wait, left) if left > 0 else wait)

    async def _deadline(self, run: Row[Any]) -> float:
        if run.deadline_at is not None:
            return posix(run.deadline_at)
        deadline = time.time() + self._parts.terms.tick * self._parts.terms.ticks
        await self._parts.ledger.begun(run.run_id, deadline)
        return deadline


class _Turn:
    """The parts of one look.

    ``over``: attempts whose jobs have ended in it; ``unasked``: attempts whose nodes were to be asked to take them, and
    have not heard of them; ``soon``: it should be looked again, ``more``: at once.
    """

    def __init__(self, parts: Parts, run: Row[Any], stop: str | None) -> None:
        self._parts = parts
        self._ledger = parts.ledger
        self._platform = parts.platform
        self._terms = parts.terms
        self._run = run
        self._stop = stop
        self.over = 0
        self.unasked: set[str] = set()
        self.soon = self.more = False

    # ── attempts that are on a node ──────────────────────────────────────────────────────────────────────────────

    async def watch(self, attempts: Sequence[Row[Any]]) -> None:
        """See how attempts are that nodes have."""
        nodes: dict[str, list[Row[Any]]] = defaultdict(list)
        for attempt in attempts:
            nodes[attempt.node].append(attempt)
        await asyncio.gather(*(self._node(node, mine) for node, mine in nodes.items()))

    async def _node(self, node: str, attempts: Sequence[Row[Any]]) -> None:
        statuses: Mapping[str, JobStatus] | None
        try:
            statuses = await self._platform.statuses(node, [attempt.attempt_id for attempt in attempts])
        except PlatformError as exc:
            logger.warning("node %s, %d jobs of run %s: %s", node, len(attempts), self._run.run_id, exc)
            statuses = None
        attempts = await self._found(attempts, statuses)
        await self._heard(attempts, statuses)
        left: list[Row[Any]] = []
        running: list[tuple[Row[Any], JobStatus]] = []
        for attempt in attempts:
            status = None if statuses is None else statuses.get(attempt.attempt_id, _unknown(attempt))
            verdict = judged(status, silent_for=_silent_for(attempt), lease=self._terms.lease)
            if verdict == "lost":
                await self._lost(attempt, _why_lost(attempt, status, self._terms.lease))
            elif verdict == "ended" and status is not None:
                await self._ended(attempt, status)
            else:
                left.append(attempt)
                if verdict == "running" and status is not None:
                    running.append((attempt, status))
        await self._running(running)
        if self._stop is not None:
            await self._end(left)

    async def _found(
        self, attempts: Sequence[Row[Any]], statuses: Mapping[str, JobStatus] | None
    ) -> Sequence[Row[Any]]:
        """Settle which of the attempts a node has that was about to be asked to take them; those that are there."""
        doubted = [attempt for attempt in attempts if attempt.state == "spawning"]
        if statuses is None or not doubted:
            return attempts
        there = [attempt for attempt in doubted if not _is_unknown(statuses, attempt)]
        if there:
            placed = [(each, Placement(each.attempt_id, each.node, fresh=False)) for each in there]
            await self._ledger.spawned(self._run.run_id, placed)
        self.unasked |= {attempt.attempt_id for attempt in doubted if _is_unknown(statuses, attempt)}
        return [attempt for attempt in attempts if attempt.attempt_id not in self.unasked]

    async def _heard(self, attempts: Sequence[Row[Any]], statuses: Mapping[str, JobStatus] | None) -> None:
        """Write down of which attempts a node says nothing any more, or something again."""
        told = {each.attempt_id for each in attempts if statuses is not None and not _is_unknown(statuses, each)}
        fresh = [each for each in attempts if each.silent_at is None and each.attempt_id not in told]
        back = [each for each in attempts if each.silent_at is not None and each.attempt_id in told]
        if fresh:
            type_ = "node_silent" if statuses is None else "job_unknown"
            await self._ledger.silence(self._run.run_id, fresh, now(), type_)
        if back:
            await self._ledger.silence(self._run.run_id, back, None, "node_back")

    async def _running(self, running: Sequence[tuple[Row[Any], JobStatus]]) -> None:
        fresh = [(attempt, status) for attempt, status in running if attempt.state != "running"]
        if fresh:
            await self._ledger.running(self._run.run_id, fresh)
        for attempt, status in running:
            if status.items_bytes > attempt.items_offset:
                await self._bring(attempt, whole=False)

    async def _bring(self, attempt: Row[Any], *, whole: bool) -> str | None:
        """Bring lines home; why not, when they cannot be read."""
        where = (attempt.run_id, attempt.job_id, attempt.attempt_id, attempt.node, attempt.items_offset)
        try:
            await self._parts.ingest.bring(Source(*where), whole=whole)
        except PlatformError as exc:
            logger.warning("%s: its lines cannot be read now: %s", attempt.attempt_id, exc)
            return str(exc)
        return None

    async def _ended(self, attempt: Row[Any], status: JobStatus) -> None:
        """An attempt has ended: its job ends when all its lines are home."""
        unread = self._parts.unread
        why = await self._bring(attempt, whole=True)
        if why is not None:
            since = unread.setdefault(attempt.attempt_id, time.monotonic())
            self.soon = True
            if time.monotonic() - since >= self._terms.lease:
                unread.pop(attempt.attempt_id, None)
                await self._lost(attempt, f"it has ended, and its lines cannot be read: {why}", status)
            return
        unread.pop(attempt.attempt_id, None)
        if status.interrupted and await self._anew(attempt, "; ".join(status.reasons), "killed", status):
            return
        end = ended_as(status.exit_cause or "failed", status.reasons, attempt.stop_why)
        await self._ledger.ended(attempt, end, status)
        self._over(attempt)

    async def _lost(self, attempt: Row[Any], reason: str, status: JobStatus | None = None) -> None:
        if not await self._anew(attempt, reason, "lost", status):
            await self._ledger.ended(attempt, Ended("failed", "lost", (reason,)), status)
            self._over(attempt)

    async def _anew(self, attempt: Row[Any], reason: str, cause: str, status: JobStatus | None) -> bool:
        """Have a job begun anew that did not end by itself, as long as it may be; whether it is."""
        again = self._stop is None and self._terms.respawn
        most = self._terms.attempts
        if not again or not await self._ledger.respawned(attempt, reason, most, cause=cause, status=status):
            return False
        self.soon = True
        return True

    def _over(self, attempt: Row[Any]) -> None:
        self._parts.told.pop(attempt.attempt_id, None)
        self.over += 1

    # ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _end(self, attempts: Sequence[Row[Any]]) -> None:
        """Tell attempts to end; again, should the first time have been lost."""
        told = self._parts.told
        assert self._stop is not None
        untold = [attempt for attempt in attempts if attempt.stop_why is None]
        if untold:
            await self._ledger.stopping(self._run.run_id, untold, self._stop)
        moment = time.monotonic()
        due = [each for each in attempts if moment - told.get(each.attempt_id, -1e9) > self._terms.grace + 5]
        await asyncio.gather(*(self._cancel(attempt) for attempt in due))

    async def _cancel(self, attempt: Row[Any]) -> None:
        try:
            await self._platform.cancel(attempt.node, attempt.attempt_id, grace=self._terms.grace)
        except PlatformError as exc:
            logger.warning("%s cannot be told to end now: %s", attempt.attempt_id, exc)
            return
        self._parts.told[attempt.attempt_id] = time.monotonic()

    async def finish(self) -> bool:
        """End the run, whose jobs have all ended; whether it has. An abort waits for what lost attempts have left."""
        told = []
        for attempt in await self._ledger.astray(self._run.run_id) if self._run.abort_at else ():
            try:
                if not await self._gone(attempt):
                    self.soon = True
                    return False
            except PlatformError:
                told.append(f"{attempt.attempt_id} was lost and may run still: its node {attempt.node} does not answer")
        return await self._ledger.finished(self._run.run_id, told)

    async def _gone(self, attempt: Row[Any]) -> bool:
        """Whether a lost attempt does nothing any more on its node, which is back; it is told to end."""
        statuses = await self._platform.statuses(attempt.node, [attempt.attempt_id])
        if not _is_unknown(statuses, attempt) and statuses[attempt.attempt_id].state is not JobState.ENDED:
            moment = time.monotonic()
            if moment - self._parts.told.get(attempt.attempt_id, -1e9) > self._terms.grace + 5:
                await self._cancel(attempt)
            return False
        self._parts.told.pop(attempt.attempt_id, None)
        await self._ledger.cleared(attempt, statuses.get(attempt.attempt_id, _unknown(attempt)))
        return True

    # ── attempts that no node has ────────────────────────────────────────────────────────────────────────────────

    async def begin(self, attempts: Sequence[Row[Any]]) -> None:
        """Spawn attempts, or end those that need not be begun."""
        if self._stop is None:
            if attempts:
                found = await self._parts.spawner.spawn(self._run, attempts)
                self.soon, self.more = self.soon or found.taken > 0 or found.doubted > 0, found.more
            return
        for attempt in attempts:
            if attempt.state == "queued" or await self._nowhere(attempt):
                await self._ledger.ended(attempt, _unbegun(self._stop, attempt), None)
                self.over += 1

    async def _nowhere(self, attempt: Row[Any]) -> bool:
        """Whether no node has an attempt that may have been spawned just before we were killed."""
        if attempt.node is not None:  # it has said so; a request that was on its way then has come by the next look
            first = self._parts.unread.setdefault(attempt.attempt_id, time.monotonic())
            return time.monotonic() - first >= SOON
        nodes = await self._platform.nodes()
        silent = [node for node in nodes if not node.up]
        for node in nodes:
            if not node.up:
                continue
            try:
                status = (await self._platform.statuses(node.name, [attempt.attempt_id])).get(attempt.attempt_id)
            except PlatformError:
                silent.append(node)
                continue
            if status is not None and status.state is not JobState.UNKNOWN:
                placement = Placement(attempt.attempt_id, node.name, fresh=False)
                await self._ledger.spawned(self._run.run_id, [(attempt, placement)])
                return False
        return not silent or await self._given_up(attempt)

    async def _given_up(self, attempt: Row[Any]) -> bool:
        """Whether the nodes that are down have been so for the lease: then the attempt is lost."""
        since = self._parts.unread.setdefault(attempt.attempt_id, time.monotonic())
        if time.monotonic() - since >= self._terms.lease:
            await self._lost(attempt, "a node that may have begun it does not answer")
        return False


def _is_unknown(statuses: Mapping[str, JobStatus], attempt: Row[Any]) -> bool:
    status = statuses.get(attempt.attempt_id)
    return status is None or status.state is JobState.UNKNOWN


def _unknown(attempt: Row[Any]) -> JobStatus:
    return JobStatus(attempt.attempt_id, JobState.UNKNOWN)


def _silent_for(attempt: Row[Any]) -> float | None:
    return 0.0 if attempt.silent_at is None else time.time() - posix(attempt.silent_at)


def _why_lost(attempt: Row[Any], status: JobStatus | None, lease: float) -> str:
    if status is None:
        return f"its node {attempt.node} has not answered for {lease:g} s; whether it runs is not known"
    return f"its node {attempt.node} has not known it for {lease:g} s"


def _unbegun(stop: str, attempt: Row[Any]) -> Ended:
    if stop == "abort":
        return Ended("aborted", "aborted", ("it had not been begun",))
    return Ended("timed_out", "timed_out", ("no node took it in the time that the run had", *attempt.reasons))
