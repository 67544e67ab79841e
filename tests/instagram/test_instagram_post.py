from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def post_node(site, **more):
    owner = {"id": "77", "username": "mira.k", "full_name": "Mira K", "edge_followed_by": {"count": 1200},
             "edge_owner_to_timeline_media": {"count": 40}}  # fmt: skip
    info = {"has_next_page": True, "end_cursor": '{"server_cursor": "QVFD", "is_server_cursor_inverse": true}'}
    replies = {"count": 2, "edges": [{"node": site.comment("18009", text="Thanks")}]}
    edges = [{"node": site.comment()}, {"node": site.comment("18002", edge_threaded_comments=replies)}]
    parent = {"count": 12, "page_info": info, "edges": edges}
    related = {
        "edges": [
            {
                "node": {
                    "username": "stranger",
                    "edge_owner_to_timeline_media": {"edges": [{"node": site.graph_node("5", "F")}]},
                }
            }
        ]
    }
    return site.graph_node(owner=owner, edge_media_to_parent_comment=parent, edge_related_profiles=related, **more)


@pytest.mark.parametrize("name", ["sharedData", "additionalData", "?__a=1", "graphql", "xdt", "embed"])
def test_graph_forms(site, name):
    node = post_node(site)
    context = json.dumps(
        {"contextJSON": json.dumps({"context": {"media": None}, "gql_data": {"shortcode_media": node}})}
    )
    body = {
        "sharedData": site.shared_data("PostPage", {"shortcode_media": node}),
        "additionalData": site.shared_data("PostPage", None)
        + site.additional("/p/B7eWEshtO_y/", {"shortcode_media": node}),
        "?__a=1": {"graphql": {"shortcode_media": node}},
        "graphql": {"data": {"shortcode_media": node}, "status": "ok"},
        "xdt": {"data": {"xdt_shortcode_media": {**node, "__isXDTGraphMediaInterface": "XDTGraphImage"}}},
        "embed": f"<html><script>s.handle({context})</script>",
    }[name]
    found = site.parsed("post", body, shortcode="B7eWEshtO_y")
    assert site.kinds(found) == ["post", "profile", "comment", "comment", "page"]
    post, profile, first, second, page = found.items
    assert (post.id, post.likes, post.comments_count) == ("2224312345678901234", 21, 12)
    assert (profile.id, profile.followers, profile.posts_count) == ("77", 1200, 40)
    assert (first.id, first.post_id, first.text, first.likes) == ("18001", post.id, "Lovely glaze", 2)
    assert (first.author.username, first.created_at, first.replies_count) == ("ana.b", "2020-01-18T20:11:40Z", 0)
    assert (second.replies_count, second.extra["replies"][0]["text"]) == (2, "Thanks")
    assert json.loads(page.next_cursor)["server_cursor"] == "QVFD"  # the cursor is passed on as it came
    assert (page.total, page.exhausted, found.cursor) == (12, False, None)


def test_the_apps_form(site):
    media = site.app_media(
        comments=[{"pk": 18001, "text": "Nice", "created_at": 1590450181, "comment_like_count": 5,
                   "user": {"pk": 88, "username": "ana.b"}, "media_id": 1}],
        has_more_comments=True, next_max_id=1788, like_and_view_counts_disabled=False,
    )  # fmt: skip
    found = site.parsed("post", {"items": [media], "num_results": 1, "more_available": False})
    assert site.kinds(found) == ["post", "comment", "page"]
    post, comment, page = found.items
    assert (post.id, post.shortcode, post.views, post.author.id) == ("3984285244001148342", "DdLBlHchN22", 5000, "77")
    assert post.alt_ids == ["3984285244001148342_77"]
    assert (comment.id, comment.post_id, comment.likes) == ("18001", "3984285244001148342", 5)
    assert (page.next_cursor, page.total, page.exhausted) == ("1788", 4, False)


def test_the_logged_in_clients_form(site):
    body = {"data": {"xdt_api__v1__media__shortcode__web_info": {"items": [site.app_media(caption=None)]}}}
    post = site.parsed("post", body, shortcode="DdLBlHchN22").items[0]
    assert (post.type, post.text) == ("reel", None)


def polaris(site, **more):
    comment = {"pk": "18001", "text": "Nice", "created_at": 1789184500, "comment_like_count": 0,
               "child_comment_count": 1, "user": {"pk": "88", "username": "ana.b"}}  # fmt: skip
    listed = {"edges": [{"node": comment}], "page_info": {"has_next_page": True, "end_cursor": '{"c":1}'}}
    inner = site.app_media()
    del inner["play_count"]
    return {"xig_polaris_media": {"__typename": "XIGPolarisVideoMedia", "if_not_gated_logged_out": inner,
                                  "comments_connection": listed, **more}}  # fmt: skip


