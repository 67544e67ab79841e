from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from fetchworker.contracts import Fetch, Token
from fetchworker.spiders.instagram import contract

QUERIES = [value for value in vars(contract).values() if isinstance(value, contract.Query)]


def variables(fetch: Fetch) -> dict[str, object]:
    return json.loads(dict(fetch.form or ())["variables"])


def test_a_stored_query_as_the_web_client_sends_it():
    fetch = contract.posts_query("mira.k", "CUR")
    assert (fetch.method, fetch.url, fetch.destination) == ("POST", "https://www.instagram.com/api/graphql", "xhr")
    assert fetch.referer == "https://www.instagram.com/mira.k/"
    assert variables(fetch) == {"first": 12, "username": "mira.k", "after": "CUR"}
    names = [name for name, _ in fetch.form or ()]
    assert names == [
        "av", "__d", "__user", "__a", "__req", "dpr", "__ccg", "__comet_req", "__crn", "fb_api_caller_class",
        "fb_api_req_friendly_name", "server_timestamps", "variables",
    ]  # fmt: skip
    assert fetch.token_form["lsd"] == Token("lsd")
    assert fetch.token_form["jazoest"] == Token("jazoest")
    assert fetch.token_headers["X-FB-LSD"] == Token("lsd")
    assert fetch.token_headers["X-CSRFToken"] == Token("csrf")
    assert fetch.token_headers["X-IG-App-ID"] == Token("app_id", "936619743392459")
    name = "PolarisLoggedOutDesktopWWWProfilePostsTabContentQuery"
    assert fetch.token_form["doc_id"] == Token(f"doc:{name}", "27553725110923321")
    assert dict(fetch.headers)["X-FB-Friendly-Name"] == name
    assert not set(names) & set(fetch.token_form)


def test_providers_are_among_the_variables():
    fetch = contract.post_root("DdLBlHchN22")
    assert fetch.url == "https://www.instagram.com/graphql/query"
    assert variables(fetch) == {
        "shortcode": "DdLBlHchN22",
        "__relay_internal__pv__PolarisMultiCaptionCarouselEnabledrelayprovider": False,
        "__relay_internal__pv__PolarisShortDramaEnabledrelayprovider": False,
    }


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_every_id_is_dated_and_has_a_source(query):
    assert query.doc_id.isdigit()
    assert query.seen.startswith("202")
    assert query.source
    assert query.path in ("/api/graphql", "/graphql/query")


def test_rest_requests():
    fetch = contract.web_profile_info("mira.k")
    assert fetch.url == "https://www.instagram.com/api/v1/users/web_profile_info/?username=mira.k"
    assert (fetch.method, fetch.destination, fetch.form) == ("GET", "xhr", None)
    assert dict(fetch.headers)["X-Requested-With"] == "XMLHttpRequest"
    hashed = parse_qs(urlsplit(contract.comments_by_hash("DdLBlHchN22", '{"c":"ä"}').url).query)
    assert json.loads(hashed["variables"][0]) == {"shortcode": "DdLBlHchN22", "first": 12, "after": '{"c":"ä"}'}


def test_reels_of_the_app_are_a_form():
    fetch = contract.clips("77", "M1")
    assert fetch.form == (
        ("target_user_id", "77"), ("page_size", "12"), ("include_feed_video", "true"), ("max_id", "M1"),
    )  # fmt: skip
    assert "doc_id" not in fetch.token_form


def test_pages_are_harvested():
    pages = (contract.WARMUP, contract.profile_page("mira.k"), contract.post_page("A1"), contract.reels_page("mira.k"))
    assert all(page.harvest and page.destination == "navigate" for page in pages)


def test_addresses():
    assert contract.profile_url("mira.k") == "https://www.instagram.com/mira.k/"
    assert contract.post_url("DdLBlHchN22", reel=True) == "https://www.instagram.com/reel/DdLBlHchN22/"
    assert contract.profile_url(None) is None
    assert contract.post_url(None) is None
    assert contract.popular("raku & clay").referer == "https://www.instagram.com/popular/raku%20%26%20clay/"
