"""What requests have to show: the library's handshake, and the Creative Center's signature (pure)."""

from __future__ import annotations

import hashlib
import uuid
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from fetchworker.contracts import Page

#: stands in the site's script; the package tiktok-user-sign 3.0.0 (2026-01) and clients of 2026-10 have the same
SALT = "A7B&9z#1G6$2K@8M!3"
_LONGEST = 4_096


def extract(page: Page) -> dict[str, str]:
    """``ccl_str``: the value of X-CCL-STR, which the library's list of regions gives as ``config_str`` (2026-09)."""
    try:
        found = orjson.loads(page.body)
    except orjson.JSONDecodeError:
        return {}
    value = found.get("config_str") if isinstance(found, dict) else None
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or not 0 < len(value) <= _LONGEST:
        return {}
    return {"ccl_str": value}


def compute(identity: str, now: int) -> dict[str, str]:
    """The three values that a guest of the Creative Center shows; they belong together.

    Args:
        identity: names the guest; the same name makes the same id.
        now: POSIX seconds.
    """
    guest = anonymous_id(identity)
    return {"anonymous_user_id": guest, "timestamp": str(now), "user_sign": user_sign(guest, now)}


def anonymous_id(identity: str) -> str:
    """A random-looking UUID (version 4) that follows from a name."""
    return str(uuid.UUID(bytes=hashlib.blake2b(identity.encode(), digest_size=16).digest(), version=4))


def user_sign(guest: str, timestamp: int) -> str:
    """The header ``user-sign``: an MD5 of salt, id and time, its two halves folded into one by XOR."""
    digest = hashlib.md5(f"{SALT}-{guest}-{timestamp}".encode(), usedforsecurity=False).digest()
    return bytes(one ^ other for one, other in zip(digest[:8], digest[8:], strict=True)).hex()
