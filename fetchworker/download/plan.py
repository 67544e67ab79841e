"""Where each header of a kind of request goes: worked out once per profile and set of caller's names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fetchworker.download.blink import blink_order
from fetchworker.download.lines import encode, header_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fetchworker.download.profiles import Destination, Profile

#: slots of an order, no header names: what a script adds, and Chromium's map of that and more
CUSTOM, BLINK = "<custom>", "<blink>"
#: a script cannot set them: a caller's is left out where the browser sends none
_BROWSERS_OWN = frozenset(
    (
        "accept-charset", "dnt", "origin", "priority", "referer", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site",
        "sec-fetch-storage-access", "sec-fetch-user", "upgrade-insecure-requests",
    )
)  # fmt: skip
#: sec-fetch-mode and sec-fetch-dest
FETCH_MODES: Mapping[Destination, tuple[bytes, bytes]] = {
    "navigate": (b"navigate", b"document"),
    "xhr": (b"cors", b"empty"),
    "image": (b"no-cors", b"image"),
    "script": (b"no-cors", b"script"),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The slots of a kind of request in order, with the lines that never change, and the same as an order string."""

    slots: tuple[tuple[str, bytes | None], ...]
    order: bytes


@lru_cache(maxsize=2048)
def plan_for(profile: Profile, destination: Destination, trustworthy: bool, names: tuple[str, ...]) -> Plan:
    """The slots for a request whose caller sets ``names`` (lower case, in the caller's order)."""
    order = [slot for slot in profile.templates[destination].order if trustworthy or _insecure(profile, slot)]
    own = [name for name in names if name not in order and name not in _BROWSERS_OWN]
    if BLINK in order:
        mapped = {name for name in names if name in ("accept", "content-type")}.union(own)
        block = blink_order(frozenset(mapped), hints=trustworthy and profile.sec_ch_ua is not None)
        order = _replaced(order, BLINK, block)
    elif destination == "xhr":
        order = _replaced(order, CUSTOM, [name for name in names if name in own or name == "content-type"])
    else:
        order = _replaced(order, CUSTOM, own)
    fixed = _fixed(profile, destination, trustworthy=trustworthy)
    return Plan(
        slots=tuple((name, fixed.get(name)) for name in order),
        order=b",".join([b"Host", *(name.encode() for name in order)]),
    )


def _replaced(order: Iterable[str], marker: str, names: Sequence[str]) -> list[str]:
    """The order with ``names`` in the marker's place, and nowhere else."""
    kept = [slot for slot in order if slot not in names]
    place = kept.index(marker)
    return [*kept[:place], *names, *kept[place + 1 :]]


def _insecure(profile: Profile, slot: str) -> bool:
    # plain http is HTTP/1, which has no te and, except in Firefox, no priority (on TLS curl takes care of the latter)
    if slot == "priority":
        return profile.http1_priority
    return not slot.startswith("sec-") and slot != "te"


def _fixed(profile: Profile, destination: Destination, *, trustworthy: bool) -> Mapping[str, bytes]:
    template = profile.templates[destination]
    mode, kind = FETCH_MODES[destination]
    upgrade = destination == "navigate" and (profile.upgrade_insecure or not trustworthy)
    pairs: dict[str, str | bytes | None] = {
        "Connection": "keep-alive",
        "sec-ch-ua": profile.sec_ch_ua,
        "sec-ch-ua-mobile": profile.sec_ch_ua_mobile,
        "sec-ch-ua-platform": profile.sec_ch_ua_platform,
        "Upgrade-Insecure-Requests": "1" if upgrade else None,
        "User-Agent": profile.user_agent,
        "Accept": template.accept,
        "Sec-Fetch-Mode": mode,
        "Sec-Fetch-Dest": kind,
        "Accept-Encoding": profile.accept_encoding if trustworthy else "gzip, deflate",
        "Accept-Language": profile.accept_language,
        "Priority": template.priority,
        "TE": "trailers" if profile.trailers else None,
    }
    return {
        name.lower(): header_line(name, encode(value) if isinstance(value, str) else value)
        for name, value in pairs.items()
        if value is not None
    }
