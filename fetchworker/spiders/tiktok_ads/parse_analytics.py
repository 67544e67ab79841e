"""How an ad's film is watched (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import AdAnalytics, MetricSeries
from fetchworker.spiders.reading.values import count, mapping, sequence
from fetchworker.spiders.tiktok_ads import contract
from fetchworker.spiders.tiktok_ads.parse_body import told

if TYPE_CHECKING:
    from collections.abc import Mapping

#: films are shorter, in seconds
_LONGEST = 7_200
#: fields that the answers of an ad's metrics fill together
JOINED = ("second_by_second", "percentile", "extra")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def analytics(found: Mapping[str, Any], metric: str | None) -> AdAnalytics | None:
    """The curve or the place that an answer holds, None when it holds neither."""
    if isinstance(found.get("analysis"), list):
        series = MetricSeries.draft(metric=metric, points=_points(found["analysis"]))
        extra = {"duration": count(found.get("duration")), "highlight": _seconds(found.get("highlight"))}
        return AdAnalytics.draft(second_by_second=[series], extra=told(extra))
    places = [
        MetricSeries.draft(metric=name, points=[value])
        for key, value in found.items()
        if (name := _snake(key)) in contract.PERCENTILES and _is_number(value)
    ]
    return AdAnalytics.draft(percentile=places) if places else None


def joined(known: Mapping[str, Any] | None, made: AdAnalytics) -> AdAnalytics:
    """What earlier answers told, and then what this one does."""
    before = known or {}
    return AdAnalytics.draft(
        second_by_second=[*map(_series, before.get("second_by_second", ())), *made.second_by_second],
        percentile=[*map(_series, before.get("percentile", ())), *made.percentile],
        extra={**before.get("extra", {}), **made.extra},
    )


def _series(dumped: Mapping[str, Any]) -> MetricSeries:
    return MetricSeries.draft(**dumped)


def _points(value: Any) -> list[float | None]:
    """The values by second; a second that is left out has none."""
    told: dict[int, float] = {}
    for entry in map(mapping, sequence(value)):
        second, height = count(entry.get("second")), _float(entry.get("value"))
        if second is not None and second < _LONGEST and height is not None:
            told[second] = height
    return [told.get(second) for second in range(max(told) + 1)] if told else []


def _float(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return float(value) if _is_number(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value and abs(value) < 10**12  # noqa: PLR0124  # not NaN


def _seconds(value: Any) -> list[int]:
    return [second for entry in sequence(value) if (second := count(entry)) is not None]


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name).lower()
