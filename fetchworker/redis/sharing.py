"""One client for all who need the same Redis in the same event loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fetchworker.redis.clients import connect

if TYPE_CHECKING:
    from fetchworker.redis.clients import Client
    from fetchworker.redis.endpoint import RedisEndpoint


@dataclass(slots=True)
class _Shared:
    client: Client
    users: int = 0


#: event loop → URL → what is in use there
_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Shared]] = WeakKeyDictionary()


def share(endpoint: RedisEndpoint) -> Client:
    """The client of this process, event loop and endpoint, as from :func:`~fetchworker.redis.connect`.

    All users together have :data:`~fetchworker.redis.MAX_CONNECTIONS` connections to each server, so that nobody may
    send commands that block (BLPOP). Call :func:`unshare` once for each call of this, and never close the client.
    """
    here = _shared.setdefault(asyncio.get_running_loop(), {})
    entry = here.setdefault(endpoint.url.get_secret_value(), _Shared(shared(endpoint) or connect(endpoint)))
    entry.users += 1
    return entry.client


async def unshare(client: Client) -> None:
    """Done with a client that :func:`share` gave; the last user closes it."""
    here = _shared.get(asyncio.get_running_loop(), {})
    for url, entry in here.items():
        if entry.client is client:
            entry.users -= 1
            if not entry.users:
                del here[url]
                await client.aclose()
            return


def shared(endpoint: RedisEndpoint) -> Client | None:
    """The client that others share now, None if there is none."""
    entry = _shared.get(asyncio.get_running_loop(), {}).get(endpoint.url.get_secret_value())
    return entry.client if entry else None
