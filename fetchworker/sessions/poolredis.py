"""The pool of a site in Redis: one script call to take a session, one to give it back. Keys: see ``poolkeys``."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from redis.exceptions import (
    ClusterDownError,
    ConnectionError,  # noqa: A004 - redis's name
    RedisError,
    ResponseError,
    TimeoutError,  # noqa: A004 - redis's name
)

from fetchworker.errors import RedisUnavailableError, SessionError
from fetchworker.redis import Gatherer, script
from fetchworker.sessions.keys import check_session_id
from fetchworker.sessions.pool import AFFINITY, WAITING, WORKER_SPAN, Counts, Lease, PoolTerms, Taken, conflict
from fetchworker.sessions.poolkeys import check_jar, head_key, is_jar, jar_of, lock_key, lock_keys, new_id
from fetchworker.sessions.poolstanding import row_of, standing, text_of, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fetchworker.redis import Client
    from fetchworker.sessions.pool import Fresh, Standing

_FRESH = {"either": "0", "new": "1", "used": "2"}
#: what a session is that is leased (pool_take.lua)
_NEW, _KNOWN = 1, 2
_TOTALS = ("made", "dropped", "quarantined", "lapsed")


class RedisPool:
    """See :class:`~fetchworker.sessions.pool.PoolBackend`. Redis's clock is the only one; commands of Redis 6.2 only.

    Args:
        redis: the client, which stays the caller's.
        site: whose pool it is.
        terms: its numbers.

    Attributes:
        head: what all its keys begin with.
    """

    def __init__(self, redis: Client, site: str, terms: PoolTerms) -> None:
        self._redis = redis
        self._site = site
        self.terms = terms
        self.head = head_key(site)
        together = Gatherer(redis)  # those of each request
        self._take = together.script(_whole("take"))
        self._put = together.script(_whole("put"))
        self._lock = together.script(_text("line_lib") + _text("lock"))
        self._quarantine = script(redis, _whole("quarantine"))
        self._rest = script(redis, _whole("rest"))
        self._extend = script(redis, _whole("extend"))
        self._enter = script(redis, _text("line_lib") + _text("pool_enter"))

    async def enter(self, worker: str, /) -> None:
        """See the protocol."""
        with _translated("enter the pool"):
            found = await self._enter([self.head], [worker, self.terms.shared(), _micro(WORKER_SPAN)])
        if found:
            raise conflict(self._site, self.terms, text_of(found[0]), text_of(found[1]))

    async def leave(self, worker: str, /) -> None:
        """See the protocol."""
        with _translated("leave the pool"):
            await self._enter([self.head], [worker, "", 0])

    async def take(
        self,
        jar: str,
        owner: str,
        /,
        *,
        holder: str = "",
        fresh: Fresh = "either",
        skip: Sequence[str] = (),
        waits: float | None = None,
    ) -> Taken:
        """See the protocol."""
        terms = self.terms
        limits = [terms.max_total, terms.concurrency or 0, terms.max_uses or 0, _micro(terms.max_age or 0)]
        who = [check_jar(jar), check_session_id(owner), holder, new_id(jar)]
        args = [
            *who,
            _micro(terms.lease),
            terms.prefer,
            *limits,
            _micro(AFFINITY),
            _FRESH[fresh],
            max(WAITING, terms.max_total),
            _waited(waits),
            *skip,
        ]
        with _translated("lease a session"):
            found = await self._take([self.head], args)
        if not int(found[0]):
            wait, before, turn = map(int, found[1:4])
            return Taken(None, wait / 1e6, _names(found[4:]), _damaged(found[4:]), before, turn)
        lease = Lease(text_of(found[1]), int(found[2]), int(found[3]) == _NEW, known=int(found[3]) == _KNOWN)
        return Taken(lease, dropped=_names(found[4:]), damaged=_damaged(found[4:]))

    async def quit(self, jar: str, owner: str, /) -> None:
        """See the protocol."""
        with _translated("leave the line"):
            pipeline = self._redis.pipeline(transaction=False)
            for kind in ("line", "seen"):
                pipeline.zrem(f"{self.head}:{kind}:{check_jar(jar)}", check_session_id(owner))
                pipeline.zrem(f"{self.head}:{kind}", owner)
            await pipeline.execute()

    async def aim(self, owner: str, session_id: str, /) -> None:
        """See the protocol."""
        key = f"{self.head}:o:{check_session_id(owner)}"
        with _translated("choose a session"):
            await self._redis.set(key, check_session_id(session_id), px=round(AFFINITY * 1000))

    async def put(
        self, lease: Lease, /, *, good: int = 0, bad: int = 0, spare: int = 0
    ) -> tuple[bool, tuple[str, ...]]:
        """See the protocol."""
        terms = self.terms
        limits = [_micro(terms.cooldown), terms.max_idle + spare, terms.max_uses or 0, _micro(terms.max_age or 0)]
        with _translated("give a session back"):
            found = await self._put([self.head], [lease.session_id, lease.number, good, bad, terms.prefer, *limits])
        return bool(int(found[0])), _names(found[1:])

    async def quarantine(self, lease: Lease, reason: str, /, *, seconds: float | None = None) -> tuple[bool, bool]:
        """See the protocol."""
        span = self.terms.quarantine if seconds is None else seconds
        name = lease.session_id.encode(errors="surrogateescape")
        args = [name, lease.number or "", reason[:200], _micro(span), self.terms.blocks]
        with _translated("take a session out of use"):
            if not lease.number and not span:  # by hand, whatever it is called and wherever it stands
                args += await self._jars()
            found = int(await self._quarantine([self.head], args))
        return found > 0, found > 1

    async def rest(self, lease: Lease, reason: str, /, *, seconds: float) -> bool:
        """See the protocol."""
        args = [lease.session_id, lease.number, reason[:200], _micro(seconds)]
        with _translated("let a session wait"):
            return bool(int(await self._rest([self.head], args)))

    async def extend(self, leases: Sequence[Lease], /) -> list[bool]:
        """See the protocol."""
        if not leases:
            return []
        pairs = [part for lease in leases for part in (lease.session_id, lease.number)]
        with _translated("extend leases"):
            found = await self._extend([self.head], [_micro(self.terms.lease), *pairs])
        return [bool(int(one)) for one in found]

    async def owner(self, lease: Lease, /) -> str | None:
        """See the protocol."""
        owner = number = None
        with _translated("look at a lease"), suppress(ResponseError):  # another type: it is mended when one is taken
            owner, number = await self._redis.hmget(f"{self.head}:s:{lease.session_id}", ["owner", "token"])
        return text_of(owner) if owner is not None and text_of(number or "") == str(lease.number) else None

    async def lock(
        self, session_id: str, owner: str, /, *, waits: float | None = None, span: float | None = None
    ) -> Taken:
        """See the protocol."""
        good, number, before, turn = await self._locks("take", session_id, owner, waits=waits, span=span)
        return Taken(Lease(session_id, number)) if good else Taken(None, number / 1000, before=before, turn=turn)

    async def keep(self, lease: Lease, /, *, span: float | None = None) -> bool:
        """See the protocol."""
        return bool((await self._locks("keep", lease.session_id, number=lease.number, span=span))[0])

    async def unlock(self, lease: Lease, /) -> bool:
        """See the protocol."""
        return bool((await self._locks("free", lease.session_id, number=lease.number))[0])

    async def quit_lock(self, session_id: str, owner: str, /) -> None:
        """See the protocol."""
        await self._locks("quit", session_id, owner)

    async def _locks(
        self,
        what: str,
        session_id: str,
        owner: str = "",
        *,
        number: int = 0,
        waits: float | None = None,
        span: float | None = None,
    ) -> list[int]:
        args = [what, owner, number, round((span or self.terms.lease) * 1000), _waited(waits)]
        with _translated("lock a session"):
            return [int(told) for told in await self._lock(lock_keys(self._site, session_id), args)]

    async def locks(self, names: Sequence[str]) -> dict[str, tuple[str, float]]:
        """Which of these named sessions somebody has to himself: the owner, and for how many seconds at least."""
        with _translated("look at locks"):
            pipeline = self._redis.pipeline(transaction=False)
            for name in names:
                pipeline.hget(lock_key(self._site, name), "owner")
                pipeline.pttl(lock_key(self._site, name))
            found = await pipeline.execute(raise_on_error=False) if names else []
        told = zip(names, found[::2], found[1::2], strict=True)
        return {name: (text_of(owner), left / 1000) for name, owner, left in told if isinstance(owner, (bytes, str))}

    async def counts(self, jar: str, /) -> Counts:
        """See the protocol."""
        with _translated("count sessions"):
            pipeline = self._redis.pipeline(transaction=False)
            for kind in ("idle", "rest", "born", "away"):
                pipeline.zcard(f"{self.head}:{kind}:{check_jar(jar)}")
            idle, resting, born, away = map(int, await pipeline.execute())
        return Counts(idle, resting, born - away)

    async def standings(self) -> list[Standing]:
        """See the protocol."""
        with _translated("list sessions"):
            seconds, micros = await self._redis.time() if not _is_cluster(self._redis) else await self._time()
            jars = await self._jars()
            return [one for jar in jars for one in await self._of_jar(jar, seconds * 1_000_000 + micros)]

    async def _jars(self) -> list[str]:
        """All jars, those too that only their sessions tell of."""
        born = f"{self.head}:born:"
        found = {text_of(key).removeprefix(born) async for key in self._redis.scan_iter(f"{born}*")}
        with suppress(ResponseError):  # another type: it is mended when a session is taken
            found |= {text_of(jar) for jar in await self._redis.smembers(f"{self.head}:jars")}
        return sorted(jar for jar in found if is_jar(jar))

    async def _time(self) -> tuple[int, int]:
        told: Any = await self._redis.execute_command("TIME", target_nodes=self._redis.get_random_node())  # type: ignore[union-attr]
        return int(told[0]), int(told[1])

    async def _of_jar(self, jar: str, now: int) -> list[Standing]:
        try:
            ids = [text_of(one) for one in await self._redis.zrange(f"{self.head}:born:{jar}", 0, -1)]
        except ResponseError:  # another type, likewise
            return []
        strange = [unreadable(one, jar, now) for one in ids if jar_of(one) is None]
        ids = [one for one in ids if jar_of(one) is not None]
        pipeline = self._redis.pipeline(transaction=False)
        for one in ids:
            pipeline.hgetall(f"{self.head}:s:{one}")
            pipeline.zscore(f"{self.head}:leases", one)
            for kind in ("rest", "away", "born"):  # born last: what has gone meanwhile is not there
                pipeline.zscore(f"{self.head}:{kind}:{jar}", one)
        found = await pipeline.execute(raise_on_error=False) if ids else []
        told = [standing(one, jar, now, row_of(found[at * 5 : at * 5 + 5])) for at, one in enumerate(ids)]
        return strange + [one for one in told if one is not None]

    async def totals(self) -> dict[str, int]:
        """See the protocol."""
        with _translated("count sessions"):
            found = await self._redis.hmget(self.head, list(_TOTALS))
        return {name: _number(value) for name, value in zip(_TOTALS, found, strict=True)}


def _whole(name: str) -> str:
    return _text("line_lib") + _text("pool_lib") + _text(f"pool_{name}")


def _text(name: str) -> str:
    return (files(__package__) / "lua" / f"{name}.lua").read_text()


def _is_cluster(redis: Client) -> bool:
    return hasattr(redis, "get_random_node")


def _names(found: Sequence[Any]) -> tuple[str, ...]:
    """Those that records may have."""
    return tuple(name.removeprefix("!") for name in map(text_of, found) if not name.startswith("?"))


def _damaged(found: Sequence[Any]) -> tuple[str, ...]:
    return tuple(name[1:] for name in map(text_of, found) if name.startswith(("!", "?")))


def _number(value: bytes | str | None) -> int:
    text = text_of(value or 0)
    return int(text) if text.isascii() and text.isdigit() else 0


def _micro(seconds: float) -> int:
    return round(seconds * 1e6)


def _waited(seconds: float | None) -> int:
    return -1 if seconds is None else _micro(max(0.0, seconds))


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except (ConnectionError, TimeoutError, ClusterDownError, OSError) as error:
        raise RedisUnavailableError(f"no Redis to {doing}: {type(error).__name__}: {error}") from error
    except RedisError as error:
        raise SessionError(f"Redis refused to {doing}: {type(error).__name__}: {error}") from error
