"""uvicorn's HTTP protocol, with a limit for clients that open a connection and do not come to the point."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

#: bytes of a request line and its headers
HEADERS_MAX = 64 * 1024

_BODY = b'{"type":"HEADERS_TOO_LARGE","message":"the request line and headers are too large","context":{}}'
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: " + str(len(_BODY)).encode() + b"\r\n\r\n" + _BODY
)


class Patient(HttpToolsProtocol):
    """Waits ``patience`` seconds for a request's headers, and takes :data:`HEADERS_MAX` bytes of them."""

    patience: ClassVar[float] = 15.0
    _late: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A client is there."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """A part of a request."""
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._expect()  # a further request begins
        expected = self._late is not None
        super().data_received(data)
        if self._late is None:
            self._head = 0
        elif expected:
            self._count(len(data))

    def on_headers_complete(self) -> None:
        """The headers are there."""
        self._settle()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._settle()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._late = self.loop.call_later(self.patience, self._cut)

    def _settle(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _count(self, size: int) -> None:
        self._head += size
        if self._head > HEADERS_MAX and not self.transport.is_closing():
            self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _cut(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()


def patient(patience: float) -> type[Patient]:
    """The protocol for so many seconds."""
    return type("Patient", (Patient,), {"patience": patience})
