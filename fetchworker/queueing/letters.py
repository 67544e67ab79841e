"""Dead letters: read one by one, shown to people and to programs, put back or dropped."""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fetchworker.errors import CorruptEntryError
from fetchworker.frontier.codec import fields_of
from fetchworker.frontier.entry import Dead, read_dead
from fetchworker.queueing.status import first_line, span, table
from fetchworker.telemetry.redaction import redact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from fetchworker.frontier.keys import Namespace
    from fetchworker.redis import Client

_WIDE = 100


@dataclass(frozen=True, slots=True)
class Letter:
    """A record of the dead letters. ``dead`` is None for one that cannot be read, and ``raw`` then all there is."""

    id: str
    dead: Dead | None
    raw: bytes

    @classmethod
    def read(cls, id_: bytes, record: bytes) -> Letter:
        """What a record says."""
        name = id_.decode("utf-8", "backslashreplace")
        try:
            dead = read_dead(name, record)
        except CorruptEntryError:
            return cls(name, None, record)
        return cls(name, dead, dead.entry.payload)

    @property
    def reason(self) -> str:
        """Why it is here."""
        return self.dead.reason if self.dead else "the record cannot be read"

    @property
    def fields(self) -> dict[str, Any] | None:
        """The request's fields; None for a seed, and for what is no request."""
        if self.dead is None or self.dead.entry.kind == "seed":
            return None
        try:
            return fields_of(self.raw)
        except CorruptEntryError:
            return None

    @property
    def kind(self) -> str:
        """``request``, ``seed`` or ``unreadable``."""
        if self.dead is not None and self.dead.entry.kind == "seed":
            return "seed"
        return "unreadable" if self.fields is None else "request"


async def letters(redis: Client, names: Namespace) -> AsyncIterator[Letter]:
    """The dead letters of a namespace, in no order; a few hundred of them are in memory at once."""
    seen: set[bytes] = set()  # a scan may give one twice
    async for id_, record in redis.hscan_iter(f"{names.root}:dead", count=200):
        if id_ not in seen:
            seen.add(id_)
            yield Letter.read(id_, record)


async def these(redis: Client, names: Namespace, ids: Iterable[str]) -> dict[str, Letter | None]:
    """The dead letters of these ids, None where there is none."""
    found: dict[str, Letter | None] = {}
    for id_ in dict.fromkeys(ids):
        record: Any = await redis.hget(f"{names.root}:dead", id_)
        found[id_] = None if record is None else Letter.read(id_.encode(), record)
    return found


def age(letter: Letter) -> tuple[float, int, str]:
    """What puts letters into their order, the oldest first; those that cannot be read come before all."""
    return (letter.dead.at if letter.dead else 0.0, len(letter.id), letter.id)


async def in_order(redis: Client, names: Namespace, chosen: AsyncIterator[Letter]) -> AsyncIterator[Letter]:
    """Letters, the oldest first; of all of them the ids alone are in memory."""
    for _, _, id_ in sorted([age(letter) async for letter in chosen]):
        letter = (await these(redis, names, [id_]))[id_]
        if letter is not None:  # somebody has taken it meanwhile
            yield letter


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def row(letter: Letter) -> tuple[Any, ...]:
    """What people are shown of a letter; its :func:`age` comes first."""
    told = (letter.id, letter.kind, *_tries(letter), _age(letter), _line(letter.reason), _line(_subject(letter)))
    return (age(letter), *told)


def as_text(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """A line a letter, the oldest first."""
    ordered = sorted(rows, key=lambda found: found[0])
    return table(("ID", "KIND", "ATTEMPTS", "DELIVERIES", "AGE", "REASON", "URL"), [found[1:] for found in ordered])


def _tries(letter: Letter) -> tuple[Any, Any]:
    return (letter.dead.entry.failures, letter.dead.entry.deliveries) if letter.dead else ("?", "?")


def _age(letter: Letter) -> str:
    return span(max(0.0, time.time() - letter.dead.at)) if letter.dead else "?"


def _subject(letter: Letter) -> str:
    fields = letter.fields
    if fields is not None:
        return f"{fields.get('method', 'GET')} {fields['url']}"
    return letter.raw[: 4 * _WIDE].decode("utf-8", "backslashreplace")


def _line(text: str) -> str:
    """Text that stays on its line, without credentials."""
    shown = "".join(char if char.isprintable() else " " for char in redact(first_line(text)))
    return shown if len(shown) <= _WIDE else f"{shown[: _WIDE - 1]}…"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(letter: Letter) -> dict[str, Any]:
    """One object; what the request holds is all there."""
    dead = letter.dead
    told: dict[str, Any] = {
        "id": letter.id,
        "kind": letter.kind,
        "reason": letter.reason,
        "at": datetime.fromtimestamp(dead.at, UTC).isoformat(timespec="milliseconds") if dead else None,
        "attempts": dead.entry.failures if dead else None,
        "deliveries": dead.entry.deliveries if dead else None,
        "priority": dead.priority if dead else None,
    }
    fields = letter.fields
    return told | ({"request": _request(fields)} if fields is not None else _raw(letter))


def _request(fields: dict[str, Any]) -> dict[str, Any]:
    told = {"method": "GET", **fields}
    if "headers" in told:
        told["headers"] = [[_text(part) for part in line] for line in told["headers"]]
    if "body" in told:
        told |= _bytes("body", told.pop("body"))
    return {name: _plain(value) for name, value in told.items()}


def _raw(letter: Letter) -> dict[str, Any]:
    return _bytes("seed" if letter.kind == "seed" else "raw", letter.raw)


def _bytes(name: str, value: bytes) -> dict[str, Any]:
    """Bytes under their name as text, or under ``<name>_base64``."""
    try:
        if name != "raw":
            return {name: value.decode()}
    except UnicodeDecodeError:
        pass
    return {f"{name}_base64": base64.b64encode(value).decode()}


def _text(part: Any) -> Any:
    return part.decode("latin-1") if isinstance(part, bytes) else part


def _plain(value: Any) -> Any:
    """A value as JSON has it: bytes that are no text as ``{"base64": …}``."""
    if isinstance(value, dict):
        return {_key(key): _plain(found) for key, found in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(found) for found in value]
    if isinstance(value, bytes):
        found = _bytes("text", value)
        return found.get("text", {"base64": found.get("text_base64")})
    return value.isoformat() if isinstance(value, datetime) else value


def _key(key: Any) -> str:
    return key.decode("utf-8", "backslashreplace") if isinstance(key, bytes) else str(key)
