"""Whatever a body holds, a parser gives valid items or names what is missing."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.errors import ContractError

OPERATIONS = ["profile", "posts", "post", "comments", "reels", "search"]
KEYS = [
    "data", "graphql", "user", "node", "media", "items", "edges", "page_info", "count", "pk", "id", "username", "code",
    "shortcode", "shortcode_media", "xig_user_by_username", "xig_polaris_media", "if_not_gated_logged_out", "owner",
    "edge_owner_to_timeline_media", "polaris_ordered_timeline_connection", "polaris_clips_connection", "caption",
    "comments", "comments_connection", "edge_media_to_parent_comment", "text", "users", "hashtags", "places", "place",
    "status", "location", "taken_at", "like_count", "image_versions2", "candidates", "video_versions", "carousel_media",
    "url", "entry_data", "ProfilePage", "reel", "context", "graphql_media", "paging_info", "more_available", "name",
    "bio_links", "edge_followed_by", "is_private", "hashtag", "position", "end_cursor", "has_next_page", "path",
    "incremental", "xdt_api__v1__fbsearch__topsearch_connection", "xig_logged_out_popular_search_media_info",
    "xdt_api__v1__clips__user__connection_v2", "xdt_api__v1__media__shortcode__web_info", "width", "media_type", "type",
]  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 2**64) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["3984285244001148342", "DdLBlHchN22", "mira.k", "Profile", "https://cdn.example/a", "\ud83d"])
)  # fmt: skip
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=40,
)
MARKS = [
    "window._sharedData = ", "__additionalDataLoaded('/x/',", '"contextJSON":', '"adp_Q1RelayPreloader_2",',
    '{"__bbox":{"result":{"data":{}}}}', '{"__bbox":', "<meta ", 'property="og:title" content="', "<html>", "for (;;);",
    'data-media-id="39"', '"', ">", "{", "}", "\\", "\n", '"profile_id":"5"',
]  # fmt: skip


def attempt(site, operation, body):
    with contextlib.suppress(ContractError):
        site.parsed(operation, body)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(body=st.dictionaries(st.sampled_from(KEYS), JSON, min_size=1, max_size=6), embedded=st.booleans())
def test_any_json(site, operation, body, embedded):
    told = json.dumps(body)
    attempt(site, operation, f"<html>window._sharedData = {told};</html>" if embedded else told)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=50, deadline=None)
@given(parts=st.lists(st.sampled_from(MARKS) | st.text(max_size=6) | JSON.map(json.dumps), max_size=12))
def test_any_page(site, operation, parts):
    attempt(site, operation, "".join(parts).encode(errors="surrogatepass"))


@pytest.mark.parametrize("operation", OPERATIONS)
@given(body=st.binary(max_size=300))
@settings(max_examples=50, deadline=None)
def test_any_bytes(site, operation, body):
    attempt(site, operation, body)


@pytest.mark.parametrize(
    "mark",
    [
        'data-media-id="39" <div class="Caption">',
        '"adp_Q",{"__bbox":{',
        "window._sharedData={",
        "<meta ",
        "(@",
        '"contextJSON":"',
        '<div class="Caption">',
    ],
)
def test_hostile_pages_stay_cheap(site, mark):
    attempt(site, "profile", "<html>" + mark * 20_000)
    attempt(site, "post", "<html>" + mark * 20_000)
