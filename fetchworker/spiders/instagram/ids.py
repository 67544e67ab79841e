"""Media ids: a shortcode is the media's number in base64url, and the number holds the time of creation.

Checked on pk 3984285244001148342 = ``DdLBlHchN22`` = 2026-09-12T03:30Z, as its source states (September 2026).
"""

from __future__ import annotations

import re

from fetchworker.spiders.reading.values import instant

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUE = {character: value for value, character in enumerate(_ALPHABET)}
#: epoch of the ids, milliseconds (2011-08-24)
EPOCH_MS = 1_314_220_021_721
_TIME_SHIFT = 23
_BITS = 63
#: shortcodes of private accounts' posts carry a key of this length behind the id
_KEY_LENGTH = 28
#: ids below were given one after another, before ids told the time (one day after the epoch, to be safe)
_FIRST_TIMED = 86_400_000 << _TIME_SHIFT
_PK = re.compile(r"([0-9]{1,20})(?:_[0-9]+)?\Z")


def media_pk(value: str | None) -> str | None:
    """The media's number out of ``<pk>`` or ``<pk>_<user>``."""
    match = _PK.match(value or "")
    return match.group(1) if match else None


def pk_of(shortcode: str | None) -> str | None:
    """``DdLBlHchN22`` → ``3984285244001148342``."""
    code = (shortcode or "")[:-_KEY_LENGTH] if len(shortcode or "") > _KEY_LENGTH else shortcode
    if not code or any(character not in _VALUE for character in code):
        return None
    number = 0
    for character in code:
        number = number << 6 | _VALUE[character]
    return str(number) if 0 < number < 1 << _BITS else None


def shortcode_of(pk: str | None) -> str | None:
    """``3984285244001148342`` → ``DdLBlHchN22``."""
    number = _number(pk)
    code = ""
    while number:
        code = _ALPHABET[number & 63] + code
        number >>= 6
    return code or None


def created_at(pk: str | None) -> str | None:
    """When the media was created, by its number; None for numbers older than the scheme."""
    number = _number(pk)
    return instant((number >> _TIME_SHIFT) + EPOCH_MS) if number >= _FIRST_TIMED else None


def _number(pk: str | None) -> int:
    number = int(media_pk(pk) or 0)
    return number if number < 1 << _BITS else 0
