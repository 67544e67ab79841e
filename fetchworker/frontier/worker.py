"""One worker of a namespace: leases ahead, tells what became of requests, keeps its leases alive.

All traffic with Redis is made by one task, in the background: the engine's path only touches what is in memory. What
could not be told because Redis is away is told when it is back, in the same order and at most once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from fetchworker.errors import CorruptEntryError, RedisUnavailableError
from fetchworker.frontier.bell import Bell
from fetchworker.frontier.entry import Move
from fetchworker.frontier.lease import Lease
from fetchworker.frontier.lull import Lull
from fetchworker.frontier.outbox import Outbox
from fetchworker.frontier.vigil import AWAY
from fetchworker.tasks import end

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from fetchworker.frontier.entry import Answer, Child, Leased, News, Numbered, State
    from fetchworker.frontier.store import Frontier
    from fetchworker.frontier.vigil import Vigil
    from fetchworker.redis import Client

    T = TypeVar("T")

logger = logging.getLogger(__name__)

#: seconds that news gathers before it is told
GATHER = 0.003


class Worker:
    """One process at a namespace.

    Args:
        frontier: the queue.
        redis: its client, which other spiders of the process share.
        vigil: waits for a Redis that is away.
        ahead: requests to keep ready.
        accept: takes what was leased and puts it where :meth:`give` finds it, or says that it is dead.
        changed: called when there is something new: work, or the end.
        seeds: whether there are seeds to be read.
        ends_after: seconds with nothing to do, for anybody, after which the crawl ends; None: never.
        count: adds to a statistic.
    """

    def __init__(
        self,
        frontier: Frontier,
        redis: Client,
        vigil: Vigil,
        *,
        ahead: int,
        accept: Callable[[Lease], None],
        changed: Callable[[], None],
        seeds: bool,
        ends_after: float | None,
        count: Callable[[str, int], None],
    ) -> None:
        self.frontier = frontier
        self._redis = redis
        self._vigil = vigil
        self._ahead = ahead
        self._accept = accept
        self._changed = changed
        self._seeds = seeds
        self._count = count
        #: leases that the queue has not been told the end of
        self.leases: dict[str, Lease] = {}
        #: how many of what was leased wait to be given to the engine; kept by whoever accepts
        self.ready = 0
        self._outbox = Outbox()
        self._start_over = False
        self._event = asyncio.Event()
        self._leasing = True
        self._lull = Lull(ends_after)
        #: since when there are requests that must be worked on alone, or when this worker had one last
        self._suspects_since: float | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stopped = False

    @property
    def ended(self) -> bool:
        """Nothing to do, for anybody, for long enough."""
        return self._lull.ended

    # ── what the engine's side tells ─────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._beat())]

    def wants(self) -> None:
        """Somebody took a request: see whether it is time for more."""
        if self.ready * 2 <= self._ahead and not self._lull.dry:
            self._event.set()

    def finish(self, lease: Lease) -> None:
        """The request is done: its items are stored, its children known."""
        self._outbox.finish(lease)
        self._event.set()

    def move(self, lease: Lease, move: Move) -> None:
        """The request is not done."""
        lease.children.clear()
        self._outbox.move(move)
        self._event.set()

    def child(self, lease: Lease, child: Child) -> None:
        """A further request that a page led to; the queue gets it when the page is done."""
        if self._outbox.child(lease, child):
            self._event.set()

    def started(self, child: Child) -> None:
        """A request of ``start()``."""
        self._outbox.started(child)
        self._event.set()

    async def room(self) -> None:
        """Return when there is room for a request of ``start()``."""
        await self._outbox.room.wait()

    def begin_start(self, count: int) -> None:
        """``start()`` runs here; so many of its requests are queued already."""
        self._outbox.start_from = count

    def start_is_over(self) -> None:
        """``start()`` gives no more here: it is done, or has raised something."""
        self._start_over = True
        self._event.set()

    async def told_start(self) -> None:
        """Return once the queue has all requests of ``start()``."""
        await self._outbox.told_start()

    def loose(self, child: Child) -> None:
        """A request that belongs to no page."""
        self._outbox.loose(child)
        self._event.set()

    @property
    def untold(self) -> int:
        """How much the queue has not been told yet."""
        return len(self._outbox)

    # ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _work(self) -> None:
        try:
            while not self._stopped:
                await self._next_event()
                self._event.clear()
                if self._idle():
                    await self._look()
                else:
                    await self._turn()
        except RedisUnavailableError:
            return  # the vigil ends the crawl
        except Exception as exc:  # nobody else would hear of it, and the crawl would hold its leases for ever
            logger.exception("a bug of ours: the queue of %s cannot be told any more", self.frontier.names)
            self._vigil.give_up(exc)

    async def _next_event(self) -> None:
        """Something to tell or to ask for; while the queue gives nothing, a look now and then."""
        lull = self._lull
        if self.untold or (self._wanted() and not lull.dry):
            await asyncio.sleep(GATHER if self.ready else 0)
            return
        if lull.empty and self._idle():
            await Bell.of(self._redis).wait(self.frontier.names, others=self._event, limit=lull.left())
            return
        try:
            async with asyncio.timeout(lull.pause if lull.dry else None):
                await self._event.wait()
        except TimeoutError:
            return

    def _idle(self) -> bool:
        return self._lull.dry and not (self.leases or self.untold)

    def _wanted(self) -> int:
        if not self._leasing or self._makes_room():
            return 0
        return self._ahead - self.ready if self.ready * 2 <= self._ahead else 0

    def _makes_room(self) -> bool:
        """Whether requests that must be worked on alone have waited for long enough."""
        since = self._suspects_since
        return since is not None and bool(self.leases) and time.monotonic() - since >= self.frontier.terms.aging

    async def _turn(self) -> None:
        news, taken_in = self._outbox.gather()
        want = self._wanted()
        if not news and not want:
            return
        answer, repeated = await self._ask(news, want)
        taken_in()
        self._told(news, answer, repeated=repeated)
        if not answer.suspects:
            self._suspects_since = None
        elif self._suspects_since is None or not self.leases:
            self._suspects_since = time.monotonic()
        if want:
            self._taken(answer)
        self._count("frontier/turns", 1)

    async def _ask(self, news: News, want: int) -> tuple[Answer, bool]:
        """The answer, and whether the question had to be asked again: its first answer may have been lost."""
        seeds, calls = want if self._seeds else 0, 0

        async def ask() -> Answer:
            nonlocal calls
            calls += 1
            return await self.frontier.turn(news, want=want, seeds=seeds, again=calls > 1)

        return await self._patiently(ask), calls > 1

    def _told(self, news: News, answer: Answer, *, repeated: bool) -> None:
        sent = sum(len(one.children) for one in news.finished)
        for one, ours in zip(news.finished, answer.finished, strict=True):
            self._forget(one.token, ours=ours or repeated)
            sent -= 0 if ours else len(one.children)
        for move, ours in zip(news.moved, answer.moved, strict=True):
            self._forget(move.token, ours=ours or repeated)
        if news.started is not None:
            sent += self._count_started(news.started, answer.started)
        sent += len(news.loose.children) if news.loose else 0
        if answer.new:
            self._count("scheduler/enqueued/redis", answer.new)
        if answer.new or repeated:  # of what the lost answer told nothing is known
            self._lull.wake()
        if sent > answer.new:
            self._count("dupefilter/filtered", sent - answer.new)
        if news and not self.untold:
            self._changed()

    def _count_started(self, told: Numbered, queued: int) -> int:
        """How many were new to the queue; those of a call whose answer was lost are there already."""
        self._outbox.start_from = max(told.number, queued)
        if queued < told.number + len(told.children):
            logger.error("another worker runs start() of %s by now, this one stops doing so", self.frontier.names)
        return len(told.children)

    def _forget(self, token: str, *, ours: bool) -> None:
        lease = self.leases.pop(token, None)
        if not ours and lease is not None:
            self._count("frontier/lost_leases", 1)
            logger.warning("a lease had lapsed before its request was done: the request is done again by others")

    def _taken(self, answer: Answer) -> None:
        for leased in answer.taken:
            try:
                lease = Lease(leased, leased.entry)
            except CorruptEntryError as exc:
                self._bury(leased, exc)
                continue
            self.leases[leased.token] = lease
            self._accept(lease)
        if answer.taken:
            self._lull.given()
            self._changed()
            return
        self._lull.given_nothing(answer.due)
        if self._idle():
            self._event.set()

    def _bury(self, leased: Leased, error: Exception) -> None:
        logger.warning("an entry of %s is no request, it goes to the dead letters: %s", self.frontier.names, error)
        self._count("frontier/dead", 1)
        self._outbox.move(Move(leased.token, dead=str(error)))
        self._event.set()

    # ── nothing to do ────────────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        state = await self._patiently(lambda: self.frontier.look(holds=False))
        if state.queued or state.seeds:
            if self._lull.backlog():
                self._tell_backlog(state)
            self._event.set()
        elif not state.empty or not self._start_is_over(state):
            self._lull.others_work(state.due)
        elif self._lull.nothing_left():
            self._changed()

    def _start_is_over(self, state: State) -> bool:
        """Whether ``start()`` gives no more: it is done, or was over here and nobody else tries."""
        return state.start == "done" or (self._start_over and state.start == "none")

    def _tell_backlog(self, state: State) -> None:
        self._count("frontier/idle_with_backlog", 1)
        logger.warning(
            "idle with a backlog: %s holds %d requests and %s seeds, and this worker is given none",
            self.frontier.names, state.queued, state.seeds,
        )  # fmt: skip

    # ── leases ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def _beat(self) -> None:
        """Keep the leases alive, also while nothing else is told."""
        while not self._stopped:
            await asyncio.sleep(self.frontier.terms.lease / 3)
            if not self._vigil.up:
                continue
            try:
                await self.frontier.sign()
                if self.leases and not await self.frontier.beat():
                    logger.warning("this worker was silent for too long: others have got what it had on lease")
            except AWAY as exc:
                self._vigil.failed(exc)

    async def _patiently(self, work: Callable[[], Awaitable[T]]) -> T:
        found: T = await self._vigil.patiently(work)
        self._vigil.well()
        return found

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────

    def stop_leasing(self) -> None:
        """Ask for nothing more."""
        self._leasing = False

    async def stop(self, *, limit: float) -> bool:
        """Tell what is left to tell, give back the rest; False when Redis did not take it in ``limit`` seconds."""
        self.stop_leasing()
        self._stopped = True
        self._event.set()
        work, beat = self._tasks
        try:
            async with asyncio.timeout(limit):
                await end(beat)
                await asyncio.gather(work, return_exceptions=True)  # a call under way comes to its end
                while self.untold:
                    await self._turn()
                returned = await self._patiently(self.frontier.leave)
        except (TimeoutError, RedisUnavailableError):
            return False
        finally:
            work.cancel()
        if returned:
            logger.info("%d requests went back to the queue of %s", returned, self.frontier.names)
        return True
