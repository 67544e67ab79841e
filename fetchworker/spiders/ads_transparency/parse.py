"""From an answer to items, one pure function per operation.

Each raises :class:`~fetchworker.errors.ContractError` when the answer lacks what the operation promises. ``{}`` is the
answer for nothing found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError
from fetchworker.items import Advertiser
from fetchworker.items import Page as PageItem
from fetchworker.spiders.ads_transparency import contract, parse_ads
from fetchworker.spiders.reading.values import count, dig, flag, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.items import Item

#: what may stand before JSON so that no other site can run it as a script
_GUARD = re.compile(rb"\s*(?:\)\]\}'[^\n{]{0,20})?")


def suggestions(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the signature of every parser
    """Advertisers and sites."""
    answer = _answer(page)
    rows = _rows(answer)
    items: list[Item] = [_suggestion(mapping(row)) for row in rows]
    return Parsed([*items, PageItem.draft(exhausted=True, url=contract.HOME)])


def creatives(page: Page, call: Call[Any]) -> Parsed:
    """A page of advertisements."""
    answer = _answer(page)
    asked = getattr(call.params, "advertiser", None)
    rows = [mapping(row) for row in _rows(answer)]
    ads = [parse_ads.listed(row) for row in rows if asked is None or text(row.get("1")) in (asked, None)]
    cursor = text(answer.get("2")) if rows else None
    low, high = count(answer.get("4")), count(answer.get("5"))
    summary = PageItem.draft(
        total=low if low == high else None,
        total_min=low,
        total_max=high,
        next_cursor=cursor,
        exhausted=cursor is None,
        url=_place(call),
    )
    return Parsed([*ads, summary], cursor)


def creative(page: Page, call: Call[Any]) -> Parsed:
    """One advertisement."""
    answer = _answer(page)
    raw = answer.get("1")
    if not isinstance(raw, dict):
        raise ContractError("1")
    found = parse_ads.single(raw)
    asked = getattr(call.params, "creative", None)
    if asked and found.id != asked:
        raise ContractError("1.2", f"the answer is of another advertisement: {found.id}")
    return Parsed([found])


def _answer(page: Page) -> Mapping[str, Any]:
    """The answer's JSON.

    Raises:
        ContractError: it is none, or an error message.
    """
    try:
        answer = orjson.loads(_GUARD.sub(b"", page.body.removeprefix(b"\xef\xbb\xbf"), count=1))
    except orjson.JSONDecodeError:
        raise ContractError("body", "the answer is no JSON") from None
    if not isinstance(answer, dict):
        raise ContractError("body", "the answer is no JSON object")
    if "1" not in answer and isinstance(answer.get("5"), int):
        raise ContractError("1", f"the site calls the request wrong: {answer['5']}")
    return answer


def _rows(answer: Mapping[str, Any]) -> list[Any]:
    """What was found; an answer with other keys alone is none of the known ones."""
    rows = answer.get("1", [] if not answer or answer.keys() & {"2", "3", "4", "5"} else None)
    if not isinstance(rows, list):
        raise ContractError("1[]")
    return rows


def _suggestion(row: Mapping[str, Any]) -> Advertiser:
    domain = text(dig(row, "2", "1"))
    if domain:
        return Advertiser.draft(domain=domain, url=contract.domain_url(domain))
    found = mapping(row.get("1"))
    number, name = text(found.get("2")), text(found.get("1"))
    if number is None or name is None:
        raise ContractError("1[].1.2 | 1[].2.1")
    low, high = count(dig(found, "4", "2", "1")), count(dig(found, "4", "2", "2"))
    return Advertiser.draft(
        id=number,
        name=name,
        country=text(found.get("3")),
        verified=False if flag(found.get("5")) else None,  # the site marks the unverified alone
        ads_count=low if low == high else None,
        ads_count_min=low,
        ads_count_max=high,
        url=contract.advertiser_url(number),
    )


def _place(call: Call[Any]) -> str | None:
    advertiser, domain = (getattr(call.params, name, None) for name in ("advertiser", "domain"))
    if advertiser:
        return contract.advertiser_url(advertiser)
    return contract.domain_url(domain) if domain else None
