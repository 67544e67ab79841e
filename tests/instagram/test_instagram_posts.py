from __future__ import annotations

import pytest

from fetchworker.errors import ContractError, OutcomeError


def test_graph_timeline_page(site):
    body = {
        "data": {
            "user": {"edge_owner_to_timeline_media": site.graph_user(site.graph_node())["edge_owner_to_timeline_media"]}
        }
    }
    found = site.parsed("posts", body, state={"user_id": "77", "username": "mira.k"}, user="mira.k")
    assert site.kinds(found) == ["post", "page"]
    post = found.items[0]
    assert (post.id, post.shortcode, post.type) == ("2224312345678901234", "B7eWEshtO_y", "image")
    assert (post.likes, post.comments_count, post.views) == (21, 3, None)
    assert post.created_at == "2020-01-18T20:09:56Z"
    assert (post.hashtags, post.mentions) == (["morning"], ["ana.b"])
    assert (post.media[0].width, post.media[0].height) == (1080, 1350)
    assert post.url == "https://www.instagram.com/p/B7eWEshtO_y/"
    assert found.cursor == "CUR"
    assert found.state == {"flavour": "graph"}


def test_state_for_the_next_page(site):
    found = site.parsed("posts", {"data": {"user": site.graph_user(site.graph_node(), fbid="17841400000000077")}})
    assert site.kinds(found) == ["profile", "post", "page"]
    expected = {"user_id": "77", "username": "mira.k", "scoped_id": "17841400000000077", "flavour": "graph"}
    assert found.state == expected


def test_the_next_page_of_2026(site):
    media = site.app_media(user={"pk": "77", "id": "17841400000000077", "username": "mira.k"})
    timeline = {"edges": [{"node": media}], "page_info": {"has_next_page": False, "end_cursor": None}}
    body = {"data": {"node": {"id": "17841400000000077", "polaris_ordered_timeline_connection": timeline}}}
    found = site.parsed("posts", body, cursor="C1", number=2, seen=12, state={"username": "mira.k"}, user="mira.k")
    assert site.kinds(found) == ["post", "page"]
    assert found.items[0].author.id == "77"
    assert (found.items[1].exhausted, found.cursor) == (True, None)


def test_the_logged_in_clients_timeline(site):
    picture = {"candidates": [{"url": "https://cdn.example/1.jpg", "width": 4, "height": 5}]}
    children = [
        {"pk": "1", "media_type": 1, "image_versions2": picture},
        {"pk": "2", "media_type": 2, "video_versions": [{"url": "https://cdn.example/2.mp4"}], "original_width": 7},
    ]
    media = site.app_media(media_type=8, product_type="carousel_container", carousel_media=children)
    connection = {"edges": [{"node": media}], "page_info": {"has_next_page": True, "end_cursor": "398_77"}}
    found = site.parsed("posts", {"data": {"xdt_api__v1__feed__user_timeline_graphql_connection": connection}})
    post = found.items[0]
    assert post.type == "carousel"
    assert [(one.type, one.url, one.width) for one in post.media] == [
        ("image", "https://cdn.example/1.jpg", 4),
        ("video", "https://cdn.example/2.mp4", 7),
    ]
    assert (found.cursor, found.state["flavour"]) == ("398_77", "xdt")


def test_the_apps_feed(site):
    body = {
        "items": [site.app_media()],
        "more_available": True,
        "next_max_id": "398_77",
        "user": {"pk": 77, "username": "mira.k"},
    }
    found = site.parsed("posts", body)
    assert site.kinds(found) == ["post", "page"]
    assert (found.cursor, found.state) == ("398_77", {"user_id": "77", "username": "mira.k", "flavour": "app"})


def test_hidden_likes_are_unknown(site):
    nodes = [
        site.graph_node(edge_media_preview_like={"count": -1}),
        site.graph_node(like_and_view_counts_disabled=True, edge_media_preview_like={"count": 3}),
        site.graph_node(edge_media_preview_like=None, edge_liked_by={"count": 9}),
    ]
    found = site.parsed("posts", {"data": {"user": site.graph_user(*nodes)}})
    assert [item.likes for item in found.items if item.kind == "post"] == [None, None, 9]


