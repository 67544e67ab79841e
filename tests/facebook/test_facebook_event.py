"""Events, lists of them, groups."""

from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.facebook import parse_event, parse_group

EVENT = "8300000000000701"


def header(**more):
    return {
        "data": {
            "event": {
                "id": EVENT,
                "name": "Open kiln",
                "day_time_sentence": "Friday, July 7, 2026 at 7:30 PM MDT",
                "start_timestamp": 1_783_474_200,
                "is_online": False,
                "is_past": False,
                "url": f"https://www.facebook.com/events/{EVENT}/",
                "event_place": {"id": "82", "name": "The shed"},
                "comet_neighboring_siblings": [
                    {"__typename": "Event", "id": "8300000000000999", "name": "Another", "end_timestamp": 5}
                ],
                **more,
            }
        }
    }


def about(**more):
    return {
        "data": {
            "event": {
                "id": EVENT,
                "event_description": {"text": "Bring gloves"},
                "event_creator": {"id": "7", "name": "Fern"},
                "event_hosts_that_can_view_guestlist": [
                    {"id": "7", "name": "Fern", "url": "https://www.facebook.com/fern"},
                    {"id": "8", "name": "Flint"},
                ],
                "event_place": {
                    "id": "82",
                    "address": {"street": "3 Mill Lane"},
                    "city": {"contextual_name": "Example Town"},
                    "location": {"latitude": 51.0, "longitude": -1.5},
                },
                "event_buy_ticket_url": "https://tickets.example/1",
                "ticketing_context_row": {"title": "Tickets · $5"},
                "can_view_friends_card": {
                    "event": {
                        "id": EVENT,
                        "event_connected_users_going": {"count": 81},
                        "event_connected_users_interested": {"count": 530},
                    }
                },
                **more,
            }
        }
    }


def whole(site, *, first=None, second=None, late=None, inline=False):
    chunks = [second or about(), *([late] if late else [])]
    return site.page(
        site.result("EventCometPermalinkHeaderQuery", first or header(), inline=inline),
        site.result("PublicEventCometAboutRootQuery", *chunks, inline=inline),
    )


@pytest.mark.parametrize("inline", [False, True])
def test_an_event(site, inline):
    (event,) = site.items("event", whole(site, inline=inline), id=EVENT)
    assert (event.id, event.name, event.start, event.end, event.timezone) == (
        EVENT,
        "Open kiln",
        "2026-07-08T01:30:00Z",
        None,
        "MDT",
    )
    assert (event.place.id, event.place.name, event.place.address) == ("82", "The shed", "3 Mill Lane, Example Town")
    assert (event.going, event.interested, event.online, event.past) == (81, 530, False, False)
    assert [host.name for host in event.hosts] == ["Fern", "Flint"]
    assert (event.description, event.ticket_url) == ("Bring gloves", "https://tickets.example/1")
    assert event.extra["latitude"] == 51.0


def test_what_comes_later_is_put_back(site):
    late = {
        "label": "About$defer$end",
        "path": ["event"],
        "data": {"end_timestamp": 1_783_480_000, "tz_display_name": "UTC+03"},
    }
    (event,) = site.items("event", whole(site, late=late))
    assert (event.end, event.timezone) == ("2026-07-08T03:06:40Z", "UTC+03")


def test_counts_that_are_not_told(site):
    (event,) = site.items(
        "event", whole(site, second=about(can_view_friends_card=None, event_hosts_that_can_view_guestlist=None))
    )
    assert (event.going, event.interested) == (None, None)
    assert [host.name for host in event.hosts] == ["Fern"]


@pytest.mark.parametrize("number", ["8300000000000555", "8300000000000999"])
def test_another_event(site, number):
    body = whole(site)
    if number.endswith("999"):
        assert site.items("event", body, id=number)[0].name == "Another"
        return
    with pytest.raises(ContractError):
        site.parsed("event", body, id=number)


@pytest.mark.parametrize(
    ("sentence", "zone"),
    [
        ("Friday at 7:30 PM MDT", "MDT"),
        ("Wed at 4:00\u202fPM – 5:30\u202fPM EEST", "EEST"),
        ("May 5 UTC+02", "UTC+02"),
        ("Tue, Apr 1", None),
        ("Freitag, 7. Juli um 19:30", None),
        (None, None),
    ],
)
def test_zones(sentence, zone):
    assert parse_event.zone(sentence) == zone


def card(number, **more):
    node = {
        "__typename": "Event",
        "id": number,
        "name": f"Kiln {number}",
        "day_time_sentence": "Tue, Dec 31, 2024",
        **more,
    }
    return {
        "node": {
            "node": node,
            "actions_renderer": {"event": {"id": number, "start_timestamp": 1_743_530_400, "is_past": True}},
        }
    }


