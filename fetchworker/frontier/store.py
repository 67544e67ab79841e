"""The queue of one namespace in Redis: leases, acknowledgements, seeds, dead letters (all I/O, no policy).

Every step is one script, so that it happens whole or not at all, whatever dies in the middle. A step may be sent again
when its answer was lost: leases are handed out by number of call, acknowledgements by token, requests of ``start()`` by
their place.
"""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from redis.exceptions import NoPermissionError

from fetchworker.frontier.entry import Answer, Dead, News, State, read_answer, read_dead, read_state
from fetchworker.frontier.keys import Namespace, namespace, registry
from fetchworker.redis import script

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from fetchworker.redis import Client

logger = logging.getLogger(__name__)

#: buckets of the seen-set that one script drops
_BUCKETS = 2000
#: abandoned namespaces that one start drops
_PRUNED = 20
#: seconds for which a namespace in use may be silent at least, and between two signs of use
_SILENT, _SIGNS = 3600, 60.0
_SCRIPTS = ("turn", "look", "start", "leave", "end", "dead")
_PROC = Path("/proc/self")


@dataclass(frozen=True, slots=True)
class Terms:
    """How the queue lends.

    Attributes:
        lease: seconds that a worker may be silent before its requests are given to others.
        aging: seconds after which a priority that is not served gets an eighth of what is handed out.
        deliveries: how many workers may go down with a request before it is dead.
        attempts: how often its callback may fail before it is dead.
        pause: seconds before the second attempt; doubled for each further one.
        retention: seconds that a private namespace is kept which has ended, or which nobody uses.
    """

    lease: float = 60
    aging: float = 30
    deliveries: int = 10
    attempts: int = 3
    pause: float = 5
    retention: float = 7 * 86_400


def owner_name(worker: str | None = None) -> str:
    """A name that no other process has or had: ``<worker>@<machine>/<pid>/<its start>#<random>``.

    Args:
        worker: a name that a worker keeps over its restarts; None for one without.
    """
    return f"{worker or ''}@{_machine()}/{os.getpid()}/{_started(os.getpid())}#{uuid.uuid4().hex[:12]}"


def is_gone(owner: str, me: str) -> bool:
    """Whether a worker is known to be gone: one of our name, or of this machine without a process."""
    if owner == me:
        return False
    worker, _, rest = owner.rpartition("#")[0].partition("@")
    mine, _, here = me.rpartition("#")[0].partition("@")
    if worker and worker == mine:
        return True
    machine, _, process = rest.partition("/")
    pid, _, started = process.partition("/")
    return machine == here.partition("/")[0] and bool(started) and pid.isdecimal() and _started(int(pid)) != started


