"""The Redis keys of the shared pace.

All have the tag ``{<site>:pace}``, so that a site's are in one slot of a Redis Cluster. Each expires when what it holds
is over. Times are microseconds of Redis's clock; a permit is ``<worker>:<number>``.

============================================== ========================================================================
``{<site>:pace}:leases:<host>``                zset, permit → until when it counts unless it is heard of: requests that
                                               wait (those in ``turns``), and requests under way (all others)
``{<site>:pace}:turns:<host>``                 zset, permit → when it may start as far as is known, of those that wait
``{<site>:pace}:host:<host>``                  hash of what holds for the whole host, see below
``{<site>:pace}:lane:<host>[:<exit>]``         hash of the lane: ``ready`` (behind all bookings), ``start`` (no start
                                               before, for the last one's delay), ``pause`` (nor before this)
``{<site>:pace}:booked:<host>[:<exit>]``       zset, permit → its booked start, of those that wait in the lane
``{<site>:pace}:starts:<host>[:<exit>]``       zset, permit → start, of the last minute, where the site has a ceiling
============================================== ========================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from fetchworker.pace.shared import Lane

_OF_HOST = ("leases", "turns", "host")
_OF_LANE = ("lane", "booked", "starts")


def pace_keys(site: str, lane: Lane) -> list[str]:
    """All keys of a lane, in the order of the list above."""
    return [*(_key(site, kind, lane.host) for kind in _OF_HOST), *(_key(site, kind, *lane) for kind in _OF_LANE)]


def pause_key(site: str, lane: Lane, *, whole_host: bool) -> str:
    """The hash that holds the lane's, or its host's, pause."""
    return _key(site, "host", lane.host) if whole_host else _key(site, "lane", *lane)


def _key(site: str, kind: str, *parts: str) -> str:
    # colons and braces of addresses would be taken for ours
    return ":".join([f"{{{_plain(site)}:pace}}", kind, *(_plain(part) for part in parts if part)])


def _plain(part: str) -> str:
    return quote(part, safe="")
