"""The envelope of both interfaces, and values that they write alike (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.errors import ContractError
from fetchworker.items import Media
from fetchworker.spiders.reading import addresses, html
from fetchworker.spiders.reading.values import count, flag, instant, link, mapping, measure, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.contracts import Page

#: the best film first; others as the site lists them
_RESOLUTIONS = ("1080p", "720p", "540p", "480p", "360p")


def answer(page: Page) -> Mapping[str, Any]:
    """The whole answer, when it is none of the site's errors.

    Raises:
        ContractError: it is no JSON object, or an error: the site's number and words are told.
    """
    try:
        found = orjson.loads(page.body)
    except orjson.JSONDecodeError:
        found = html.parsed(html.decoded(page))
    if not isinstance(found, dict):
        raise ContractError("body", "an answer that is no JSON object")
    code = found.get("code", mapping(found.get("BaseResp")).get("StatusCode", 0))
    if code not in (0, None):
        raise ContractError("code", f"the answer is an error: {code} {text(found.get('msg')) or ''}".strip())
    return found


def data(page: Page) -> Mapping[str, Any]:
    """What the Creative Center answers with: ``data``, or the answer itself (2026's lists of hashtags).

    Raises:
        ContractError: there is none.
    """
    found = answer(page)
    if isinstance(found.get("data"), dict):
        return mapping(found["data"])
    if "data" in found or not any(isinstance(value, list) for value in found.values()):
        raise ContractError("data")
    return found


def asked_of(page: Page, name: str) -> str | None:
    """What the answer's own address asked for."""
    return addresses.query(page.url).get(name)


def total(found: Mapping[str, Any]) -> int | None:
    """How many there are in all."""
    pages = mapping(found.get("pagination"))
    told = count(pages.get("total_count"))
    return count(pages.get("total")) if told is None else told


def next_page(found: Mapping[str, Any], number: int, *, empty: bool) -> str | None:
    """The number of the next page, None on the last one."""
    pages = mapping(found.get("pagination"))
    more = flag(pages.get("has_more"))
    more = flag(pages.get("hasMore")) if more is None else more
    return str(number + 1) if more and not empty else None


def film(info: Mapping[str, Any]) -> Media | None:
    """A film in its best resolution."""
    told = mapping(info.get("video_url"))
    ordered = [told.get(name) for name in _RESOLUTIONS] + list(told.values())
    address = next((found for value in ordered if (found := link(value))), None)
    if address is None:
        return None
    return Media.draft(
        type="video",
        url=address,
        width=count(info.get("width")),
        height=count(info.get("height")),
        duration=measure(info.get("duration")),
    )


def day(value: Any) -> str | None:
    """The day (UTC) of a time in seconds or milliseconds."""
    found = instant(value)
    return found[:10] if found else None


def share(value: Any) -> float | None:
    """A rate, as the site gives it."""
    return measure(value)


def told(found: Mapping[str, Any]) -> dict[str, Any]:
    """``extra`` without what says nothing."""
    return {name: value for name, value in found.items() if value not in (None, "", [], {})}
