"""Requests as JSON in Redis (the module that ``SCHEDULER_SERIALIZER`` names): no pickle, no code in data.

Bytes are base64 under a ``$bytes`` key, tuples become lists. What lives for one try only (``meta["fw_wire"]``) is left
out; anything else that is no JSON value is refused by name before it is queued.
"""

from __future__ import annotations

import base64
from typing import Any

import orjson

#: the meta key of an unstored identity that a redirect or a warm-up carries on
CARRIED = "fw_identity"
#: the meta key of the download slot that was worked out for the last try
SLOT = "fw_slot"
#: meta keys that belong to one try in one process
VOLATILE = frozenset({"fw_wire", CARRIED, SLOT, "download_latency", "download_slot"})


def dumps(request: dict[str, Any]) -> bytes:
    """Encode ``Request.to_dict()``.

    Raises:
        TypeError: a value is no JSON value; its path is named.
    """
    kept = dict(request)
    kept["meta"] = {key: value for key, value in (kept.get("meta") or {}).items() if key not in VOLATILE}
    return orjson.dumps(_plain(kept, "request"))


def loads(raw: bytes) -> Any:
    """Decode what :func:`dumps` made."""
    return _restored(orjson.loads(raw))


def _plain(value: Any, path: str) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {"$bytes": base64.b64encode(value).decode()}
        case dict():
            return {_key(key, path): _plain(item, f"{path}.{key}") for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, f"{path}[{place}]") for place, item in enumerate(value)]
        case _:
            raise TypeError(f"{path} is a {type(value).__name__}, which cannot be queued: use JSON values or bytes")


def _key(key: Any, path: str) -> str:
    if isinstance(key, bytes):
        return f"$b:{key.decode('latin-1')}"
    if isinstance(key, str) and not key.startswith("$b"):
        return key
    raise TypeError(f"{path} has the key {key!r}, which cannot be queued: use strings that do not begin with $b")


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {"$bytes"}:
            return base64.b64decode(value["$bytes"])
        return {
            key[3:].encode("latin-1") if key.startswith("$b:") else key: _restored(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_restored(item) for item in value]
    return value
