"""Whatever a page holds, a parser gives checked items or says what it misses."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fetchworker.demo import facebook_shapes as shapes
from fetchworker.errors import ContractError
from fetchworker.spiders.facebook.spider import FacebookSpider

OPERATIONS = tuple(FacebookSpider.operations)
KEYS = st.sampled_from(
    [
        "data",
        "user",
        "node",
        "group",
        "event",
        "currMedia",
        "video",
        "id",
        "edges",
        "timeline_list_feed_units",
        "group_feed",
        "page_info",
        "comet_sections",
        "content",
        "story",
        "attachments",
        "feedback",
        "profile_header_renderer",
        "post_id",
        "__typename",
        "pageItems",
        "message",
        "ranges",
        "text",
        "media",
        "payload",
        "actions",
        "label",
        "path",
        "name",
    ]
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**12)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["Story", "Event", "Video", "Group", "81", "https://www.facebook.com/x/posts/81"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
PIECES = st.sampled_from(
    [
        '<article data-ft="',
        '<div data-sigil="story-div',
        "&#123;&quot;top_level_post_id&quot;:&quot;81&quot;&#125;",
        '">',
        "</div>",
        '<div class="userContentWrapper"',
        'id="feed_subtitle_7;81;;9"',
        '<abbr data-utime="1590000000"',
        "<h1>",
        "</h1>",
        '"adp_XRelayPreloader_1",{"__bbox":',
        '{"result":',
        "{",
        "}",
        '<script type="application/ld+json">',
        '{"@type":"VideoObject"',
        '<div id="voice_replace_id">',
        'data-sigil="photo-stage',
        "see_more_cards_id",
        "/page_content_list_view/more/?x",
        "<",
        '<span class="text_exposed_hide">',
    ]
)


def attempt(site, operation, body):
    with suppress(ContractError):
        site.parsed(operation, body)


def good(site):
    """A good body for each operation."""
    moss = shapes.MOSS
    story = shapes.story(shapes.POSTS["8100000000000103"])
    feed = {"edges": [{"node": story}], "page_info": {"has_next_page": True, "end_cursor": "C"}}
    group = {"group": {**shapes.group()["group"], "group_feed": feed}}
    photo = shapes.viewed(shapes.POSTS["8100000000000103"])
    return {
        "profile": site.page(
            site.result("A", {"data": shapes.header(moss)}), site.result("B", {"data": shapes.introduction(moss)})
        ),
        "posts": json.dumps({"data": {"user": {"id": moss.number, "timeline_list_feed_units": feed}}}),
        "post": site.page(site.result("P", {"data": {"node": story}}), site.article()),
        "photo": json.dumps({"data": photo}),
        "video": json.dumps({"data": shapes.film(shapes.REEL)}),
        "group": site.page(site.result("G", {"data": group}), site.article()),
        "events": site.page(site.result("E", {"data": shapes.event_list()})),
        "event": site.page(
            site.result(
                "E", {"data": shapes.event_header()}, {"path": ["event"], "data": shapes.event_about()["event"]}
            )
        ),
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_good_bodies_are_read(site, operation):
    assert site.items(operation, good(site)[operation], **({"group": "kiln"} if operation == "group" else {}))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_mutations_of_good_bodies(site, operation):
    body = good(site)[operation]
    chance = random.Random(operation)
    values = ["null", "0", '""', "[]", "{}", "true", "-1", "1e9", '"x"', '[{"node":null}]', "\\ud800", "<", '"']
    for _ in range(300):
        start = chance.randrange(len(body))
        end = min(len(body), start + chance.choice([0, 1, 4, 30, 400]))
        attempt(site, operation, body[:start] + chance.choice(values) + body[end:])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_values_of_good_bodies_replaced(site, operation):
    """The JSON stays JSON: any value may be of any kind."""
    chance = random.Random(operation)
    values = [None, 0, -1, "", "x", [], {}, True, 1.5, [None], {"id": None}, "*** **", 10**20, "\ud800"]
    whole = good(site)[operation]
    raw = whole if whole.startswith("{") else whole[whole.index('{"__bbox"') :]
    body = json.JSONDecoder().raw_decode(raw)[0]
    inner = body if "data" in body else body["__bbox"]["result"]
    for _ in range(300):
        copy = json.loads(json.dumps(inner))
        holder, key = chance.choice(list(places(copy)))
        holder[key] = chance.choice(values)
        attempt(site, operation, json.dumps(copy))


def places(value):
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@pytest.mark.parametrize("operation", OPERATIONS)
@given(JSON)
@example({"currMedia": {"edges": True}})
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_json(site, operation, value):
    attempt(site, operation, json.dumps({"data": value}))
    attempt(site, operation, json.dumps(value) + "\n" + json.dumps({"label": "x", "path": ["user", 0], "data": value}))


@given(st.sampled_from(OPERATIONS), st.lists(PIECES | st.text(max_size=8), max_size=14))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_markup(site, operation, pieces):
    attempt(site, operation, "<html>" + "".join(pieces))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "body", [b"", b"  \n", b"\x00\x01\xff", b"for (;;);", b"{", b"[1,2", b'"x"', b"null", b"\xef\xbb\xbf{}", b"<html>"]
)
def test_bodies_of_the_wrong_kind(site, operation, body):
    with pytest.raises(ContractError):
        site.parsed(operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "piece",
    [
        '<div data-sigil="story-div" data-ft="',
        'data-sigil="story-div',
        '"adp_XRelayPreloader_1",{"__bbox":',
        "<h1>",
        "<meta ",
        '<span class="text_exposed_hide">',
        "userContentWrapper",
        '<a href="/photo/',
        "ft_ent_identifier:1,",
        '{"a":[',
        "<article ",
    ],
)
def test_hostile_pages_stay_cheap(site, operation, piece):
    body = "<html>" + piece * (400_000 // len(piece))
    attempt(site, operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_deep_json_is_no_trap(site, operation):
    attempt(site, operation, '{"data":' * 20_000)
    attempt(site, operation, '{"data":{"user":' + '{"node":' * 900 + "1" + "}" * 902)
    attempt(site, operation, '<html>"adp_XRelayPreloader_1",{"__bbox":' + '{"a":' * 20_000)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_large_page_is_read_in_one_pass(site, calls, operation):
    body = good(site)[operation]
    if body.startswith("{"):
        body = site.page(site.result("Q", json.loads(body)))
    more = [body + f"<script>{json.dumps({'resources': ['x' * 60] * n})}</script>" for n in (4_000, 8_000)]
    once, twice = (calls(lambda page=page: attempt(site, operation, page)) for page in more)
    assert twice < 2.1 * once