@pytest.mark.parametrize("ssr", [False, True])
def test_logged_out_post_of_2026(site, ssr):
    data = polaris(site)
    others = {
        "data": {"xig_polaris_media": {"if_not_gated_logged_out": site.app_media("3984285244001148000", "Other")}}
    }
    page = "<html>" + site.relay("OtherQuery", others) + site.relay("PolarisPostQuery", {"data": data})
    found = site.parsed("post", page if ssr else {"data": data}, id="3984285244001148342")
    assert site.kinds(found) == ["post", "comment", "page"]
    post, comment, listed = found.items
    assert (post.id, post.likes, post.comments_count, post.views) == ("3984285244001148342", 90, 4, None)
    assert (comment.post_id, comment.likes, comment.replies_count) == (post.id, 0, 1)
    assert (listed.next_cursor, listed.total) == ('{"c":1}', 4)


def test_comments_inside_of_the_post(site):
    data = polaris(site)
    media = data["xig_polaris_media"]
    media["if_not_gated_logged_out"]["comments_connection"] = media.pop("comments_connection")
    assert site.kinds(site.parsed("post", {"data": data})) == ["post", "comment", "page"]


@pytest.mark.parametrize(
    "data",
    [
        {"xig_polaris_media": None},
        {"shortcode_media": None},
        {"xdt_shortcode_media": None},
        {"xig_polaris_media": {"if_not_gated_logged_out": None, "gating_ruling": {"gating_type": 2}}},
    ],
)
def test_no_post_is_a_contract_error(site, data):
    with pytest.raises(ContractError):
        site.parsed("post", {"data": data})


def test_another_post_is_not_the_wanted_one(site):
    with pytest.raises(ContractError):
        site.parsed("post", {"data": {"shortcode_media": site.graph_node()}}, shortcode="DdLBlHchN22")
    with pytest.raises(ContractError):
        site.parsed("post", {"items": [site.app_media()]}, id="3984285244001148341")


def test_a_page_of_comments(site):
    listed = {
        "count": 45,
        "page_info": {"has_next_page": True, "end_cursor": "C2"},
        "edges": [{"node": site.comment()}],
    }
    body = {"data": {"shortcode_media": {"edge_media_to_comment": listed}}}
    found = site.parsed("comments", body, shortcode="B7eWEshtO_y")
    comment, page = found.items
    assert comment.post_id == "2224312345678901234"
    assert (page.total, found.cursor, found.state) == (45, "C2", {"media": "2224312345678901234"})


def test_the_next_page_of_comments_of_2026(site):
    listed = polaris(site)["xig_polaris_media"]["comments_connection"]
    for media in ({"comments_connection": listed}, {"comments_connection": listed, "if_not_gated_logged_out": None}):
        found = site.parsed("comments", {"data": {"xig_polaris_media": media}}, id="3984285244001148342")
        assert site.kinds(found) == ["comment", "page"]
        assert (found.items[0].post_id, found.cursor) == ("3984285244001148342", '{"c":1}')


def test_comments_of_the_app_and_of_the_logged_in_client(site):
    comment = {"pk": "18001", "text": "Nice", "created_at": 1789184500, "user": {"pk": 88, "username": "ana.b"}}
    app = {"comments": [comment], "comment_count": 9, "next_min_id": "N1", "has_more_headload_comments": True}
    found = site.parsed("comments", app)
    assert (found.items[1].total, found.cursor) == (9, "N1")
    connection = {"edges": [{"node": comment}], "page_info": {"has_next_page": False, "end_cursor": None}}
    found = site.parsed("comments", {"data": {"xdt_api__v1__media__media_id__comments__connection": connection}})
    assert (site.kinds(found), found.items[1].exhausted) == (["comment", "page"], True)


def test_a_post_without_comments(site):
    node = site.graph_node(edge_media_to_comment={"count": 0})
    found = site.parsed("comments", {"data": {"shortcode_media": node}})
    assert site.kinds(found) == ["page"]
    assert (found.items[0].exhausted, found.items[0].total, found.items[0].partial) == (True, 0, None)


def test_comments_that_are_not_told_are_a_contract_error(site):
    with pytest.raises(ContractError):
        site.parsed("comments", {"data": {"shortcode_media": site.graph_node()}})
