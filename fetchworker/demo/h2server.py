"""The demo server's HTTP/2 side, on the library h2, with what a client's opening says kept as it was sent."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

from h2 import events as h2_events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes
from hyperframe.frame import GoAwayFrame

from fetchworker.demo.http1 import to_bytes
from fetchworker.demo.model import App, Connection, GoAway, HangUp, Priority, Reply, RequestInfo, ResetStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.demo.log import Log

_CONFIG = H2Configuration(
    client_side=False,
    header_encoding=None,
    validate_inbound_headers=False,
    normalize_inbound_headers=False,
    validate_outbound_headers=False,
    normalize_outbound_headers=False,
)
_WINDOW = 1 << 24


@dataclass(slots=True, eq=False)
class _Stream:
    id: int
    headers: list[tuple[bytes, bytes]]
    priority: Priority | None
    body: bytearray = field(default_factory=bytearray)
    task: asyncio.Task[None] | None = None


class Http2Protocol(asyncio.Protocol):
    """One HTTP/2 connection.

    Args:
        goaway_after: say GOAWAY after so many requests and close once they are answered.
        on_close: called when the connection is gone.
    """

    def __init__(
        self,
        connection: Connection,
        app: App,
        log: Log,
        *,
        goaway_after: int | None = None,
        on_close: Callable[[], object] = lambda: None,
    ) -> None:
        self._connection, self._app, self._log = connection, app, log
        self._goaway_after, self._on_close = goaway_after, on_close
        self._h2 = H2Connection(_CONFIG)
        self._streams: dict[int, _Stream] = {}
        self._last_stream: int | None = None
        self._window = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport | None = None
        self._events: dict[type, Callable[[Any], None]] = {
            h2_events.RequestReceived: self._on_request,
            h2_events.DataReceived: self._on_data,
            h2_events.StreamEnded: self._on_end,
            h2_events.StreamReset: self._on_reset,
            h2_events.WindowUpdated: self._on_window,
            h2_events.RemoteSettingsChanged: self._on_settings,
            h2_events.PriorityUpdated: self._on_priority,
            h2_events.ConnectionTerminated: self._on_terminated,
        }

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclass of asyncio's
        self._h2.local_settings[SettingCodes.INITIAL_WINDOW_SIZE] = _WINDOW
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(_WINDOW)
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._h2.receive_data(data):
                handle = self._events.get(type(event))
                if handle is not None:
                    handle(event)
        except ProtocolError as exc:
            self._connection.error = f"{type(exc).__name__}: {exc}"
            self._flush()
            self._close()
            return
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._transport = None
        for stream in self._streams.values():
            if stream.task is not None:
                stream.task.cancel()
        self._streams.clear()
        self._on_close()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # h2's events

    def _on_request(self, event: h2_events.RequestReceived) -> None:
        if self._last_stream is not None and event.stream_id > self._last_stream:
            return
        priority = _priority(event.priority_updated) if event.priority_updated is not None else None
        self._streams[event.stream_id] = _Stream(event.stream_id, event.headers, priority)

    def _on_data(self, event: h2_events.DataReceived) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is not None:
            stream.body += event.data
        if event.flow_controlled_length:
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def _on_end(self, event: h2_events.StreamEnded) -> None:
        stream = self._streams.get(event.stream_id)
        if stream is None:
            return
        request = self._request(stream)
        self._log.request(request)
        if self._goaway_after is not None and self._connection.requests >= self._goaway_after:
            self._goaway(stream.id)
        self._answer(stream, request)

    def _on_reset(self, event: h2_events.StreamReset) -> None:
        stream = self._streams.pop(event.stream_id, None)
        if stream is not None and stream.task is not None:
            stream.task.cancel()

    def _on_window(self, event: h2_events.WindowUpdated) -> None:
        if event.stream_id == 0 and not self._connection.requests:
            self._connection.h2_window += event.delta
        self._window.set()

    def _on_settings(self, event: h2_events.RemoteSettingsChanged) -> None:
        if not self._connection.requests:
            changed = event.changed_settings.values()
            self._connection.h2_settings += [(int(s.setting), s.new_value) for s in changed]
        self._window.set()

    def _on_priority(self, event: h2_events.PriorityUpdated) -> None:
        if event.stream_id and event.stream_id not in self._streams and not self._connection.requests:
            self._connection.h2_priorities.append((event.stream_id, _priority(event)))

    def _on_terminated(self, _event: h2_events.ConnectionTerminated) -> None:
        self._close()

    # answers

    def _request(self, stream: _Stream) -> RequestInfo:
        headers = [(bytes(n).decode("latin-1"), bytes(v).decode("latin-1")) for n, v in stream.headers]
        pseudo = {name: value for name, value in headers if name.startswith(":")}
        authority = pseudo.get(":authority") or dict(headers).get("host", "")
        method, path = pseudo.get(":method", ""), pseudo.get(":path", "")
        return RequestInfo(
            self._connection, stream.id, method, authority, path, headers, bytes(stream.body), stream.priority
        )

    def _answer(self, stream: _Stream, request: RequestInfo) -> None:
        bodyless = request.method == "HEAD"
        try:
            answer = self._app(request)
            if isawaitable(answer) or not isinstance(answer.body, bytes) or not self._fits(stream, answer.body):
                stream.task = asyncio.ensure_future(self._respond(stream, answer, bodyless=bodyless))
            else:
                self._send_whole(stream, answer, b"" if bodyless else answer.body)
        except Exception as exc:  # noqa: BLE001 - a server's border
            self._failed(stream, exc)

    async def _respond(self, stream: _Stream, answer: Any, *, bodyless: bool) -> None:
        try:
            reply: Reply = await answer if isawaitable(answer) else answer
            if isinstance(reply.body, bytes) and (bodyless or self._fits(stream, reply.body)):
                self._send_whole(stream, reply, b"" if bodyless else reply.body)
            else:
                await self._send_parts(stream, reply, bodyless)
        except Exception as exc:  # noqa: BLE001 - a server's border
            self._failed(stream, exc)
        self._flush()

    def _failed(self, stream: _Stream, exc: Exception) -> None:
        """An app ended a stream early, or is broken: no client is left waiting."""
        if isinstance(exc, GoAway):
            self._goaway(stream.id if exc.taken else max(0, stream.id - 2))
            self._close()
        elif isinstance(exc, HangUp):
            self._abort()
        elif isinstance(exc, ResetStream):
            self._reset(stream, exc.code)
        elif isinstance(exc, ProtocolError):
            self._streams.pop(stream.id, None)  # the client reset the stream in the meantime
        else:
            self._connection.error = repr(exc)
            self._reset(stream, ErrorCodes.INTERNAL_ERROR)

    def _fits(self, stream: _Stream, body: bytes) -> bool:
        return len(body) <= self._h2.local_flow_control_window(stream.id)

    def _headers(self, reply: Reply) -> list[tuple[bytes, bytes]]:
        headers = [(b":status", b"%d" % reply.status)]
        headers += [(name.lower().encode("latin-1"), to_bytes(value)) for name, value in reply.headers]
        if isinstance(reply.body, bytes) and all(name != b"content-length" for name, _ in headers):
            headers.append((b"content-length", b"%d" % len(reply.body)))
        return headers

    def _send_whole(self, stream: _Stream, reply: Reply, body: bytes) -> None:
        self._h2.send_headers(stream.id, self._headers(reply), end_stream=not body)
        size = self._h2.max_outbound_frame_size
        for start in range(0, len(body), size):
            self._h2.send_data(stream.id, body[start : start + size], end_stream=start + size >= len(body))
        self._finish(stream)

    async def _send_parts(self, stream: _Stream, reply: Reply, bodyless: bool) -> None:
        self._h2.send_headers(stream.id, self._headers(reply), end_stream=bodyless)
        self._flush()
        if not bodyless:
            async with aclosing(reply.pieces()) as pieces:
                async for piece in pieces:
                    await self._send_piece(stream, piece)
            self._h2.end_stream(stream.id)
        self._finish(stream)

    async def _send_piece(self, stream: _Stream, data: bytes) -> None:
        while data:
            room = min(self._h2.local_flow_control_window(stream.id), self._h2.max_outbound_frame_size)
            if room <= 0:
                self._window.clear()
                await self._window.wait()
                continue
            self._h2.send_data(stream.id, data[:room])
            data = data[room:]
            self._flush()
            await self._writable.wait()

    def _finish(self, stream: _Stream) -> None:
        self._streams.pop(stream.id, None)
        if self._last_stream is not None and not self._streams:
            self._flush()
            self._close()

    def _reset(self, stream: _Stream, code: int) -> None:
        if self._streams.pop(stream.id, None) is not None and self._transport is not None:
            self._h2.reset_stream(stream.id, code)

    def _goaway(self, last_stream: int) -> None:
        # Written by hand: h2's own close_connection() forbids the answers that are still due.
        if self._last_stream is None:
            self._last_stream = last_stream
            self._flush()
            self._write(GoAwayFrame(0, last_stream_id=last_stream, error_code=int(ErrorCodes.NO_ERROR)).serialize())

    def _flush(self) -> None:
        self._write(self._h2.data_to_send())

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _priority(event: h2_events.PriorityUpdated) -> Priority:
    return Priority(event.weight or 0, event.depends_on or 0, bool(event.exclusive))
