from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

USERS = [
    {"position": 1, "user": {"pk": "88", "username": "ana.b", "full_name": "", "is_verified": False}},
    {"position": 0, "user": {"pk": "77", "username": "mira.k", "full_name": "Mira K", "is_verified": True,
                             "profile_pic_url": "https://cdn.example/a.jpg"}},
    {"position": 2, "user": {"pk": "99"}},
]  # fmt: skip


@pytest.mark.parametrize("wrapped", [False, True])
def test_accounts(site, wrapped):
    root = {"xdt_api__v1__fbsearch__topsearch_connection": {"users": USERS, "hashtags": [], "places": []}}
    found = site.parsed("search", {"data": root} if wrapped else root, query="mira")
    assert site.kinds(found) == ["search_result", "profile", "search_result", "profile", "search_page"]
    first, profile, second, _, page = found.items
    assert (first.position, first.id, first.name) == (1, "77", "Mira K")
    assert first.url == "https://www.instagram.com/mira.k/"
    assert (profile.username, profile.verified, profile.partial) == ("mira.k", True, "search_hit")
    assert (second.position, second.name) == (2, "ana.b")
    assert (page.query, page.results_count, page.next_cursor) == ("mira", 2, None)


def test_hashtags_and_places(site):
    body = {
        "users": [],
        "hashtags": [{"position": 1, "hashtag": {"name": "clay", "id": 5, "media_count": 70}}],
        "places": [
            {"position": 0, "place": {"title": "Riga", "slug": "riga", "location": {"pk": 123, "name": "Riga"}}}
        ],
        "status": "ok",
    }
    place, tag, page = site.parsed("search", body).items
    assert (place.name, place.id, place.url) == ("Riga", "123", "https://www.instagram.com/explore/locations/123/")
    assert (tag.name, tag.url, tag.extra["media_count"]) == (
        "#clay",
        "https://www.instagram.com/explore/tags/clay/",
        70,
    )
    assert (page.query, page.results_count) == (None, 2)


def test_reels_for_words(site):
    connection = {
        "edges": [{"node": site.app_media(product_type=None)}],
        "page_info": {"has_next_page": True, "end_cursor": "S1"},
    }
    keywords = {"edges": [{"node": {"query_text": "raku"}}, {"node": None}]}
    body = {
        "data": {
            "xig_logged_out_popular_search_media_info": connection,
            "popular_search_related_keywords_connection": keywords,
        }
    }
    found = site.parsed("search", body, query="clay", seen=12, number=2)
    hit, post, page = found.items
    assert (hit.position, hit.id, hit.url) == (13, "3984285244001148342", "https://www.instagram.com/reel/DdLBlHchN22/")
    assert (hit.image_url, post.views, post.author.username) == ("https://cdn.example/l.jpg", 5000, "mira.k")
    assert (page.page, page.next_cursor, page.results_count, found.cursor) == (2, "S1", 1, "S1")
    assert page.extra == {"related_keywords": ["raku"]}


def test_no_hits_is_an_answer(site):
    found = site.parsed("search", {"users": [], "places": [], "hashtags": [], "status": "ok"})
    assert (site.kinds(found), found.items[0].results_count) == (["search_page"], 0)


def test_no_search_is_a_contract_error(site):
    with pytest.raises(ContractError):
        site.parsed("search", {"data": {"user": None}})
