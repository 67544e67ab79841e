from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.spiders.instagram.spider import InstagramSpider


def fetches(operation, *, cursor=None, state=None, **values):
    chosen = InstagramSpider.operations[operation]
    call = Call(operation, chosen.params(**values), cursor=cursor, page=2 if cursor else 1, state=state or {})
    return chosen.fetches(None, call)


def strategies(operation, **values):
    return [fetch.strategy for fetch in fetches(operation, **values)]


def resolved(**arguments):
    call = InstagramSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_none=True)


@pytest.mark.parametrize(
    ("url", "operation", "params"),
    [
        ("https://www.instagram.com/mira.k/", "profile", {"user": "mira.k"}),
        ("http://instagram.com/Mira_K?hl=en", "profile", {"user": "mira_k"}),
        ("https://www.instagram.com/reels_of_mira/", "profile", {"user": "reels_of_mira"}),
        ("https://www.instagram.com/p/DdLBlHchN22/", "post", {"shortcode": "DdLBlHchN22"}),
        ("https://www.instagram.com/reel/DdLBlHchN22/?igsh=a", "post", {"shortcode": "DdLBlHchN22"}),
        ("https://www.instagram.com/mira.k/p/DdLBlHchN22", "post", {"shortcode": "DdLBlHchN22"}),
        ("https://www.instagram.com/tv/DdLBlHchN22/", "post", {"shortcode": "DdLBlHchN22"}),
        ("https://www.instagram.com/mira.k/reels/", "reels", {"user": "mira.k"}),
        ("https://www.instagram.com/explore/tags/clay/", "search", {"query": "clay"}),
        ("https://www.instagram.com/popular/raku%20kiln/", "search", {"query": "raku kiln"}),
    ],
)
def test_addresses_name_their_operation(url, operation, params):
    assert resolved(url=url) == (operation, params)


@pytest.mark.parametrize("path", ["explore/", "accounts/login/", "p/", "reels/", "direct/inbox/", "api/v1/users/", ""])
def test_sections_of_the_site_are_no_users(path):
    with pytest.raises(ArgumentError):
        resolved(url=f"https://www.instagram.com/{path}")


def test_arguments_name_their_operation():
    assert resolved(user="@Mira.K") == ("profile", {"user": "mira.k"})
    assert resolved(id="77") == ("profile", {"id": "77"})
    assert resolved(shortcode="DdLBlHchN22") == ("post", {"shortcode": "DdLBlHchN22"})
    assert resolved(query="clay") == ("search", {"query": "clay"})
    assert resolved(operation="posts", url="https://www.instagram.com/mira.k/", limit="30") == (
        "posts", {"user": "mira.k", "limit": 30},
    )  # fmt: skip
    assert resolved(operation="comments", id="3984285244001148342_77")[1] == {"id": "3984285244001148342"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"user": "mira k"}, "user name"),
        ({"user": "explore"}, "section of the site"),
        ({"id": "7x"}, "numeric user id"),
        ({"shortcode": "a b"}, "shortcode"),
        ({"operation": "post", "id": "x"}, "numeric media id"),
        ({"operation": "posts"}, "which account"),
        ({"operation": "comments"}, "which post"),
        ({"operation": "search"}, "what to look for"),
        ({"query": "  "}, "empty"),
        ({"operation": "posts", "user": "mira.k", "limit": "0"}, "limit"),
    ],
)
def test_wrong_arguments_are_told_clearly(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        resolved(**arguments)


def test_reading_a_stored_call_changes_nothing():
    for operation, values in (
        ("profile", {"user": "@Mira.K"}),
        ("search", {"query": "100%2525 a"}),
        ("post", {"id": "39_7"}),
    ):
        model = InstagramSpider.operations[operation].params
        once = model(**values)
        assert model.model_validate(once.model_dump(exclude_defaults=True)) == once


def test_strategies_in_order():
    assert strategies("profile", user="mira.k") == ["page", "web_profile_info", "graphql", "embed"]
    assert strategies("profile", id="77") == ["graphql", "query_hash"]
    assert strategies("posts", user="mira.k") == ["page", "graphql", "web_profile_info", "timeline", "embed"]
    assert strategies("posts", id="77") == ["timeline_by_id", "query_hash"]
    assert strategies("post", shortcode="DdLBlHchN22") == ["graphql", "page", "post_root", "embed"]
    assert strategies("post", id="3984285244001148342") == ["graphql", "page", "post_root", "embed"]
    assert strategies("comments", shortcode="DdLBlHchN22") == ["page", "graphql", "query_hash"]
    assert strategies("reels", user="mira.k") == ["page", "graphql"]
    assert strategies("reels", id="77") == ["clips_query", "clips"]
    assert strategies("search", query="clay") == ["topsearch", "topsearch_query", "popular"]


def test_a_cursor_goes_to_the_generation_that_gave_it():
    polaris = {"flavour": "polaris", "username": "mira.k", "scoped_id": "17841400000000077", "user_id": "77"}
    assert strategies("posts", user="mira.k", cursor="C", state=polaris) == ["graphql_next", "graphql"]
    graph = {"flavour": "graph", "username": "mira.k", "user_id": "77"}
    assert strategies("posts", user="mira.k", cursor="C", state=graph) == ["timeline_by_id", "query_hash"]
    assert strategies("posts", user="mira.k", cursor="C", state={"flavour": "xdt"}) == ["timeline"]
    assert strategies("posts", user="mira.k", cursor="C") == ["graphql", "timeline"]
    assert strategies("comments", shortcode="DdLBlHchN22", cursor="C") == ["graphql", "query_hash"]
    assert strategies("reels", user="mira.k", cursor="C", state={"flavour": "app", "user_id": "77"}) == ["clips"]
    assert strategies("reels", user="mira.k", cursor="C", state={"flavour": "polaris"}) == ["graphql"]
    assert strategies("search", query="clay", cursor="C") == ["popular"]


def test_the_state_of_a_page_leads_to_the_next(site):
    timeline = {"edges": [], "page_info": {"has_next_page": True, "end_cursor": "C"}}
    user = {
        "pk": "77",
        "id": "17841400000000077",
        "username": "mira.k",
        "polaris_ordered_timeline_connection": timeline,
    }
    body = {"data": {"xig_user_by_username": user}}
    found = site.parsed("posts", body, user="mira.k")
    fetch = fetches("posts", user="mira.k", cursor=found.cursor, state=found.state)[0]
    assert json.loads(dict(fetch.form)["variables"]) == {"after": "C", "first": 12, "id": "17841400000000077"}


def test_every_operation_has_a_summary():
    assert all(chosen.summary for chosen in InstagramSpider.operations.values())
    assert {name: chosen.counts for name, chosen in InstagramSpider.operations.items()} == {
        "profile": None,
        "posts": "post",
        "post": None,
        "comments": "comment",
        "reels": "post",
        "search": "search_result",
    }


@pytest.mark.parametrize("operation", ["posts", "reels"])
@pytest.mark.parametrize("cursor", ["%%%", "a b", "a%2Fb", "", "x\ny"])
def test_a_cursor_that_the_site_never_gave_is_refused_by_name(operation, cursor):
    with pytest.raises(ValidationError) as caught:
        InstagramSpider.operations[operation].params(user="nasa", cursor=cursor)
    assert [error["loc"] for error in caught.value.errors()] == [("cursor",)]


@pytest.mark.parametrize("cursor", ["QVFEa_-x==", "3984285244001148342_528817151", "12345"])
def test_cursors_of_all_generations_are_taken(cursor):
    assert InstagramSpider.operations["posts"].params(user="nasa", cursor=cursor).cursor == cursor
