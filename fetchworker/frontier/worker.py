"""One worker of a namespace: leases ahead, tells what became of requests, keeps its leases alive.

All traffic with Redis is made by one task, in the background: the engine's path only touches what is in memory. What
could not be told because Redis is away is told when it is back, in the same order and at most once.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

from fetchworker.errors import CorruptEntryError, RedisUnavailableError
from fetchworker.frontier.bell import Bell
from fetchworker.frontier.entry import Finished, Leased, Move, News, Numbered, Staged
from fetchworker.frontier.lease import Lease
from fetchworker.frontier.vigil import AWAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import TypeVar

    from fetchworker.frontier.entry import Answer, Child, State
    from fetchworker.frontier.store import Frontier
    from fetchworker.frontier.vigil import Vigil
    from fetchworker.redis import Client

    T = TypeVar("T")

logger = logging.getLogger(__name__)

#: children that one call to Redis carries; a page with more sends them in parts
MANY = 1000
#: seconds that news gathers before it is told, and between looks for work when there is none
GATHER, _FIRST_PAUSE, _LONGEST_PAUSE = 0.003, 0.02, 1.0
#: seconds after which a worker that gets nothing from a queue that holds something says so
BACKLOG = 10.0
_LONGEST_DELAY = 3600.0


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
        self._ends_after = ends_after
        self._count = count
        #: leases that the queue has not been told the end of
        self.leases: dict[str, Lease] = {}
        #: how many of what was leased wait to be given to the engine; kept by whoever accepts
        self.ready = 0
        #: nothing to do, for anybody, for long enough
        self.ended = False
        self._finished: deque[Lease] = deque()
        self._moved: deque[Move] = deque()
        self._staged: deque[Staged] = deque()
        self._started: deque[Child] = deque()
        self._start_failed = False
        self._started_before = 0
        self._loose: deque[Child] = deque()
        self._loose_number = 0
        self._event = asyncio.Event()
        self._leasing = True
        self._pause = _FIRST_PAUSE
        self._dry = False
        self._empty_since: float | None = None
        self._backlog_since: float | None = None
        #: since when there are requests that must be worked on alone, or when this worker had one last
        self._suspects_since: float | None = None
        self.room = asyncio.Event()
        self.room.set()
        self.drained = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopped = False

    # ── what the engine's side tells ─────────────────────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._work()), asyncio.create_task(self._beat())]

    def wants(self) -> None:
        """Somebody took a request: see whether it is time for more."""
        if self.ready * 2 <= self._ahead and not self._dry:
            self._event.set()

    def finish(self, lease: Lease) -> None:
        """The request is done: its items are stored, its children known."""
        self._finished.append(lease)
        self._event.set()

    def move(self, lease: Lease, move: Move) -> None:
        """The request is not done."""
        lease.children.clear()
        self._moved.append(move)
        self._event.set()

    def child(self, lease: Lease, child: Child) -> None:
        """A further request that a page led to; the queue gets it when the page is done."""
        lease.children.append(child)
        if len(lease.children) >= MANY:
            self._stage(lease)

    def _stage(self, lease: Lease) -> None:
        self._staged.append(Staged(lease.token, lease.staged, tuple(lease.children)))
        lease.staged += len(lease.children)
        lease.children.clear()
        self._event.set()

    def started(self, child: Child) -> None:
        """A request of ``start()``."""
        self._started.append(child)
        if len(self._started) >= 2 * MANY:
            self.room.clear()
        self._event.set()

    def begin_start(self, count: int) -> None:
        """``start()`` runs here; so many of its requests are queued already."""
        self._started_before = count

    def start_failed(self) -> None:
        """``start()`` raised something here: it gives no more, unless another worker does better."""
        self._start_failed = True
        self._event.set()

    async def told_start(self) -> None:
        """Return once the queue has all requests of ``start()``."""
        while self._started:
            self.drained.clear()
            await self.drained.wait()

    def loose(self, child: Child) -> None:
        """A request that belongs to no page."""
        self._loose.append(child)
        self._event.set()

    @property
    def untold(self) -> int:
        """How much the queue has not been told yet."""
        return len(self._finished) + len(self._moved) + len(self._staged) + len(self._started) + len(self._loose)

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
        if self.untold or (self._wanted() and not self._dry):
            await asyncio.sleep(GATHER if self.ready else 0)
            return
        if self._dry and self._empty_since is not None and self._idle():
            await Bell.of(self._redis).wait(self.frontier.names, others=self._event, limit=self._until_end())
            return
        try:
            async with asyncio.timeout(self._pause if self._dry else None):
                await self._event.wait()
        except TimeoutError:
            return

    def _until_end(self) -> float | None:
        if self._ends_after is None or self._empty_since is None:
            return None
        return max(0.0, self._empty_since + self._ends_after - time.monotonic())

    def _idle(self) -> bool:
        return self._dry and not (self.leases or self.untold)

    def _wanted(self) -> int:
        if not self._leasing or self._makes_room():
            return 0
        return self._ahead - self.ready if self.ready * 2 <= self._ahead else 0

    def _makes_room(self) -> bool:
        """Whether requests that must be worked on alone have waited for long enough."""
        since = self._suspects_since
        return since is not None and bool(self.leases) and time.monotonic() - since >= self.frontier.terms.aging

    async def _turn(self) -> None:
        news, taken_in = self._gather()
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

    def _gather(self) -> tuple[News, Callable[[], None]]:
        """What to tell now, at most :data:`MANY` requests or so, and what to do once it is told."""
        news, room = News(), MANY
        staged = _first(self._staged, 2)
        news.staged = staged
        if len(staged) < len(self._staged):  # parts go before the page that they are of is done
            return news, lambda: _drop(self._staged, len(staged))
        finished: list[Lease] = []
        for lease in self._finished:
            if room <= 0:
                break
            finished.append(lease)
            room -= 1 + len(lease.children)
        news.finished = [Finished(one.token, tuple(one.children), bool(one.staged)) for one in finished]
        news.moved = _first(self._moved, MANY)
        started, loose = _first(self._started, MANY), _first(self._loose, MANY)
        if started:
            news.started = Numbered(self._started_before, tuple(started))
        if loose:
            news.loose = Numbered(self._loose_number + 1, tuple(loose))

        def told() -> None:
            _drop(self._staged, len(staged))
            _drop(self._finished, len(finished))
            _drop(self._moved, len(news.moved))
            _drop(self._started, len(started))
            _drop(self._loose, len(loose))
            self._loose_number += bool(loose)

        return news, told

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
            self._wake()
        if sent > answer.new:
            self._count("dupefilter/filtered", sent - answer.new)
        if len(self._started) < MANY:
            self.room.set()
        if not self._started:
            self.drained.set()
        if news and not self.untold:
            self._changed()

    def _count_started(self, told: Numbered, queued: int) -> int:
        """How many were new to the queue; those of a call whose answer was lost are there already."""
        self._started_before = max(told.number, queued)
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
            self._wake()
            self._backlog_since = None
            self._changed()
            return
        self._dry = True
        self._pause = min(_LONGEST_PAUSE, self._pause * 2, answer.due if answer.due is not None else _LONGEST_PAUSE)
        self._pause = max(self._pause, _FIRST_PAUSE)
        if self._idle():
            self._event.set()

    def _bury(self, leased: Leased, error: Exception) -> None:
        logger.warning("an entry of %s is no request, it goes to the dead letters: %s", self.frontier.names, error)
        self._count("frontier/dead", 1)
        self._moved.append(Move(leased.token, dead=str(error)))
        self._event.set()

    def _wake(self) -> None:
        """There may be work again."""
        self._dry, self._pause, self._empty_since = False, _FIRST_PAUSE, None
        self.ended = False

    # ── nothing to do ────────────────────────────────────────────────────────────────────────────────────────────

    async def _look(self) -> None:
        state = await self._patiently(lambda: self.frontier.look(holds=False))
        if state.queued or state.seeds:
            self._dry = False
            self._tell_backlog(state)
            self._event.set()
            return
        if not state.empty or not self._start_is_over(state):
            self._empty_since = None
            self._pause = min(_LONGEST_PAUSE, self._pause * 2, _LONGEST_PAUSE if state.due is None else state.due)
            self._pause = max(self._pause, _FIRST_PAUSE)
            return
        now = time.monotonic()
        self._empty_since = now if self._empty_since is None else self._empty_since
        if self._ends_after is not None and now - self._empty_since >= self._ends_after and not self.ended:
            self.ended = True
            self._changed()

    def _start_is_over(self, state: State) -> bool:
        """Whether ``start()`` gives no more: it is done, or has failed here and nobody else tries."""
        return state.start == "done" or (self._start_failed and state.start == "none")

    def _tell_backlog(self, state: State) -> None:
        now = time.monotonic()
        self._backlog_since = self._backlog_since or now
        if now - self._backlog_since >= BACKLOG:
            self._backlog_since = now
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
            if not self.leases or not self._vigil.up:
                continue
            try:
                if not await self.frontier.beat():
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
        beat.cancel()
        try:
            async with asyncio.timeout(limit):
                await asyncio.gather(work, beat, return_exceptions=True)  # a call under way comes to its end
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


def delay_of(failures: int, pause: float) -> int:
    """Milliseconds until a request is tried again that has failed so often before."""
    return int(min(_LONGEST_DELAY, pause * 2.0**failures) * 1000)


def _first(items: deque[T], most: int) -> list[T]:
    return list(islice(items, most))


def _drop(items: deque[T], count: int) -> None:
    for _ in range(count):
        items.popleft()
