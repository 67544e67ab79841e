"""curl's multi handle on asyncio, and who opens connections on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from curl_cffi import AsyncCurl

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from curl_cffi import Curl

_SOCKET_TIMEOUT = -1
_TICK = 0.1  # seconds
#: seconds for which a connection that answered is expected to live on
_WARM = 30.0


class Multi(AsyncCurl):
    """An ``AsyncCurl`` whose safety ticker (ten wake-ups a second) runs only while there are transfers."""

    def add_handle(self, curl: Curl) -> asyncio.Future[None]:
        future: asyncio.Future[None] = super().add_handle(curl)
        if self._timeout_checker.done():
            self._timeout_checker = self.loop.create_task(self._force_timeout())
        return future

    async def _force_timeout(self) -> None:
        while self._curlm and self._curl2future:
            self.process_data(_SOCKET_TIMEOUT, 0)
            await asyncio.sleep(_TICK)


class Gate:
    """Lets one transfer open the connection to an origin; the others wait for its first answer and then share it.

    A browser does so. curl's own switch for it (PIPEWAIT) now and then leaves a transfer waiting for ever (one in some
    10,000 at the start of a connection, libcurl 8.23, 2026-11).
    """

    __slots__ = ("_opening", "_warm_until", "inside")

    def __init__(self) -> None:
        self._opening: asyncio.Future[None] | None = None
        self._warm_until = 0.0
        #: transfers that are under way
        self.inside = 0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        while loop.time() > self._warm_until:
            if self._opening is None:
                self._opening = loop.create_future()
                break
            await asyncio.shield(self._opening)
        self.inside += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self.inside -= 1
        self._open()

    def opened_by(self, on_header: Callable[[bytes], int], claim: Callable[[], None]) -> Callable[[bytes], int]:
        """The header callback that opens the gate at the first line, and before that calls ``claim`` once."""
        if self._opening is None:
            return on_header

        def first(line: bytes) -> int:
            if self._opening is not None:
                claim()  # what the connection cost so far is its opener's, others may join it now
            self._warm_until = asyncio.get_running_loop().time() + _WARM
            self._open()
            return on_header(line)

        return first

    def _open(self) -> None:
        opening, self._opening = self._opening, None
        if opening is not None and not opening.done():
            opening.set_result(None)
