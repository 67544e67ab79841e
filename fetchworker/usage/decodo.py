"""Decodo's figures: ``POST https://api.decodo.com/api/v2/statistics/traffic`` of its public API.

Its reference (https://help.decodo.com/reference/public-api-key-authentication) could not be read itself; this is what
public clients agree on, such as the README of a usage bot and a client with paging (GitHub, seen 2026-11). The key is
the ``Authorization`` header as it is, without ``Bearer``. Times are UTC::

    {"proxyType": "residential_proxies", "startDate": "2026-11-01 00:00:00", "endDate": "2026-11-30 23:59:59",
     "groupBy": "day", "limit": 500, "page": 1}

    {"metadata": {"total_pages": 1, "totals": {…}},
     "data": [{"key": "2026-11-01 00:00:00", "rx_bytes": 9, "tx_bytes": 1, "rx_tx_bytes": 10, "requests": 2}]}
"""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING

from fetchworker.usage.billed import Answered, Asked, at, malformed, read_json, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from fetchworker.usage.billed import Ask, Billed

URL = "https://api.decodo.com/api/v2/statistics/traffic"
VARIABLE = "FETCHWORKER_DECODO_API_KEY"
#: tier → type of proxies
TYPES = {"residential": "residential_proxies", "datacenter": "datacenter_proxies", "mobile": "mobile_proxies"}
_NAME = "Decodo"
_ROWS = 500
_PAGES = 20  # at most, whatever an answer says


class DecodoUsage:
    """See :class:`~fetchworker.usage.billed.BilledUsage`."""

    provider = "decodo"
    tiers = tuple(TYPES)

    def __init__(self, key: SecretStr, ask: Ask) -> None:
        self._key = key
        self._ask = ask

    async def billed(self, days: Sequence[str], tiers: Sequence[str], /) -> Billed:
        """See :class:`~fetchworker.usage.billed.BilledUsage`."""
        found: Billed = {}
        for tier in tiers:
            page = pages = 1
            while page <= pages:
                answer = await self._ask(self._asked(days, TYPES[tier], page))
                sizes, pages = read(answer)
                for day, size in sizes.items():
                    if day in days:
                        found[day, tier] = found.get((day, tier), 0) + size
                page += 1
        return found

    def _asked(self, days: Sequence[str], kind: str, page: int) -> Asked:
        body = {
            "proxyType": kind,
            "startDate": f"{days[0]} 00:00:00",
            "endDate": f"{days[-1]} 23:59:59",
            "groupBy": "day",
            "limit": _ROWS,
            "page": page,
        }
        headers = {
            "authorization": self._key.get_secret_value(),
            "accept": "application/json",
            "content-type": "application/json",
        }
        return Asked("POST", URL, headers, json.dumps(body).encode())

    def notes(self) -> tuple[str, ...]:
        """See :class:`~fetchworker.usage.billed.BilledUsage`."""
        return ()


def read(answer: Answered) -> tuple[dict[str, int], int]:
    """Bytes by day, and how many pages there are, out of an answer (pure).

    Raises:
        BilledUsageError: it is none.
    """
    found = read_json(_NAME, VARIABLE, answer)
    rows = at(_NAME, found, "data")
    if not isinstance(rows, list):
        raise malformed(_NAME, "data is no list")
    days: dict[str, int] = {}
    for row in rows:
        day = str(at(_NAME, row, "key"))[:10]
        try:
            date.fromisoformat(day)
        except ValueError:
            raise malformed(_NAME, "a key in data that is no day") from None
        days[day] = days.get(day, 0) + whole(_NAME, at(_NAME, row, "rx_tx_bytes"), f"rx_tx_bytes of {day}")
    metadata = found.get("metadata")
    pages = metadata.get("total_pages", 1) if isinstance(metadata, dict) else 1
    if isinstance(pages, bool) or not isinstance(pages, int):
        raise malformed(_NAME, "metadata.total_pages is no number")
    return days, min(pages, _PAGES)
