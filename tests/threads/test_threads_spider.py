from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.spiders.threads import contract
from fetchworker.spiders.threads.params import PostParams, PostsParams, ProfileParams, RepliesParams
from fetchworker.spiders.threads.spider import ThreadsSpider

CODE, PK = "DZLcaqdcUuH", "3912345678901234567"


def ways(call):
    return [(fetch.strategy, fetch.url) for fetch in fetches(call)]


def fetches(call):
    return list(ThreadsSpider.operations[call.operation].fetches(ThreadsSpider(), call))


def named(**arguments):
    return ThreadsSpider.make_resolver().arguments(arguments).call


@pytest.mark.parametrize(
    ("url", "operation", "values"),
    [
        ("https://www.threads.com/@Mira.K", "profile", {"user": "mira.k"}),
        ("https://www.threads.net/@mira.k/?hl=en", "profile", {"user": "mira.k"}),
        ("https://threads.com/@mira.k/replies", "replies", {"user": "mira.k"}),
        (f"https://www.threads.com/@mira.k/post/{CODE}?xmt=1", "post", {"user": "mira.k", "shortcode": CODE}),
        (f"https://www.threads.com/@mira.k/post/{CODE}/media", "post", {"user": "mira.k", "shortcode": CODE}),
        (f"https://www.threads.net/t/{CODE}/", "post", {"shortcode": CODE}),
        ("https://www.threads.com/share/BAxyz123", "post", {"share": "BAxyz123"}),
    ],
)
def test_addresses(url, operation, values):
    call = named(url=url)
    assert (call.operation, call.params.model_dump(exclude_defaults=True)) == (operation, values)


def test_an_address_means_the_same_as_its_parts():
    assert named(url="https://www.threads.com/@mira.k") == named(user="@Mira.K")
    assert named(url=f"https://www.threads.com/t/{CODE}") == named(shortcode=CODE)
    assert named(operation="replies", url=f"https://www.threads.com/t/{CODE}").params.shortcode == CODE


@pytest.mark.parametrize(
    ("model", "values"),
    [(ProfileParams, {}), (ProfileParams, {"user": "two words"}), (ProfileParams, {"id": "x"}), (PostParams, {}),
     (PostParams, {"shortcode": "a/b"}), (PostParams, {"id": "abc"}), (RepliesParams, {}),
     (RepliesParams, {"id": "1", "post": "2"}), (PostsParams, {"user": "a", "limit": 0})],
)  # fmt: skip
def test_wrong_arguments(model, values):
    with pytest.raises(ValidationError):
        model(**values)


def test_wrong_addresses():
    with pytest.raises(ArgumentError):
        named(url="https://www.threads.com/search")


def test_ways_to_an_account():
    call = named(user="mira.k")
    assert [name for name, _ in ways(call)] == ["page", "hovercard", "route"]
    resolved = call.then(cursor="resolved:", seen=0, state={"user_id": "77"})
    assert [name for name, _ in ways(resolved)] == ["graphql"]
    assert [name for name, _ in ways(named(operation="profile", id="77"))] == ["graphql"]


def test_ways_to_posts_and_their_cursor():
    call = named(operation="posts", user="mira.k", cursor="C7")
    assert [name for name, _ in ways(call)] == ["hovercard", "route"], "a cursor is nothing for the page"
    (query,) = fetches(call.then(cursor="resolved:C7", seen=0, state={"user_id": "77"}))
    variables = json.loads(dict(query.form)["variables"])
    assert (variables["after"], variables["userID"]) == ("C7", "77")
    assert variables["__relay_internal__pv__BarcelonaIsLoggedInrelayprovider"] is False
    (first,) = fetches(named(operation="posts", user="mira.k").then(
        cursor="resolved:", seen=0, state={"user_id": "77"}
    ))  # fmt: skip
    assert json.loads(dict(first.form)["variables"])["after"] is None
    assert [name for name, _ in ways(named(operation="posts", user="mira.k"))] == ["page", "hovercard", "route"]


def test_ways_to_a_post():
    assert ways(named(shortcode=CODE)) == [
        ("page", f"https://www.threads.com/t/{CODE}"), ("graphql", "https://www.threads.com/graphql/query"),
    ]  # fmt: skip
    assert fetches(named(operation="post", id=PK))[0].url == f"https://www.threads.com/t/{CODE}"
    assert ways(named(share="BAxyz123")) == [("page", "https://www.threads.com/share/BAxyz123")]
    assert [name for name, _ in ways(named(operation="likers", shortcode=CODE))] == ["graphql"]


def test_ways_to_replies():
    assert next(url for _, url in ways(named(operation="replies", user="mira.k"))).endswith("/@mira.k/replies")
    to_post = named(operation="replies", shortcode=CODE)
    assert [name for name, _ in ways(to_post)] == ["page", "graphql"]
    (later,) = fetches(to_post.then(cursor="C1", seen=0, state={}))
    assert json.loads(dict(later.form)["variables"])["after"] == "C1"


def test_queries_take_their_ids_and_tokens_from_the_session():
    fetch = contract.post_query(PK, CODE)
    assert fetch.token_form["doc_id"].name == "doc:BarcelonaPostPageDirectQuery"
    assert fetch.token_form["doc_id"].default == contract.POST.doc_id
    assert {"X-FB-LSD", "X-CSRFToken", "X-IG-App-ID"} == fetch.token_headers.keys()
    assert "user-agent" not in {name.lower() for name, _ in fetch.headers}, "the browser's own, never a crawler's"


def test_no_way_from_nothing():
    assert fetches(Call("post", PostParams.model_construct())) == []
