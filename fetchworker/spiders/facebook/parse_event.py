"""Events in Comet data: one with all that its page tells, or cards of a list (pure).

An event's facts are spread over the objects of several queries, and of nested renderers, that have its number; sibling
events and suggestions are in the same page, so the number decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Event, Host, Page, Place
from fetchworker.reading.dates import day
from fetchworker.spiders.facebook import ids
from fetchworker.spiders.facebook.body import entity, walk
from fetchworker.spiders.reading.values import count, dig, flag, ident, instant, link, mapping, sequence, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.facebook.body import Body, Document

#: connections that list events of the one whose page it is (profiles, groups; seen 2025)
_LISTS = ("pageItems", "upcoming_events", "past_events")
#: ``partial`` of a list that goes on behind a log-in
LIMITED = "logged_out_limit"
_ZONE = re.compile(r"\s(?P<zone>UTC(?:[+-]\d{1,2}(?::\d\d)?)?|GMT(?:[+-]\d{1,2})?|[A-Z]{2,4}T)\Z")


def event(body: Body, wanted: str | None) -> Event | None:
    """The event of the page; None when the page is of none, or of another."""
    roots = [root for document in body.documents if isinstance(root := dig(document, "data", "event"), dict)]
    number = wanted or next((ident(root.get("id")) for root in roots if ident(root.get("id"))), None)
    if number is None:
        return None
    merged = entity(body.documents, number, "Event")
    return draft(merged) if text(merged.get("name")) else None


def draft(raw: Mapping[str, Any]) -> Event:
    """The item of an event; what the page does not tell stays None."""
    sentence = text(raw.get("day_time_sentence")) or text(raw.get("start_time_formatted"))
    number = ident(raw.get("id"))
    return Event.draft(
        id=number,
        name=text(raw.get("name")),
        start=instant(raw.get("start_timestamp")) or instant(raw.get("current_start_timestamp")) or day(sentence),
        end=instant(raw.get("end_timestamp")) or instant(raw.get("current_end_timestamp")),
        timezone=text(raw.get("tz_display_name")) or zone(sentence),
        place=_place(raw),
        online=_first_flag(raw, "is_online", "is_online_or_detected_online"),
        past=flag(raw.get("is_past")),
        hosts=list(_hosts(raw)),
        going=_people(raw, "event_connected_users_going"),
        interested=_people(raw, "event_connected_users_interested"),
        description=text(dig(raw, "event_description", "text")),
        ticket_url=link(ids.target(text(raw.get("event_buy_ticket_url")))),
        url=link(raw.get("url")) or link(raw.get("eventUrl")) or (f"{ids.HOME}/events/{number}/" if number else None),
        extra=_extra(raw, sentence),
    )


def zone(sentence: str | None) -> str | None:
    """The zone that a sentence ends with: ``Friday, July 7, 2023 at 7:30 PM MDT``."""
    match = _ZONE.search(sentence or "")
    return match["zone"] if match else None


def _first_flag(raw: Mapping[str, Any], *names: str) -> bool | None:
    return next((raw[name] for name in names if isinstance(raw.get(name), bool)), None)


def _place(raw: Mapping[str, Any]) -> Place | None:
    found = mapping(raw.get("event_place"))
    name = text(found.get("name")) or text(found.get("contextual_name"))
    street, city = text(dig(found, "address", "street")), text(dig(found, "city", "contextual_name"))
    address = text(raw.get("one_line_address")) or ", ".join(part for part in (street, city) if part) or None
    identity = ident(found.get("id"))
    return Place.draft(id=identity, name=name, address=address) if identity or name or address else None


def _hosts(raw: Mapping[str, Any]) -> Iterator[Host]:
    listed = [one for one in sequence(raw.get("event_hosts_that_can_view_guestlist")) if isinstance(one, dict)]
    creator = raw.get("event_creator")
    for one in listed or ([creator] if isinstance(creator, dict) else []):
        if ident(one.get("id")) or text(one.get("name")):
            yield Host.draft(id=ident(one.get("id")), name=text(one.get("name")), url=link(one.get("url")))


def _people(raw: Mapping[str, Any], name: str) -> int | None:
    return count(dig(raw, name, "count"))


def _extra(raw: Mapping[str, Any], sentence: str | None) -> dict[str, Any]:
    place = mapping(dig(raw, "event_place", "location"))
    found: dict[str, Any] = {
        "day_time_sentence": sentence,
        "canceled": flag(raw.get("is_canceled")),
        "responded": _people(raw, "event_connected_users_public_responded"),
        "tickets": text(dig(raw, "ticketing_context_row", "title")),
        "duration": text(raw.get("display_duration")),
        "creator_id": ident(dig(raw, "event_creator", "id")),
        "cover_url": link(dig(raw, "cover_media_renderer", "cover_photo", "photo", "image", "uri")),
        "latitude": place.get("latitude"),
        "longitude": place.get("longitude"),
        "categories": [
            label for one in sequence(raw.get("discovery_categories")) if (label := text(dig(one, "label")))
        ],
    }
    return {name: value for name, value in found.items() if value is not None and value != []}


def events(body: Body) -> tuple[list[Event], Page] | None:
    """The events that the page lists of its owner, and where the list goes on; None when it has no such list."""
    lists = list(_lists(body))
    if not lists:
        return None
    found: dict[str, Event] = {}
    for _, connection in lists:
        for edge in sequence(connection.get("edges")):
            made = _card(mapping(dig(edge, "node")))
            if made is not None and made.id:
                found.setdefault(made.id, made)
    return list(found.values()), _page(lists, len(found))


def _lists(body: Body) -> Iterator[tuple[Document, Document]]:
    """Each list of events with the object that holds it."""
    for document in body.documents:
        for one in walk(document):
            for name in _LISTS:
                connection = one.get(name)
                if isinstance(connection, dict) and _lists_events(connection.get("edges")):
                    yield one, connection


def _lists_events(edges: Any) -> bool:
    return isinstance(edges, list) and all(_is_event(mapping(dig(edge, "node"))) for edge in edges)


def _is_event(node: Mapping[str, Any]) -> bool:
    return (node.get("__typename") == "Event") or dig(node, "node", "__typename") == "Event"


def _card(node: Mapping[str, Any]) -> Event | None:
    inner = node if node.get("__typename") == "Event" else mapping(node.get("node"))
    beside = mapping(dig(node, "actions_renderer", "event"))
    raw = {**beside, **{key: value for key, value in inner.items() if value is not None}}
    return draft(raw) if text(raw.get("name")) else None


def _page(lists: list[tuple[Document, Document]], shown: int) -> Page:
    infos = [mapping(connection.get("page_info")) for _, connection in lists]
    more = [info for info in infos if info.get("has_next_page") is True]
    totals = [count(dig(holder, "items", "count")) for holder, _ in lists]
    total = totals[0] if len(lists) == 1 else None
    return Page.draft(
        next_cursor=text(more[0].get("end_cursor")) if more else None,
        total=total,
        exhausted=not more if any("has_next_page" in info for info in infos) else None,
        partial=LIMITED if more or (total is not None and total > shown) else None,
    )