class Frontier:
    """One worker's view of a namespace's queue.

    Args:
        redis: a client whose answers are bytes.
        names: the namespace.
        owner: this worker (:func:`owner_name`).
        terms: how the queue lends.
    """

    def __init__(
        self, redis: Client, names: Namespace, *, owner: str | None = None, terms: Terms | None = None
    ) -> None:
        self.names = names
        self.owner = owner or owner_name()
        self.terms = terms or Terms()
        self._redis = redis
        lua = files(__package__) / "lua"
        lib = (lua / "lib.lua").read_text()
        self._scripts = {name: script(redis, f"{lib}\n{(lua / f'{name}.lua').read_text()}") for name in _SCRIPTS}
        self._registry = registry(names.spider)
        self._used, self._forget = (script(redis, (lua / f"{name}.lua").read_text()) for name in ("used", "forget"))
        self._signed = float("-inf")
        self._lease = int(self.terms.lease * 1000)
        self._call = 0
        #: when Redis last heard of this worker (monotonic seconds)
        self.heard = time.monotonic()

    async def turn(self, news: News | None = None, *, want: int = 0, seeds: int = 0, again: bool = False) -> Answer:
        """Tell what became of requests, and lease further ones.

        Args:
            news: what there is to tell.
            want: requests to lease at most.
            seeds: seeds to lease at most.
            again: whether this repeats the last call, whose answer was lost.
        """
        if not again:
            self._call += 1
        terms = self.terms
        numbers = (self._lease, self._call, int(terms.aging * 1000), terms.deliveries, want, seeds)
        return read_answer(await self._run("turn", self.owner, *numbers, (news or News()).packed()))

    async def look(self, *, holds: bool) -> State:
        """How the namespace stands; what lapsed is put back. ``holds``: whether this worker has work in hand."""
        raw = await self._run("look", self.owner, self._lease, self.terms.deliveries, int(holds))
        return read_state(raw)

    async def beat(self) -> bool:
        """Extend all leases of this worker; False when they have lapsed."""
        return (await self.look(holds=True)).known

    async def start(self, step: Literal["begin", "done", "failed"]) -> tuple[str, int]:
        """Ask to run ``start()``, or tell how it ended: ``mine``, ``other`` or ``done``, and how far it is."""
        state, count = await self._run("start", self.owner, self._lease, step)
        return state.decode(), int(count)

    async def leave(self) -> int:
        """Give back what is still on lease, where it was; returns how many."""
        return int(await self._run("leave", "leave", self.terms.deliveries, self.owner))

    async def reclaim(self) -> int:
        """Put back at once what workers held that are known to be gone; returns how many requests."""
        gone = [owner for owner in await self.workers() if is_gone(owner, self.owner)]
        return int(await self._run("leave", "gone", self.terms.deliveries, *gone)) if gone else 0

    async def workers(self) -> dict[str, float]:
        """The workers, with the time (Unix seconds) when their leases lapse."""
        found: Any = await self._redis.zrange(f"{self.names.root}:workers", 0, -1, withscores=True)
        return {owner.decode(): lapse / 1000 for owner, lapse in found}

    # ── namespaces ───────────────────────────────────────────────────────────────────────────────────────────────

    async def enter(self) -> None:
        """Note that a private namespace is in use; one that had ended goes on."""
        if self.names.id:
            await self._sign()
            for part in ("counts", "dead", "start"):  # a count that went meanwhile would give tokens twice
                await self._redis.persist(f"{self.names.root}:{part}")
            await self.beat()  # whoever drops abandoned namespaces sees somebody here from now on

    async def sign(self) -> None:
        """Note that a private namespace is still in use; a command at most once a minute."""
        if self.names.id and time.monotonic() - self._signed >= _SIGNS:
            await self._sign()

    async def _sign(self) -> None:
        await self._used([self._registry], [self.names.id, 0, 0])
        self._signed = time.monotonic()

    async def prune(self) -> list[str]:
        """Drop some of the spider's private namespaces that nobody used for the retention; returns their ids."""
        silent, gone = int(max(self.terms.retention, _SILENT, 2 * self.terms.lease)), []
        try:
            abandoned = await self._used([self._registry], [self.names.id or "", silent, _PRUNED])
        except NoPermissionError as exc:  # a worker of the shared namespace can do without
            logger.info("abandoned private namespaces are not looked for: %s", exc)
            return []
        for id_ in (raw.decode() for raw in abandoned):
            other = Frontier(self._redis, namespace(self.names.spider, id_), owner=self.owner, terms=self.terms)
            if await other._end("abandon") and await self._forget([self._registry], [id_, silent]):
                gone.append(id_)
        if gone:
            logger.info("%d private namespaces that nobody uses any more were dropped", len(gone))
        return gone

    async def expire(self) -> bool:
        """End a private namespace; False while others work there."""
        return await self._end("expire")

    async def purge(self) -> None:
        """Drop the namespace's queue, leases, seen-set and dead letters, whoever uses it."""
        await self._end("purge")
        if self.names.id:
            await self._redis.zrem(self._registry, self.names.id)

    async def _end(self, how: Literal["expire", "purge", "abandon"]) -> bool:
        place, seconds = 0, max(1, int(self.terms.retention))
        while place >= 0:
            place = int(await self._run("end", how, seconds, place, _BUCKETS))
        return place != -2  # noqa: PLR2004  # the script's word for "others work there"

    # ── dead letters ─────────────────────────────────────────────────────────────────────────────────────────────

    async def dead(self) -> AsyncIterator[Dead]:
        """The dead letters, in no order."""
        async for id_, raw in self._redis.hscan_iter(f"{self.names.root}:dead", count=200):
            yield read_dead(id_.decode(), raw)

    async def revive(self, ids: Iterable[str]) -> int:
        """Put dead letters back into the queue, as if they had never failed; returns how many there were."""
        if self.names.id:
            await self._sign()
        return await self._dead("retry", ids)

    async def drop(self, ids: Iterable[str]) -> int:
        """Forget dead letters; returns how many there were."""
        return await self._dead("drop", ids)

    async def _dead(self, what: str, ids: Iterable[str]) -> int:
        listed, found = list(ids), 0
        for first in range(0, len(listed), 500):
            found += int(await self._run("dead", what, *listed[first : first + 500]))
        return found

    async def _run(self, name: str, *args: Any) -> Any:
        answer = await self._scripts[name](self.names.keys, args)
        self.heard = time.monotonic()
        return answer


def _machine() -> str:
    """A word for this boot of this host, and for the space that its process numbers are of."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8])
        parts.append(str(_PROC.joinpath("ns/pid").readlink()).strip("pid:[]"))
    return "-".join(parts).replace("/", "-").replace("#", "-").replace("@", "-")


def _started(pid: int) -> str:
    """When a process began, in ticks since the boot; empty when there is none, or nothing to be known."""
    with suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    return ""