def test_forms_of_graph_nodes(site):
    film = {"is_video": True, "video_view_count": 50, "video_url": "https://cdn.example/v.mp4", "video_duration": 9}
    nodes = [
        site.graph_node(__typename="GraphVideo", **film),
        site.graph_node(__typename="XDTGraphVideo", product_type="clips", **film),
        site.graph_node(
            __typename="GraphSidecar",
            edge_sidecar_to_children={"edges": [{"node": site.graph_node()}, {"node": site.graph_node(**film)}, {}]},
        ),
        site.graph_node(__typename=None, edge_media_to_caption={"edges": []}),
    ]
    found = [
        item for item in site.parsed("posts", {"data": {"user": site.graph_user(*nodes)}}).items if item.kind == "post"
    ]
    assert [post.type for post in found] == ["video", "reel", "carousel", None]
    assert (found[0].views, found[0].media[0].type, found[0].media[0].duration) == (50, "video", 9.0)
    assert found[0].extra["display_url"] == "https://cdn.example/a.jpg"
    assert found[1].url == "https://www.instagram.com/reel/B7eWEshtO_y/"
    assert [one.type for one in found[2].media] == ["image", "video"]
    assert (found[3].text, found[3].hashtags) == (None, [])


def test_a_list_that_ends_early_says_so(site):
    body = {"data": {"user": site.graph_user(site.graph_node(), cursor=None)}}
    page = site.parsed("posts", body).items[-1]
    assert (page.exhausted, page.total, page.partial) == (True, 40, "logged_out_limit")
    last = site.parsed("posts", body, cursor="C", number=4, seen=39).items[-1]
    assert last.partial is None
    entered = site.parsed("posts", body, cursor="C").items[
        -1
    ]  # a cursor of an earlier crawl: what came before is unknown
    assert entered.partial is None


def test_coauthors_keep_their_names(site):
    node = site.graph_node(owner={"id": "99", "username": "ana.b"}, coauthor_producers=[{"username": "mira.k"}])
    post = site.parsed("posts", {"data": {"user": site.graph_user(node)}}).items[1]
    assert (post.author.id, post.author.username, post.author.name) == ("99", "ana.b", None)
    assert post.extra["coauthor_producers"] == ["mira.k"]


@pytest.mark.parametrize("operation", ["posts", "reels"])
def test_the_lists_of_a_private_account_are_private(site, operation):
    owner = {"pk": "7", "username": "x", "is_private": True, "follower_count": 2, "media_count": 5}
    with pytest.raises(OutcomeError) as caught:
        site.parsed(operation, {"data": {"user": owner}})
    assert (caught.value.outcome, caught.value.context["evidence"]) == ("private", ["instagram_private_account"])


def test_an_account_without_its_list_is_a_contract_error(site):
    with pytest.raises(ContractError):
        site.parsed("posts", {"data": {"xig_user_by_username": {"pk": "7", "username": "x", "is_private": False}}})


def test_reels_of_the_app(site):
    body = {
        "items": [{"media": site.app_media(view_count=10)}],
        "paging_info": {"max_id": "M1", "more_available": True},
    }
    found = site.parsed("reels", body, id="77")
    post, page = found.items
    assert (post.type, post.views, post.likes, post.comments_count) == ("reel", 5000, 90, 4)
    assert post.media[0].url == "https://cdn.example/v.mp4"
    assert (post.media[0].width, post.media[0].duration) == (720, 12.5)
    assert post.extra["view_count"] == 10
    assert (page.next_cursor, found.cursor, found.state["flavour"]) == ("M1", "M1", "app")


@pytest.mark.parametrize("flavour", ["polaris", "xdt", "graph"])
def test_reels_of_the_other_generations(site, flavour):
    media = site.app_media(product_type=None)
    info = {"has_next_page": True, "end_cursor": "R1"}
    listed = {"edges": [{"node": media}], "page_info": info}
    wrapped = {"edges": [{"node": {"media": media}}], "page_info": info}
    data = {
        "polaris": {"xig_user_by_username": {"pk": "77", "polaris_clips_connection": listed}},
        "xdt": {"xdt_api__v1__clips__user__connection_v2": wrapped},
        "graph": {"user": {"id": "77", "edge_felix_video_timeline": {"count": 9, **listed}}},
    }[flavour]
    body = {"data": data}
    found = site.parsed("reels", body)
    assert site.kinds(found) == ["post", "page"]
    assert (found.items[0].type, found.cursor, found.state["flavour"]) == ("reel", "R1", flavour)


def test_no_reels_is_a_contract_error(site):
    with pytest.raises(ContractError):
        site.parsed("reels", {"data": {"user": {"id": "77", "username": "mira.k"}}})
