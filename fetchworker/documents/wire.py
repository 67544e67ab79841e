"""What a reader and its workers say to each other: a length, a JSON object, and the bytes it announces.

To a worker: ``{"kind", "caps", "overlay", "lines", "plain_pages", "bytes"}`` and the file. From it, in this order:
``ready`` once; then for each file any number of ``progress`` (``done``, ``total``) and one of ``done`` (``results``,
``pages``, ``rss``, ``bytes``) with the overlays' bytes, or ``error`` (``reason``, ``message``, ``context``, ``rss``).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

if TYPE_CHECKING:
    import asyncio
    from io import BufferedRWPair

_LENGTH = struct.Struct(">I")
#: a message of a worker that is larger than this is no message
LARGEST = 256 << 20

Message = dict[str, Any]


def packed(message: Message, body: bytes = b"") -> bytes:
    """A message and its body as bytes."""
    return head(message, len(body)) + body


def head(message: Message, size: int) -> bytes:
    """A message as bytes, before a body of so many."""
    told = orjson.dumps({**message, "bytes": size})
    return _LENGTH.pack(len(told)) + told


def receive(stream: BinaryIO | BufferedRWPair) -> tuple[Message, bytes] | None:
    """The next message of a blocking stream; None at its end."""
    prefix = stream.read(_LENGTH.size)
    if len(prefix) < _LENGTH.size:
        return None
    message: Message = orjson.loads(stream.read(_LENGTH.unpack(prefix)[0]))
    return message, stream.read(message["bytes"])


async def receive_async(stream: asyncio.StreamReader) -> tuple[Message, bytes]:
    """The next message of an asyncio stream.

    Raises:
        EOFError: there is none, the other side is gone.
    """
    size = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))[0]
    if size > LARGEST:
        raise EOFError("not a message")
    message: Message = orjson.loads(await stream.readexactly(size))
    return message, await stream.readexactly(message["bytes"])
