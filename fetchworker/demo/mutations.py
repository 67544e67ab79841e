"""Good bodies, damaged: cut, spliced, with values exchanged, emptied or of another type (pure; from a seed).

Tests that choose the damage by themselves name a place in a JSON value (:func:`places`) and what is to stand there.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_VALUE = re.compile(rb'(?<=[:,\[])\s*(?:"(?:[^"\\]|\\.){0,200}"|-?\d+(?:\.\d+)?|true|false|null)')
_KEY = re.compile(rb'"[A-Za-z_]\w{0,40}"(?=\s*:)')
_OTHERS = (
    b"null", b"{}", b"[]", b'""', b"0", b"-1", b"true", b"1e999", b'"\\ud83d"', b"99999999999999999999", b'[{"a":[]}]',
    b'"x"', b'{"id":{"id":[]}}', b"NaN", b'"1.2.3,4"', b'"0000-99-99T99:99:99Z"',
)  # fmt: skip
_BYTES = (b"<", b"{", b"}", b"[", b'"', b"\\", b"\x00", b"\xff", b"</script>", b"for (;;);", b"&quot;", b"\xed\xa0\x80")


def mutated(body: bytes, seed: int) -> bytes:
    """``body`` with one to four damages that ``seed`` chooses."""
    chance = random.Random(seed)  # noqa: S311  # damage, no secrets
    for _ in range(chance.randint(1, 4)):
        body = chance.choice(_DAMAGES)(body, chance)
    return body


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths to every place in a JSON value, that of the whole first."""
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*path, key))


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """A copy of a JSON value with something else at a place."""
    if not path:
        return new
    copy: Any = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


def _cut(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randint(0, len(body))]


def _without(body: bytes, chance: random.Random) -> bytes:
    begin = chance.randint(0, len(body))
    return body[:begin] + body[begin + chance.randint(1, 400) :]


def _twice(body: bytes, chance: random.Random) -> bytes:
    begin = chance.randint(0, len(body))
    return body[:begin] + body[begin : begin + chance.randint(1, 400)] + body[begin:]


def _strewn(body: bytes, chance: random.Random) -> bytes:
    begin = chance.randint(0, len(body))
    return body[:begin] + chance.choice(_BYTES) + body[begin:]


def _values(body: bytes, chance: random.Random) -> bytes:
    """Some values are of another type."""
    share = chance.choice((0.02, 0.1, 0.5))
    return _VALUE.sub(lambda found: chance.choice(_OTHERS) if chance.random() < share else found[0], body)


def _one_value(body: bytes, chance: random.Random) -> bytes:
    found = list(_VALUE.finditer(body))
    if not found:
        return body
    begin, end = chance.choice(found).span()
    return body[:begin] + chance.choice(_OTHERS) + body[end:]


def _keys(body: bytes, chance: random.Random) -> bytes:
    """One name is another one, all over."""
    found = list(set(_KEY.findall(body)))
    return body.replace(chance.choice(sorted(found)), b'"renamed"') if found else body


_DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _cut, _without, _twice, _strewn, _values, _one_value, _one_value, _keys, _keys,
)  # fmt: skip
