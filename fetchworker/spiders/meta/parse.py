"""From a page to items, one pure function per operation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker import items
from fetchworker.contracts import Call, Page, Parsed
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.items import KINDS, Ad, Item, plain
from fetchworker.spiders.meta import parse_ad, parse_archive
from fetchworker.spiders.metafamily import relay
from fetchworker.spiders.metafamily.body import Body, read, walk
from fetchworker.spiders.reading.values import count, dig, flag, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.spiders.metafamily.relay import Document

#: ``partial`` of an ad whose payer and reach could not be had
NO_DETAILS = "no_details"
#: cursors of steps that are no page of the site: a search that must find something, and the details of an ad
CONTROL, DETAILS = "control:", "details:"
#: the site counts no further
CAPPED_COUNT = 50_001
#: nothing of an ad is looked for inside one
_CLOSED = frozenset({"snapshot", "collated_results"})
_SESSION = re.compile(r'"sessionID"\s*:\s*"([0-9a-f-]{36})"')
_MARK = re.compile(r'"v"\s*:\s*"([0-9a-f]{6})"')


def ads(page: Page, call: Call[Any]) -> Parsed:
    """A page of a search: each advertiser before its first ad, and where the ads go on."""
    body = read(page)
    found = _connection(body)
    if found is None:
        alone = _single(body)
        if alone is None:
            raise ContractError("ad_library_main.search_results_connection")
        return Parsed(_with_advertisers([alone]))
    shown = [ad for edge in sequence(found.get("edges")) for ad in _collated(edge)]
    total = count(found.get("count"))
    if call.state.get("zero"):
        return _confirmed(shown)
    if not shown and total == 0 and call.cursor is None:
        return Parsed([], CONTROL, {"zero": True})
    info = mapping(found.get("page_info"))
    more = flag(info.get("has_next_page"))
    cursor = text(info.get("end_cursor")) if more is not False else None
    capped = total is not None and total >= CAPPED_COUNT
    last = items.Page.draft(
        next_cursor=cursor,
        total=None if capped else total,
        exhausted=None if more is None else not more,
        extra={"count": total} if capped else {},
    )
    return Parsed([*_with_advertisers(shown), last], cursor, _ids(body))


def _confirmed(shown: list[Document]) -> Parsed:
    """What the control search says about the one that found nothing."""
    if not shown:
        raise OutcomeError("blocked", "a search that always finds ads found none: this exit is not served")
    return Parsed([items.Page.draft(total=0, exhausted=True)])


def _connection(body: Body) -> Document | None:
    for key, node in walk(body.documents, _CLOSED):
        if key == "search_results_connection" and isinstance(node.get("edges"), list):
            return node
        if key in ("payload", "") and isinstance(node.get("results"), list) and "totalCount" in node:
            return _first_generation(node)
    return None


def _first_generation(node: Document) -> Document:
    """Answers of 2018 to 2024 in the form of later ones."""
    cursor = text(node.get("forwardCursor")) or text(node.get("nextPageToken"))
    groups = [entry if isinstance(entry, list) else [entry] for entry in node["results"]]
    edges = [{"node": {"collated_results": group}} for group in groups]
    info = {"has_next_page": node.get("isResultComplete") is False or bool(cursor), "end_cursor": cursor}
    return {"count": node.get("totalCount"), "edges": edges, "page_info": info}


def _collated(edge: Any) -> Iterator[Document]:
    for ad in sequence(dig(edge, "node", "collated_results")):
        if isinstance(ad, dict) and parse_ad.number_of(ad) is not None:
            yield ad


def _single(body: Body) -> Document | None:
    """An ad by itself, without a search around it."""
    first = next(iter(body.documents), {})
    return first if parse_ad.number_of(first) and isinstance(first.get("snapshot"), dict) else None


def _with_advertisers(shown: list[Document]) -> list[Item]:
    found: list[Item] = []
    seen = set()
    for raw in shown:
        owner = parse_ad.advertiser(raw)
        if owner.id and owner.id not in seen:
            seen.add(owner.id)
            found.append(owner)
        found.append(parse_ad.ad(raw))
    return found


def _ids(body: Body) -> dict[str, str]:
    """The ids of the visit, which later pages of the search keep."""
    told = {"session_id": _SESSION.search(body.html), "v": _MARK.search(body.html)} if body.html else {}
    return {name: match[1] for name, match in told.items() if match}


def ad(page: Page, call: Call[Any]) -> Parsed:
    """An ad; its page tells the creative, a query beside it who pays and whom it reached."""
    body, wanted = read(page), text(getattr(call.params, "id", None))
    details = next((node for key, node in walk(body.documents, _CLOSED) if key == "ad_details"), None)
    raw = _wanted(body, wanted)
    if raw is None and details is None:
        raise ContractError("deeplink_ad_archive | ad_details")
    known = parse_ad.ad(raw) if raw is not None else _kept(call, wanted)
    owner = parse_ad.advertiser(raw) if raw is not None else None
    if details is None:
        known.__dict__["partial"] = NO_DETAILS
        state = {"ad": plain(vars(known)), "page_id": owner.id if owner else None}
        return Parsed([*([owner] if owner and owner.id else []), known], DETAILS, state, held=True)
    told = parse_ad.details_advertiser(details)
    if known.advertiser is None and told is not None:
        known.__dict__["advertiser"] = items.AdvertiserRef.draft(id=told.id, name=told.name, url=told.url)
    teller = told or owner
    return Parsed([*([teller] if teller else []), parse_ad.with_details(known, details)])


def _wanted(body: Body, number: str | None) -> Document | None:
    """The ad that was asked for: pages carry others' as well."""
    for key, node in walk(body.documents, frozenset({"snapshot"})):
        own = parse_ad.number_of(node)
        if own and isinstance(node.get("snapshot"), dict) and (own == number if number else key != "collated_results"):
            return node
    return None


def _kept(call: Call[Any], wanted: str | None) -> Ad:
    """The ad as the page before told it; its number alone when there was none."""
    values = call.state.get("ad")
    kept = KINDS["ad"].draft(**values) if isinstance(values, dict) else Ad.draft(id=wanted)
    assert isinstance(kept, Ad)
    kept.__dict__["partial"] = None
    return kept


def ads_archive(page: Page, call: Call[Any]) -> Parsed:  # noqa: ARG001  # the signature of every parser
    """A page of the official API."""
    if not relay.is_json(page.body):
        raise ContractError("data", "the answer is no JSON")
    answer = next(iter(relay.answers(page.body)), {})
    if not isinstance(answer.get("data"), list):
        raise ContractError("data")
    found = [raw for raw in answer["data"] if isinstance(raw, dict) and parse_archive.number_of(raw)]
    paging = mapping(answer.get("paging"))
    cursor = text(dig(paging, "cursors", "after")) if "next" in paging else None
    last = items.Page.draft(next_cursor=cursor, exhausted=cursor is None)
    return Parsed([*map(parse_archive.ad, found), last], cursor)
