"""The words of an advertisement, which the address of its preview carries (pure).

``overlay=`` holds gzip in URL-safe base64, with a ``=`` before it (fixtures of netvietsoft/ads-spy, 2026-07); inside is
a protobuf message whose repeated field 9 has a name (``headline``, ``description``, ``visurl``) and its value. Previews
without it have their words in the script alone.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import TYPE_CHECKING

from fetchworker.spiders.reading import addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARAMETER = "overlay"
_ENTRY = 9
#: bytes; the ones known have some hundred
_LONGEST = 64 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SHIFT, _LONGEST_VARINT = 7, 10


def words(url: str | None) -> dict[str, str]:
    """The named texts of a preview's address, empty when it has none or they are broken."""
    if not url or f"{_PARAMETER}=" not in url:  # most have none, and lists are long
        return {}
    data = _inflated(addresses.query(url).get(_PARAMETER, ""))
    found: dict[str, str] = {}
    for number, entry in _fields(data):
        texts = [content.decode() for _, content in _fields(entry) if _readable(content)] if number == _ENTRY else []
        if len(texts) > 1:
            found.setdefault(texts[0], texts[1])
    return found


def _inflated(text: str) -> bytes:
    text = text.strip("=")
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return zlib.decompressobj(_GZIP).decompress(packed, _LONGEST)
    except (binascii.Error, ValueError, zlib.error):
        return b""


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a message that hold bytes, as far as it can be read."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        kind = tag & 7
        if kind == _VARINT:
            _, position = _varint(data, position)
        elif kind in (_FIXED64, _FIXED32):
            position += 8 if kind == _FIXED64 else 4
        elif kind == _BYTES:
            length, position = _varint(data, position)
            if position + length > len(data):
                return
            yield tag >> 3, data[position : position + length]
            position += length
        else:
            return


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number and the place behind it; of one that does not end, the place behind the data."""
    value = 0
    for place, byte in enumerate(data[position : position + _LONGEST_VARINT]):
        value |= (byte & 0x7F) << (_SHIFT * place)
        if byte < 0x80:  # noqa: PLR2004  # the bit that says that more follows
            return value, position + place + 1
    return 0, len(data) + 1


def _readable(content: bytes) -> bool:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return bool(text.strip()) and all(letter.isprintable() or letter in "\n\t" for letter in text)