def test_a_list_of_a_page(site):
    items = {"edges": [card("1"), card("2"), card("1")], "page_info": {"has_next_page": True, "end_cursor": "E1"}}
    suggested = {"suggested_events": {"edges": [{"node": {"__typename": "Event", "id": "9", "name": "Not theirs"}}]}}
    body = site.page(
        site.result(
            "Tabs", {"data": {"user": {"collection": {"items": {"count": 781}, "pageItems": items}, **suggested}}}
        )
    )
    found = site.parsed("events", body)
    assert [event.id for event in found.items[:-1]] == ["1", "2"]
    assert (found.items[0].start, found.items[0].past) == ("2025-04-01T18:00:00Z", True)
    page = found.items[-1]
    assert (page.next_cursor, page.total, page.exhausted, page.partial, found.cursor) == (
        "E1",
        781,
        False,
        "logged_out_limit",
        None,
    )


def test_a_list_of_a_group(site):
    edges = [{"node": {**card("1")["node"]["node"], "is_past": False}}]
    groups = {"group": {"id": "85", "upcoming_events": {"edges": edges}, "past_events": {"edges": []}}}
    event, page = site.items("events", json.dumps({"data": groups}))
    assert (event.start, event.past, page.exhausted) == ("2024-12-31", False, None)


def test_lists_that_are_none(site):
    for body in ("<html></html>", json.dumps({"data": {"pageItems": {"edges": [{"node": {"__typename": "Photo"}}]}}})):
        with pytest.raises(ContractError):
            site.parsed("events", body)


# --- groups


def group(site, *stories, name="Kiln Friends", members="1,482 members", privacy="Public", **more):
    inner = {
        "__typename": "Group",
        "id": "8500",
        "name": name,
        "group_member_profiles": {"formatted_count_text": members},
        "privacy_info": {"label": {"text": privacy}},
        "description_with_entities": {"text": "Waiting"},
        **more,
    }
    edges = [{"node": one} for one in stories]
    feed = {"edges": edges, "page_info": {"has_next_page": True, "end_cursor": "G1"}}
    return site.page(
        site.result(
            "CometGroupRootQuery", {"data": {"group": {"id": "8500", "profile_header_renderer": {"group": inner}}}}
        ),
        site.result("CometGroupDiscussionRootSuccessQuery", {"data": {"group": {"id": "8500", "group_feed": feed}}}),
    )


def test_a_group_and_its_posts(site):
    found = site.parsed("group", group(site, site.story()), group="kilnfriends")
    first, post, page = found.items
    assert (first.id, first.name, first.privacy, first.members, first.description) == (
        "8500",
        "Kiln Friends",
        "public",
        1482,
        "Waiting",
    )
    assert (post.id, page.next_cursor, found.cursor, found.state) == (site.post, "G1", "G1", {"group_id": "8500"})


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("Public group", "public"),
        ("Öffentliche Gruppe", "public"),
        ("Groupe public", "public"),
        ("Grupo público", "public"),
        ("Gruppo pubblico", "public"),
        ("Openbare groep", "public"),
        ("Grupa publiczna", "public"),
        ("公開グループ", "public"),
        ("Private", "private"),
        ("Private Gruppe", "private"),
        ("Groupe privé", "private"),
        ("Grupo privado", "private"),
        ("Besloten groep", "private"),
        ("Grupa prywatna", "private"),
        ("非公開グループ", "private"),
        ("Gizli grup", "private"),
        ("Something new", "Something new"),
        (None, None),
    ],
)
def test_who_may_read_a_group(word, known):
    assert parse_group.privacy(word) == known


def test_the_next_page_of_a_group(site):
    feed = {"edges": [{"node": site.story()}], "page_info": {"has_next_page": False, "end_cursor": None}}
    answer = json.dumps({"data": {"node": {"__typename": "Group", "id": "8500", "group_feed": feed}}})
    found = site.parsed("group", answer, cursor="G1", state={"group_id": "8500"}, group="kilnfriends")
    assert [item.kind for item in found.items] == ["post", "page"]
    assert found.cursor is None


def test_a_groups_page_of_the_mobile_site(site):
    head = (
        '<link rel="canonical" href="https://www.facebook.com/groups/850012345/"/>'
        '<meta name="description" content="Kiln 2000 Friends has 1,631 members. Hola, 3 rules."/>'
    )
    back = "/groups/850012345?bac=MTU4%3D&multi_permalinks&refid=18"
    body = (
        '<h1 style="x">Facebook</h1><h1><div>Kiln 2000 Friends</div></h1><div class="x">Private group</div>'
        + site.article()
        + f'<a href="{back.replace("&", "&amp;")}">More</a>'
    )
    found = site.parsed("group", site.page(body, head=head), group="850012345")
    first, post, _ = found.items
    assert (first.id, first.name, first.privacy, first.members) == ("850012345", "Kiln 2000 Friends", "private", 1631)
    assert first.description == "Hola, 3 rules."
    assert post.url == f"https://www.facebook.com/groups/850012345/posts/{site.post}/"
    assert found.cursor == back


@pytest.mark.parametrize("body", ["<html></html>", '{"data":{"group":null}}', '{"data":{"group":{"id":"8500"}}}'])
def test_no_group(site, body):
    with pytest.raises(ContractError):
        site.parsed("group", body, group="kilnfriends")
