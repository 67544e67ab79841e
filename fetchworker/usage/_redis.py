"""Usage in Redis: batches are added by one script each, days are read whole."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from redis.exceptions import NoPermissionError, RedisClusterException, RedisError, ResponseError

from fetchworker.errors import ConfigError, RedisUnavailableError
from fetchworker.redis import script
from fetchworker.usage.keys import DOWN, UP, batch_key, day_key, field_parts, plain, read_field, spent_key
from fetchworker.usage.ledger import OTHERS, Key, Used

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from fetchworker.redis import Client

#: seconds that Redis may take, a connection included
TIMEOUT = 5.0
#: fields that a day may have before further sessions are counted together
MOST_FIELDS = 30_000
#: seconds that the number of a worker's last batch is kept: how long a batch can be sent again
REMEMBER = 86_400


class RedisUsage:
    """See :class:`~fetchworker.usage.keeper.Shelf`.

    Args:
        site: whose usage it is.
        worker: names this process among those of the site; no two at a time have the same.
        connect: gives the client, which stays the caller's.
        keep: seconds that a day is kept.
        most_fields: as :data:`MOST_FIELDS`.
    """

    def __init__(
        self,
        site: str,
        worker: str,
        connect: Callable[[], Awaitable[Client]],
        *,
        keep: float,
        most_fields: int = MOST_FIELDS,
    ) -> None:
        self._site = site
        self._worker = worker
        self._connect = connect
        self._keep = max(1, int(keep))
        self._most = most_fields
        self._text = (files(__package__) / "lua" / "add.lua").read_text()

    async def add(self, number: int, day: str, used: Mapping[Key, Used], /) -> Counter[str]:
        """See :class:`~fetchworker.usage.keeper.Shelf`."""
        keys = [day_key(self._site, day), spent_key(self._site, day), batch_key(self._site, self._worker)]
        args: list[Any] = [number, self._keep, self._most, REMEMBER, plain(OTHERS)]
        for key, each in used.items():
            args += [*field_parts(key), each.up, each.down, each.transfers, plain(key.tier)]
        with _translated():
            async with asyncio.timeout(TIMEOUT):
                reply = await script(await self._connect(), self._text)(keys, args)
        return Counter(
            {unquote(tier.decode()): int(spent) for tier, spent in zip(reply[::2], reply[1::2], strict=True)}
        )


async def read_days(redis: Client, site: str, days: Sequence[str]) -> dict[tuple[str, Key], Used] | None:
    """What a site has used, by day and key; None where our user may not look at it.

    Raises:
        RedisUnavailableError: it does not answer.
    """
    found: dict[tuple[str, Key], Used] = {}
    with _translated():
        pipeline: Any = redis.pipeline(transaction=False)  # of one slot
        for day in days:
            pipeline.hgetall(day_key(site, day))
        try:
            replies = await pipeline.execute()
        except NoPermissionError:
            return None
    for day, fields in zip(days, replies, strict=True):
        _read(found, site, day, fields)
    return found


def _read(found: dict[tuple[str, Key], Used], site: str, day: str, fields: Mapping[bytes, bytes]) -> None:
    for field, value in fields.items():
        read = read_field(site, field)
        if read is None or not value.isdigit():
            continue
        key, what = read
        used, number = found.setdefault((day, key), Used()), int(value)
        if what == UP:
            used.add(number, 0)
        elif what == DOWN:
            used.add(0, number)
        else:
            used.add(0, 0, number)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except ResponseError as exc:
        if "WRONGTYPE" not in str(exc):
            raise RedisUnavailableError(f"Redis refuses to keep the usage: {exc}".partition("\n")[0]) from exc
        raise RedisUnavailableError(
            "a key of the usage in Redis ({<site>:usage}:…) is of another type, so that nothing can be counted: "
            f"delete it ({str(exc).partition(chr(10))[0]})"
        ) from exc
    except (RedisError, RedisClusterException, OSError, ConfigError) as exc:  # asyncio's TimeoutError is an OSError
        told = f"{type(exc).__name__}: {str(exc) or 'no answer in time'}".partition("\n")[0]
        raise RedisUnavailableError(f"no Redis to keep the usage in: {told}") from exc
