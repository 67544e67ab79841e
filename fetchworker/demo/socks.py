"""The server's side of a SOCKS5 conversation (RFC 1928) with user name and password (RFC 1929)."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from fetchworker.demo.http1 import BadMessageError

if TYPE_CHECKING:
    import asyncio

SUCCEEDED, NOT_ALLOWED, REFUSED, BAD_COMMAND, BAD_ADDRESS = 0, 2, 5, 7, 8
_VERSION = 5
_LOGIN, _NO_METHOD = 2, 0xFF
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4


async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, str]:
    """Take the greeting and the user name with its password.

    Raises:
        BadMessageError: not SOCKS5, or a client that brings no credentials (it is told so).
    """
    version, count = await reader.readexactly(2)
    methods = await reader.readexactly(count)
    if version != _VERSION:
        raise BadMessageError("not SOCKS5")
    if _LOGIN not in methods:
        writer.write(bytes([_VERSION, _NO_METHOD]))
        await writer.drain()
        raise BadMessageError("no credentials")
    writer.write(bytes([_VERSION, _LOGIN]))
    await writer.drain()
    await reader.readexactly(1)
    return await _text(reader), await _text(reader)


async def _text(reader: asyncio.StreamReader) -> str:
    size = (await reader.readexactly(1))[0]
    return (await reader.readexactly(size)).decode("utf-8", "replace")


async def answer_login(writer: asyncio.StreamWriter, *, good: bool) -> None:
    """Say whether the credentials are good."""
    writer.write(bytes([1, 0 if good else 1]))
    await writer.drain()


async def read_target(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
    """``name:port`` of a CONNECT request.

    Raises:
        BadMessageError: another command or kind of address (the client is told so).
    """
    _version, command, _reserved, kind = await reader.readexactly(4)
    if kind == _NAME:
        host = await _text(reader)
    elif kind in {_IPV4, _IPV6}:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
    else:
        await answer_connect(writer, BAD_ADDRESS)
        raise BadMessageError(f"unknown kind of address {kind}")
    port = int.from_bytes(await reader.readexactly(2), "big")
    if command != _CONNECT:
        await answer_connect(writer, BAD_COMMAND)
        raise BadMessageError(f"unknown command {command}")
    return f"{host}:{port}"


async def answer_connect(writer: asyncio.StreamWriter, code: int) -> None:
    """Answer the request."""
    writer.write(bytes([_VERSION, code, 0, _IPV4]) + bytes(6))
    await writer.drain()
