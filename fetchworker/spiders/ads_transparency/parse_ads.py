"""Advertisements: rows of a list, and one by itself (pure).

A preview is a picture (``3``), a script that draws one (``1``), or text (``2``, known from a client alone). What kind
it is follows from that, not from the format: that of most pictures is ``text``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ContractError
from fetchworker.items import Ad, AdvertiserRef, Media
from fetchworker.reading.dates import compact
from fetchworker.spiders.ads_transparency import contract, geo, overlay
from fetchworker.spiders.reading.html import attributes
from fetchworker.spiders.reading.values import count, dig, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_IMAGE = re.compile(r"<img\b([^<>]{0,4000})>", re.IGNORECASE)
#: names of texts that have a field of their own
_TITLE, _TEXT, _CAPTION = "headline", "description", "visurl"
_KNOWN = frozenset({_TITLE, _TEXT, _CAPTION})


def listed(raw: Mapping[str, Any]) -> Ad:
    """An advertisement of a list."""
    return _ad(
        raw,
        name=text(raw.get("12")),
        code=raw.get("4"),
        previews=[mapping(raw.get("3"))],
        path="1[]",
        first=instant(dig(raw, "6", "1")),
        last=instant(dig(raw, "7", "1")),
        days_shown=count(raw.get("13")),
        extra={"domain": text(raw.get("14"))},
    )


def single(raw: Mapping[str, Any]) -> Ad:
    """An advertisement by itself, with all its variations."""
    regions = [_region(mapping(entry)) for entry in sequence(raw.get("17"))]
    previews = [mapping(entry) for entry in sequence(raw.get("5"))]
    countries = [code for region in regions if (code := region.get("country"))]
    return _ad(
        raw,
        name=text(dig(raw, "22", "1")),
        code=raw.get("8"),
        previews=previews,
        path="1",
        last=instant(dig(raw, "4", "1")),
        countries=list(dict.fromkeys(countries)),
        extra={"regions": regions, "variations": len(previews)},
    )


def _ad(
    raw: Mapping[str, Any], *, name: str | None, code: Any, previews: list[Mapping[str, Any]], path: str,
    extra: Mapping[str, Any], first: str | None = None, last: str | None = None, **more: Any,
) -> Ad:  # fmt: skip
    advertiser, number = text(raw.get("1")), text(raw.get("2"))
    if advertiser is None or number is None:
        raise ContractError(f"{path}.1 | {path}.2")
    scripts = list(dict.fromkeys(address for preview in previews if (address := link(dig(preview, "1", "4")))))
    words = next((found for found in map(overlay.words, scripts) if found), {})
    plain = next((told for preview in previews if (told := text(preview.get("2")))), None)
    others = {key: value for key, value in words.items() if key not in _KNOWN}
    beside = {**extra, "preview_urls": scripts, "texts": others}
    return Ad.draft(
        id=number,
        advertiser=AdvertiserRef.draft(id=advertiser, name=name, url=contract.advertiser_url(advertiser)),
        start_date=first[:10] if first else None,
        last_seen=last[:10] if last else None,
        first_shown_at=first,
        last_shown_at=last,
        format=contract.FORMAT_OF.get(count(code) or 0),
        title=words.get(_TITLE),
        text=words.get(_TEXT) or plain,
        caption=words.get(_CAPTION),
        media=_pictures(previews),
        url=contract.creative_url(advertiser, number),
        extra={key: value for key, value in beside.items() if value not in (None, [], {})},
        **more,
    )


def _pictures(previews: Iterable[Mapping[str, Any]]) -> list[Media]:
    """The pictures of the variations, each once."""
    found: dict[str, Media] = {}
    for preview in previews:
        match = _IMAGE.search(text(dig(preview, "3", "2")) or "")
        tag = attributes(match[1]) if match else {}
        source = tag.get("src", "")
        address = link(f"https:{source}" if source.startswith("//") else source)
        if address and address not in found:
            width, height = count(tag.get("width")), count(tag.get("height"))
            found[address] = Media.draft(type="image", url=address, width=width, height=height)
    return list(found.values())


def _region(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A place where it was shown; what else the site tells of it (ranges in the European Union) under its own keys."""
    number = count(raw.get("1"))
    told = {"geo": number, "country": geo.country(number), "last_shown": compact(raw.get("5"))}
    rest = {key: value for key, value in raw.items() if key not in ("1", "5")}
    return {key: value for key, value in told.items() if value is not None} | ({"more": rest} if rest else {})
