"""The sites' routes: operations of the spiders, by their own parameters."""

from __future__ import annotations

import json

import pytest

from fetchworker.items import validate
from tests.service.conftest import failure

pytestmark = pytest.mark.slow


def test_an_operation_gives_its_items(service):
    response = service.get("/linktree/profile?user=nasa")
    assert response.status_code == 200, response.text
    items = response.json()
    assert [item["kind"] for item in items] == ["link_page"]
    assert items[0]["operation"] == "profile"
    for item in items:
        validate(item)


def test_pages_come_one_by_one_or_as_many_as_the_limit_asks_for(service):
    first = service.get("/instagram/posts?user=nasa").json()
    cursor = first[-1]["next_cursor"]
    assert first[-1]["kind"] == "page"
    posts = [item["id"] for item in first if item["kind"] == "post"]
    assert cursor
    second = service.get(f"/instagram/posts?user=nasa&cursor={cursor}").json()
    more = [item["id"] for item in second if item["kind"] == "post"]
    assert posts
    assert more
    assert not set(posts) & set(more)
    wanted = len(posts) + 1
    both = service.get(f"/instagram/posts?user=nasa&limit={wanted}").json()
    found = [item["id"] for item in both if item["kind"] == "post"]
    assert found == [*posts, more[0]]


def test_the_same_call_at_the_same_time_gives_the_same_to_both(service):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: service.get("/instagram/posts?user=nasa").json(), range(4)))
    ids = [[item.get("id") for item in items] for items in answers]
    assert ids == [ids[0]] * 4
    assert len(ids[0]) > 1


def test_lines_on_demand(service):
    with service.client() as client:
        accept = {"accept": "application/x-ndjson"}
        with client.stream("GET", "/instagram/posts?user=nasa&limit=15", headers=accept) as response:
            assert response.headers["content-type"].startswith("application/x-ndjson")
            items = [json.loads(line) for line in response.iter_lines()]
        assert sum(item["kind"] == "post" for item in items) == 15
        refused = client.get("/linktree/profile?user=nobody_here", headers=accept)
    assert failure(refused) == (404, "NOT_FOUND_UPSTREAM")


def test_the_shop_is_asked_by_post(service):
    assert failure(service.get("/tiktok_shop/product?product=1")) == (405, "METHOD_NOT_ALLOWED")
    with service.client() as client:
        assert failure(client.post("/tiktok_shop/product", json={"product": "x"})) == (400, "VALIDATION_ERROR")


def test_wrong_arguments_are_named(service):
    for query, named in (
        ("", "user"),
        ("?user=nasa&nonsense=1", "nonsense"),
        ("?user=nasa&limit=many", "limit"),
        ("?user=nasa&limit=0", "limit"),
        ("?user=nasa&timeout=soon", "timeout"),
        ("?user=nasa&user=esa", "user"),
    ):
        response = service.get(f"/instagram/posts{query}")
        assert failure(response) == (400, "VALIDATION_ERROR"), query
        assert named in response.json()["message"]


def test_what_is_not_there_is_an_answer_of_its_own(service):
    response = service.get("/linktree/profile?user=nobody_here")
    assert failure(response) == (404, "NOT_FOUND_UPSTREAM")
    context = response.json()["context"]
    assert (context["site"], context["operation"], context["outcome"]) == ("linktree", "profile", "not_found")
    assert context["elapsed_ms"] > 0
    assert failure(service.get("/linktree/nothing")) == (404, "NOT_FOUND")
    assert failure(service.get("/nowhere")) == (404, "NOT_FOUND")
