"""Lua scripts, on one server as on a cluster."""

from __future__ import annotations

from hashlib import sha1
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.redis.clients import Client


class Script:
    """A script that is called by its digest, and sent whole to a server that does not have it yet."""

    def __init__(self, client: Client, text: str) -> None:
        self._client = client
        self._text = text
        self.sha = sha1(text.encode(), usedforsecurity=False).hexdigest()

    async def __call__(self, keys: Sequence[str | bytes] = (), args: Iterable[Any] = ()) -> Any:
        """The reply, decoded by nobody.

        Args:
            keys: the keys it touches; in a cluster they share a slot, and so a hash tag.
            args: str, bytes, int or float each.

        Raises:
            RedisError: as any command.
        """
        args = tuple(args)
        try:
            return await self._client.execute_command("EVALSHA", self.sha, len(keys), *keys, *args)
        except NoScriptError:  # of this server: the others of a cluster may have it
            return await self.whole(keys, args)

    async def whole(self, keys: Sequence[str | bytes], args: Iterable[Any]) -> Any:
        """The same, with the script's text: for a server that does not have it."""
        return await self._client.execute_command("EVAL", self._text, len(keys), *keys, *args)


def script(client: Client, text: str) -> Script:
    """A Lua script to be called with ``(keys, args)``. Makes no connection yet; not for pipelines."""
    return Script(client, text)
