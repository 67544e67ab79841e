"""Evomi's figures: ``GET https://api.evomi.com/public/usage`` of its public API.

Source: https://docs.evomi.com/public-api/endpoints/bandwidth-usage/ and …/proxy-instructions/ (seen 2026-11). The key
goes in the header ``x-apikey``; ``product`` is one of ``rp`` (premium residential), ``rpc`` (core residential), ``dcp``
(datacenter; its table has no words for it), ``mp`` (mobile), ``sdc`` (static datacenter); ``period`` is ``24h``, ``3d``
or ``7d``, of which the last two come by day::

    {"success": true,
     "data": {"bandwidth": {"products": [{"name": …, "code": "rpc", "totalBandwidth": 43.9,
              "stats": {"2026-05-26 00:00": {"default": 19.0, "extra": 0.2, "total": 19.2}}}]}, "requests": {}},
     "meta": {"bandwidth_unit": "MB", "granularity": "day", …}}

Only core residential is documented with ``default``, ``extra`` and ``total``; a plain number is taken for the total.
A GB is 1000 MB there, by ``meta``'s own totals.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fetchworker.errors import ArgumentError
from fetchworker.usage.billed import Answered, Asked, at, malformed, read_json, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import SecretStr

    from fetchworker.usage.billed import Ask, Billed

URL = "https://api.evomi.com/public/usage"
VARIABLE = "FETCHWORKER_EVOMI_API_KEY"
#: tier → code of the product
PRODUCTS = {"residential": "rp", "core_residential": "rpc", "datacenter": "dcp", "mobile": "mp"}
#: days that it tells, today among them
DAYS = 7
_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_NAME = "Evomi"


class EvomiUsage:
    """See :class:`~fetchworker.usage.billed.BilledUsage`."""

    provider = "evomi"
    tiers = tuple(PRODUCTS)

    def __init__(self, key: SecretStr, ask: Ask, *, today: date) -> None:
        self._key = key
        self._ask = ask
        self._today = today

    async def billed(self, days: Sequence[str], tiers: Sequence[str], /) -> Billed:
        """See :class:`~fetchworker.usage.billed.BilledUsage`."""
        first = self._today - timedelta(DAYS - 1)
        if days[0] < str(first):
            raise ArgumentError(f"{_NAME} tells the last {DAYS} days only: write --since {first} or later")
        found: Billed = {}
        for tier in tiers:
            query = urlencode({"period": "7d", "product": PRODUCTS[tier]})
            headers = {"x-apikey": self._key.get_secret_value(), "accept": "application/json"}
            answer = await self._ask(Asked("GET", f"{URL}?{query}", headers))
            for day, size in read(answer, PRODUCTS[tier]).items():
                if day in days:
                    found[day, tier] = size
        return found

    def notes(self) -> tuple[str, ...]:
        """See :class:`~fetchworker.usage.billed.BilledUsage`."""
        return (
            "Evomi bills at least 512 bytes for a request",
            "expert settings of core residential multiply what is billed, up to 15 times",
        )


def read(answer: Answered, product: str) -> dict[str, int]:
    """Bytes by day out of an answer (pure).

    Raises:
        BilledUsageError: it is none.
    """
    found = read_json(_NAME, VARIABLE, answer)
    if found.get("success") is not True:
        raise malformed(_NAME, "success is not true")
    unit = _UNITS.get(str(at(_NAME, found, "meta", "bandwidth_unit")).upper())
    if unit is None:
        raise malformed(_NAME, "an unknown meta.bandwidth_unit")
    products = at(_NAME, found, "data", "bandwidth", "products")
    if not isinstance(products, list):
        raise malformed(_NAME, "data.bandwidth.products is no list")
    days: dict[str, int] = {}
    for each in products:
        if at(_NAME, each, "code") == product:
            _add(days, at(_NAME, each, "stats"), unit)
    return days


def _add(days: dict[str, int], stats: Any, unit: int) -> None:
    if not isinstance(stats, dict):
        if not stats:  # PHP's way to write an object without entries: []
            return
        raise malformed(_NAME, "stats is no object")
    for when, value in stats.items():
        day = when[:10]
        try:
            date.fromisoformat(day)
        except ValueError:
            raise malformed(_NAME, "a time in stats that is none") from None
        total = at(_NAME, value, "total") if isinstance(value, dict) else value
        days[day] = days.get(day, 0) + whole(_NAME, total, f"stats.{day}", unit=unit)
