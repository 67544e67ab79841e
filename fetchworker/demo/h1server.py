"""The demo server's HTTP/1.1 side: headers reach the log with their order and case as sent."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from http import HTTPStatus
from inspect import isawaitable
from typing import TYPE_CHECKING

from fetchworker.demo.http1 import BadMessageError, Head, chunk, read_body, read_head, response_head
from fetchworker.demo.model import App, Connection, HangUp, Reply, RequestInfo, ResetStream

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.demo.log import Log

_BODYLESS = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})


@dataclass(slots=True)
class Http1Conversation:
    """One connection's requests and answers."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    connection: Connection
    app: App
    log: Log

    async def run(self) -> None:
        """Answer requests until either side ends the connection."""
        try:
            while (head := await read_head(self.reader)) is not None:
                if not await self._exchange(head):
                    break
        except (HangUp, ResetStream):
            self.writer.transport.abort()
        except asyncio.CancelledError:
            self.writer.transport.abort()
            raise
        except Exception as exc:  # noqa: BLE001 - a server's border: a vanished client or a broken app
            self.connection.error = self.connection.error or repr(exc)
        finally:
            self.writer.close()
            with suppress(OSError):
                await self.writer.wait_closed()

    async def _exchange(self, head: Head) -> bool:
        """Answer one request; whether the connection may serve another."""
        if (head.get("expect") or "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request = self._request(head, b"".join([piece async for piece in read_body(self.reader, head)]))
        self.log.request(request)
        answer = self.app(request)
        reply = await answer if isawaitable(answer) else answer
        await self._send(reply, bodyless=request.method == "HEAD" or reply.status in _BODYLESS)
        await self.writer.drain()
        return (head.get("connection") or "").lower() != "close"

    def _request(self, head: Head, body: bytes) -> RequestInfo:
        try:
            method, path, _version = head.start.split(" ")
        except ValueError as exc:
            raise BadMessageError(f"not a request line: {head.start[:80]!r}") from exc
        return RequestInfo(self.connection, 0, method, head.get("host") or "", path, head.headers, body)

    async def _send(self, reply: Reply, *, bodyless: bool) -> None:
        headers = list(reply.headers)
        sized = any(name.lower() == "content-length" for name, _ in headers)
        if isinstance(reply.body, bytes):
            if not sized and reply.status != HTTPStatus.NO_CONTENT:
                headers.append(("content-length", str(len(reply.body))))
            self.writer.write(response_head(reply.status, headers) + (b"" if bodyless else reply.body))
            return
        if not sized:
            headers.append(("transfer-encoding", "chunked"))
        self.writer.write(response_head(reply.status, headers))
        if not bodyless:
            await self._stream(reply, bytes if sized else chunk)
            self.writer.write(b"" if sized else chunk(b""))

    async def _stream(self, reply: Reply, frame: Callable[[bytes], bytes]) -> None:
        await self.writer.drain()
        async with aclosing(reply.pieces()) as pieces:
            async for piece in pieces:
                if piece:
                    self.writer.write(frame(piece))
                    await self.writer.drain()
