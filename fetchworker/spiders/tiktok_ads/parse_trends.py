"""What is popular, in any of the Creative Center's lists (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fetchworker.items import LARGEST, Trend, TrendPoint
from fetchworker.spiders.reading.values import count, dig, ident, link, mapping, sequence, text
from fetchworker.spiders.tiktok_ads.parse_body import day, share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: keys under which lists stand, the known ones first; the site has had others and may have more
_LISTS = ("list", "sound_list", "keyword_list", "creators", "videos", "items", "query")
#: one thing's record
_ONE = "info"
_NO_THING = "pagination"
#: where each kind keeps its number, name and address; the first that says something is taken
_IDS = ("hashtag_id", "hashtagID", "clip_id", "song_id", "user_id", "tcm_id", "item_id", "id")
_NAMES = ("hashtag_name", "hashtagName", "keyword", "nick_name", "title", "url_title", "sentence", "name", "label")
_LINKS = ("tt_link", "link", "item_url", "video_url")
_POSTS = ("publish_cnt", "publishCnt", "post", "publish_cnt_all")
_VIEWS = ("video_views", "videoViews", "vv", "video_views_all")
_LIKES = ("like", "liked_cnt")
_CURVES = ("trend", "popularityCurve", "post_metrics")
_CATEGORIES = ("third_ecom_category", "second_ecom_category", "first_ecom_category")
#: the site's own names, kept as they are; null stays null
_NUMBERS = ("rank_diff", "rank_diff_type", "comment", "share", "impression", "cost", "cpa", "ctr", "cvr",
            "play_six_rate", "post_change", "duration", "all_media_count", "publish_cnt_all",
            "video_views_all")  # fmt: skip
_TEXTS = ("author", "song_id", "ecom_type", "tcm_id", "region")
_ADDRESSES = ("cover", "cover_url", "avatar_url", "music_url", "tcm_link")


class Asked(NamedTuple):
    """What the list was asked for."""

    country: str | None = None
    period: str | None = None
    url: str | None = None


def trends(found: Mapping[str, Any], asked: Asked) -> list[Trend] | None:
    """The things of a list, None when the answer holds none of its forms."""
    listed = [found[key] for key in _LISTS if isinstance(found.get(key), list)]
    listed += [value for key, value in found.items() if isinstance(value, list) and value and key not in _LISTS]
    records = [found[key] for key in (_ONE, *found) if isinstance(found.get(key), dict) and key != _NO_THING]
    if listed and not isinstance(found.get(_ONE), dict):
        return [made for entry in listed[0] if (made := _entry(entry, asked)) is not None]
    if not records:
        return None
    one = _trend(records[0], asked)
    return [] if one is None else [one]


def _entry(entry: Any, asked: Asked) -> Trend | None:
    """One thing of a list: a record, a word, or a number alone."""
    if isinstance(entry, dict):
        return _trend(entry, asked)
    told = ident(entry)
    if told is None:
        return None
    name, number = (None, told) if told.isdecimal() else (told, None)
    return Trend.draft(id=number, name=name, url=asked.url)


def _trend(raw: Mapping[str, Any], asked: Asked) -> Trend | None:
    """One thing; None for a record without number and name."""
    number = _first(raw, _IDS, ident) or _category(raw)
    name = _first(raw, _NAMES, text)
    if number is None and name is None:
        return None
    return Trend.draft(
        id=number,
        name=name,
        rank=count(raw.get("rank")),
        posts=_first(raw, _POSTS, count),
        views=_first(raw, _VIEWS, count),
        likes=_first(raw, _LIKES, count),
        followers=count(raw.get("follower_cnt")),
        country=_country(raw) or asked.country,
        period=f"{asked.period}d" if asked.period else None,
        trend=[point for key in _CURVES for point in _points(raw.get(key))],
        url=_first(raw, _LINKS, link) or asked.url,
        extra=_extra(raw),
    )


def _first(raw: Mapping[str, Any], keys: tuple[str, ...], read: Any) -> Any:
    return next((found for key in keys if (found := read(raw.get(key))) is not None), None)


def _category(raw: Mapping[str, Any]) -> str | None:
    """A product is a category of goods: the narrowest one is its number."""
    return next((found for key in _CATEGORIES if (found := ident(dig(raw, key, "id")))), None)


def _country(raw: Mapping[str, Any]) -> str | None:
    code = (
        text(raw.get("country_code")) or text(dig(raw, "country_info", "label")) or text(dig(raw, "country_info", "id"))
    )
    return None if code is None or code.upper() == "ALL" else code


def _points(value: Any) -> Iterator[TrendPoint]:
    for entry in map(mapping, sequence(value)):
        when, what = day(entry.get("time")), share(entry.get("value"))
        if when is not None or what is not None:
            yield TrendPoint.draft(date=when, value=what)


def _extra(raw: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: _number(raw[name]) for name in _NUMBERS if name in raw}
    found |= {name: told for name in _TEXTS if (told := text(raw.get(name)))}
    found |= {name: told for name in _ADDRESSES if (told := link(raw.get(name)))}
    industry, path = text(dig(raw, "industry_info", "value")), _path(raw)
    found |= {"industry": industry} if industry else {}
    found |= {"category_path": path} if path else {}
    return {**found, **_lists(raw)}


def _lists(raw: Mapping[str, Any]) -> dict[str, Any]:
    creators = [name for entry in sequence(raw.get("creators")) if (name := text(dig(entry, "nick_name")))]
    related = [*sequence(raw.get("related_items")), *sequence(raw.get("items"))]
    videos = [number for entry in related if (number := ident(dig(entry, "item_id")))]
    videos += [
        number for key in ("video_list", "posts") for entry in sequence(raw.get(key)) if (number := ident(entry))
    ]
    hashtags = [name for entry in sequence(raw.get("hashtags")) if (name := text(entry))]
    told = {"creators": creators, "videos": videos, "hashtags": hashtags}
    return {name: value for name, value in told.items() if value}


def _path(raw: Mapping[str, Any]) -> list[str]:
    return [name for key in reversed(_CATEGORIES) if (name := text(dig(raw, key, "value")))]


def _number(value: Any) -> int | float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
    return value if good else None
