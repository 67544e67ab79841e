"""Values as msgpack: a closed set of types, each of which reads back as it was (pure).

None, bool, int of 64 bits, float, str, bytes, list, tuple, dict with str or bytes as keys, datetime with a time zone
(which reads back in UTC). bytearray and memoryview read back as bytes; the text that a selector found (lxml's own str,
as in the meta of a ``CrawlSpider``'s requests) reads back as str. Nothing that is read is code or names a class.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgpack

from fetchworker.errors import UnqueueableError

#: the extension type that holds a tuple as a list
_TUPLE = 1
#: tuples inside of tuples: each costs msgpack a large stack frame
_TUPLES_DEEP = 16
#: containers inside of containers, when one of them is looked for that cannot be queued
_DEEP = 500
_PLAIN = (type(None), bool, float, bytes, bytearray, memoryview)
_USE = {set: "a list", frozenset: "a list", datetime: "one with a time zone"}


def pack(value: Any, depth: int = 0) -> bytes:
    """Bytes of a value that is known to be one of ours; ``depth`` counts the tuples around it."""

    def tuples(found: Any) -> Any:
        if type(found) is tuple and depth < _TUPLES_DEEP:
            return msgpack.ExtType(_TUPLE, pack(list(found), depth + 1))
        if _is_selected(found):
            return str(found)
        raise TypeError(f"a {type(found).__name__}")

    packed: bytes = msgpack.Packer(default=tuples, strict_types=True, datetime=True).pack(value)
    return packed


def unpack(raw: bytes | memoryview, depth: int = 0) -> Any:
    """The value; whatever the bytes are, an ``Exception`` is the worst that comes of it."""

    def tuples(code: int, data: bytes) -> Any:
        found = unpack(data, depth + 1) if code == _TUPLE and depth < _TUPLES_DEEP else None
        if type(found) is not list:
            raise ValueError(f"a value of the unknown type {code}, or tuples nested too deep")
        return tuple(found)

    # timestamp=3: datetime in UTC
    return msgpack.unpackb(raw, ext_hook=tuples, strict_map_key=True, timestamp=3)


def packed_value(value: Any, path: str) -> bytes:
    """Bytes of a value, proved to read back as it was.

    Raises:
        UnqueueableError: a part of it has no place in the queue; the message names its path.
    """
    try:
        packed = pack(value)
        if unpack(packed) == value:
            return packed
    except Exception as exc:  # noqa: BLE001  # whatever msgpack says: the value's place is told
        _refuse(value, path)
        raise UnqueueableError(f"{path} cannot be queued: {exc}") from None
    _refuse(value, path)  # not so for nan, which equals nothing
    return packed


def _refuse(value: Any, path: str, depth: int = 0) -> None:
    """Raise for the first part that has no place in the queue."""
    if depth > _DEEP:
        raise UnqueueableError(f"{path[:60]}… is nested too deep to be queued")
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) not in (str, bytes):
                raise UnqueueableError(f"{path} has the key {key!r:.60}, which cannot be queued: use str or bytes")
            _refuse_scalar(key, f"{path} has a key that")
            _refuse(item, f"{path}.{key if type(key) is str else repr(key):.60}", depth + 1)
    elif kind in (list, tuple):
        for place, item in enumerate(value):
            _refuse(item, f"{path}[{place}]", depth + 1)
    else:
        _refuse_scalar(value, path)


def _refuse_scalar(value: Any, path: str) -> None:
    kind = type(value)
    if kind is int:
        if not -(2**63) <= value < 2**64:
            raise UnqueueableError(f"{path} is an int beyond 64 bits, which cannot be queued: use str")
    elif kind is str or _is_selected(value):
        if not _is_utf8(value):
            raise UnqueueableError(f"{path} is text that is no UTF-8, which cannot be queued: use bytes")
    elif kind not in _PLAIN and not (kind is datetime and value.tzinfo):
        raise UnqueueableError(f"{path} is a {kind.__name__}, which cannot be queued: use {_instead(value)}")


def _is_selected(value: Any) -> bool:
    return isinstance(value, str) and type(value).__module__ == "lxml.etree"


def _instead(value: Any) -> str:
    for base in (*_USE, dict, list, tuple, str, int, float):
        if isinstance(value, base):
            return _USE.get(base, f"a plain {base.__name__}")
    return "None, bool, int, float, str, bytes, list, tuple or dict"


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
