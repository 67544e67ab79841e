"""From an answer to items, one pure function per operation.

Each raises :class:`~fetchworker.errors.ContractError` when the answer is an error or lacks what the operation promises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Page as PageItem
from fetchworker.items import plain
from fetchworker.spiders.reading.values import count, flag, ident, mapping, text
from fetchworker.spiders.tiktok_ads import contract, parse_ads, parse_analytics, parse_library, parse_trends
from fetchworker.spiders.tiktok_ads.parse_body import answer, asked_of, data, next_page, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.items import Item

#: ``partial`` of an ad's curves when others could not be had
SOME_METRICS = "some_metrics"
_ALL = contract.ALL_REGIONS


def library(page: Page, call: Call[Any]) -> Parsed:
    """A page of a search, or one ad with its details."""
    found = answer(page)
    listed = found.get("data")
    if isinstance(listed, dict):
        return _detail(listed, call)
    if not isinstance(listed, list):
        raise ContractError("data")
    region = asked_of(page, "region")
    known = set(call.state.get("given", ()))
    raws = [raw for raw in map(mapping, listed) if (number := ident(raw.get("id"))) and number not in known]
    ads = [parse_library.ad(raw, None if region == _ALL else region) for raw in raws]
    cursor = _library_cursor(found, call) if listed else None
    end = PageItem.draft(
        next_cursor=cursor, total=count(found.get("total")), exhausted=cursor is None, url=f"{contract.LIBRARY}/ads"
    )
    return Parsed([*ads, end], cursor, {"given": [ad.id for ad in ads]})


def _detail(found: Mapping[str, Any], call: Call[Any]) -> Parsed:
    raw = mapping(found.get("ad"))
    number = ident(raw.get("id"))
    if number is None:
        raise ContractError("data.ad.id")
    _same(number, call)
    payer = parse_library.advertiser(found)
    items: list[Item] = [parse_library.ad(raw, None, found)]
    return Parsed([*items, *([payer] if payer else [])])


def _library_cursor(found: Mapping[str, Any], call: Call[Any]) -> str | None:
    """``search_id``, unless it is where it was: ``has_more`` goes on saying yes."""
    after = text(found.get("search_id"))
    if after is None or flag(found.get("has_more")) is False or after == call.cursor:
        return None
    return after if parse_library.advances(call.cursor, after) else None


def top_ads(page: Page, call: Call[Any]) -> Parsed:
    """A page of a list of ads."""
    found = data(page)
    listed = parse_ads.materials(found)
    if listed is None:
        raise ContractError("data.materials")
    return _paged([parse_ads.ad(raw) for raw in listed], found, call, contract.TOP_ADS)


def top_ad(page: Page, call: Call[Any]) -> Parsed:
    """One ad."""
    found = data(page)
    number = ident(found.get("id"))
    if number is None:
        raise ContractError("data.id")
    _same(number, call)
    return Parsed([parse_ads.ad(found)])


def top_ad_analytics(page: Page, call: Call[Any]) -> Parsed:
    """One curve of an ad, or its place among others, with those of the pages before; the other metrics follow."""
    asked = getattr(call.params, "metric", None)
    metric = call.cursor or asked or asked_of(page, "metric")
    made = parse_analytics.analytics(data(page), metric)
    if made is None:
        raise ContractError("data.analysis | data.*_percentile")
    number = getattr(call.params, "ad", None)
    following = None if asked else _next_metric(metric)
    whole = parse_analytics.joined(call.state.get("known"), made)
    whole.__dict__ |= {
        "id": number,
        "url": contract.center_url(number) if number else None,
        "partial": SOME_METRICS if following else None,
    }
    # one item for all metrics: it waits for the last
    known = {name: plain(whole.__dict__[name]) for name in parse_analytics.JOINED} if following else {}
    return Parsed([whole], following, {"known": known}, held=following is not None)


def _next_metric(metric: str | None) -> str | None:
    names = contract.METRICS
    place = names.index(metric) + 1 if metric in names else len(names)
    return names[place] if place < len(names) else None


def trends(page: Page, call: Call[Any]) -> Parsed:
    """A page of a list of what is popular."""
    found = data(page)
    url = contract.trends_url(getattr(call.params, "type", "hashtag"))
    period = asked_of(page, "period") or asked_of(page, "last")
    country = asked_of(page, "country_code") or asked_of(page, "creator_country")
    made = parse_trends.trends(found, parse_trends.Asked(country, period, url))
    if made is None:
        raise ContractError("data.list | data.sound_list | data.keyword_list | data.creators | data.info")
    return _paged(made, found, call, url)


def _paged(items: Sequence[Item], found: Mapping[str, Any], call: Call[Any], url: str) -> Parsed:
    cursor = next_page(found, int(call.cursor or "1"), empty=not items)
    end = PageItem.draft(next_cursor=cursor, total=total(found), exhausted=cursor is None, url=url)
    return Parsed([*items, end], cursor)


def _same(number: str, call: Call[Any]) -> None:
    asked = getattr(call.params, "ad", None)
    if asked and number != asked:
        raise ContractError("data.id", f"the answer is about another ad: {number}")
