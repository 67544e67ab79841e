"""uvicorn's HTTP protocol, with limits for clients that do not come to the point or do not take their answer."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    import asyncio

logger = logging.getLogger(__name__)

#: bytes of a request line and its headers
HEADERS_MAX = 64 * 1024
#: seconds and bytes that are still taken from a refused client: a socket closed with bytes unread loses the answer
_LINGER, _LINGER_MAX = 2.0, 1 << 20
#: of a header line beside its name and value
_MARKS = len(b": \r\n")


class Patient(HttpToolsProtocol):
    """Waits ``patience`` seconds for a request's headers, and for a client that takes nothing of its answer.

    Of a request line and headers it takes :data:`HEADERS_MAX` bytes.
    """

    patience: ClassVar[float] = 15.0
    _late: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None
    _lingering: asyncio.TimerHandle | None = None
    #: bytes of the headers as far as they are read; and those that came while headers were awaited
    _head = _came = 0
    #: bytes of the answer that lay here when it was last looked
    _lay = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A client is there."""
        super().connection_made(transport)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._settle()
        for timer in (self._untaken, self._lingering):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    # ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        """A part of a request."""
        if self._lingering is not None:
            self._pass_over(len(data))
            return
        if self._late is None and (self.cycle is None or self.cycle.response_complete):
            self._expect()  # a further request begins
        expected = self._late is not None
        super().data_received(data)
        if expected and self._late is not None:
            self._came += len(data)
            self._check(self._came)

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of its address."""
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers."""
        self._head += len(name) + len(value) + _MARKS
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The headers are there."""
        self._settle()
        self._check(self._head)
        if self._lingering is None:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        if self._lingering is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is there."""
        if self._lingering is None:
            super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  # the base's signature
        """What came is no HTTP."""
        self._refuse(ApiError("VALIDATION_ERROR", "this is no HTTP request that can be read"))

    def _expect(self) -> None:
        self._came = 0
        self._late = self.loop.call_later(self.patience, self._cut)

    def _settle(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def _check(self, size: int) -> None:
        if size > HEADERS_MAX:
            told = f"the request line and headers may have {HEADERS_MAX} bytes"
            self._refuse(ApiError("HEADERS_TOO_LARGE", told, limit=HEADERS_MAX))

    def _refuse(self, failure: ApiError) -> None:
        """Answer in place of the routes, and end the connection once the client can have read it."""
        if self._lingering is not None or self.transport.is_closing():
            return
        self._settle()
        request_id = uuid4().hex
        logger.info("refused: %s", failure.message, extra={"fw_request_id": request_id})
        self.transport.write(_answer(failure, request_id))
        self.transport.write_eof()
        self._came = 0
        self._lingering = self.loop.call_later(_LINGER, self.transport.abort)

    def _pass_over(self, size: int) -> None:
        self._came += size
        if self._came > _LINGER_MAX:
            self.transport.abort()

    # ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def pause_writing(self) -> None:
        """The client is slower than the answer."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """It has caught up."""
        super().resume_writing()
        self._unwatch()

    def on_response_complete(self) -> None:
        """All of the answer was handed over; what the client has not taken yet lies in this process."""
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        self._unwatch()
        self._lay = self.transport.get_write_buffer_size()
        if self._lay:
            self._untaken = self.loop.call_later(self.patience, self._look)

    def _unwatch(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None

    def _look(self) -> None:
        if self.transport.get_write_buffer_size() < self._lay:
            self._watch()
        else:
            self.transport.abort()  # to close it would wait for the client


def _answer(failure: ApiError, request_id: str) -> bytes:
    body = orjson.dumps(failure.body())
    headers = (
        "content-type: application/json", f"content-length: {len(body)}", "connection: close",
        f"x-request-id: {request_id}", f"x-trace-id: {uuid4().hex}", "", "",
    )  # fmt: skip
    return STATUS_LINE[failure.status] + "\r\n".join(headers).encode() + body


def patient(patience: float) -> type[Patient]:
    """The protocol for so many seconds."""
    return type("Patient", (Patient,), {"patience": patience})
