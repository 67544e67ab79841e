"""One side of an HTTP/1.1 conversation over a stream; h11 knows the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import h11

from fetchworker.egress.filter_proxy.reasons import ClientGoneError, FilterError

if TYPE_CHECKING:
    import asyncio

    from fetchworker.egress.filter_proxy.run import Run

CHUNK = 64 * 1024

Event = h11.Request | h11.InformationalResponse | h11.Response | h11.Data | h11.EndOfMessage | h11.ConnectionClosed


class Wire:
    """A connection, as its server (towards the client) or its client (towards a target).

    ``role`` is ``h11.SERVER`` or ``h11.CLIENT``. ``meter`` counts bytes; ``first`` are bytes that were read already.
    """

    def __init__(
        self,
        role: Any,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        head_bytes: int,
        meter: Run | None = None,
        first: bytes = b"",
    ) -> None:
        self.reader, self.writer, self.meter = reader, writer, meter
        self._first = first
        self.http = h11.Connection(role, max_incomplete_event_size=head_bytes)
        self._spare = head_bytes
        self._chunk = min(CHUNK, head_bytes)  # h11 measures what is incomplete: a head may be twice as long at most

    async def next_event(self) -> Event:
        """What comes next.

        Raises:
            h11.RemoteProtocolError: what comes is no HTTP/1.1, or is cut short.
            OSError: the connection broke.
        """
        while True:
            event = self.http.next_event()
            if isinstance(event, Event):
                return event
            if event is h11.PAUSED:
                raise h11.RemoteProtocolError("more came than was asked for")
            self.http.receive_data(await self.read())

    async def read(self) -> bytes:
        """Bytes as they come, counted; empty at the end."""
        data, self._first = self._first or await self.reader.read(self._chunk), b""
        if self.meter is not None:
            self.meter.count(received=len(data))
        return data

    async def send(self, event: Event) -> None:
        """Say something; bytes are counted before they go."""
        data = self.http.send(event)
        if data:
            await self.write(data)

    async def write(self, data: bytes) -> None:
        if self.meter is not None:
            self.meter.count(sent=len(data))
        self.writer.write(data)
        await self.writer.drain()

    async def until_gone(self) -> None:
        """Wait for the end of the connection; what comes before it is kept for later.

        Raises:
            ClientGoneError: it has ended.
            FilterError: more came than is kept.
        """
        kept = 0
        while data := await self.reader.read(CHUNK):
            self.http.receive_data(data)
            kept += len(data)
            if kept > self._spare:
                raise FilterError("bad_request")
        raise ClientGoneError

    @property
    def answered(self) -> bool:
        """Whether the head of an answer has gone out, as a server."""
        return self.http.our_state not in (h11.IDLE, h11.SEND_RESPONSE)
