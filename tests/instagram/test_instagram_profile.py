from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def graph_bodies(site):
    user = site.graph_user(site.graph_node(), site.graph_node("2224305748263047051", "B7eUksNFA-L"))
    return {
        "web_profile_info": {"data": {"user": user}, "status": "ok"},
        "?__a=1": {"logging_page_id": "profilePage_77", "graphql": {"user": user}},
        "sharedData": site.shared_data("ProfilePage", {"user": user}),
        "sharedData as JSON": {"entry_data": {"ProfilePage": [{"graphql": {"user": user}}]}},
        "additionalData": site.shared_data("ProfilePage", None) + site.additional("/mira.k/", {"user": user}),
    }


@pytest.mark.parametrize("name", ["web_profile_info", "?__a=1", "sharedData", "sharedData as JSON", "additionalData"])
def test_graph_forms(site, name):
    found = site.parsed("profile", graph_bodies(site)[name])
    assert site.kinds(found) == ["profile", "post", "post", "page"]
    profile, post, _, page = found.items
    assert (profile.id, profile.username, profile.name, profile.biography) == ("77", "mira.k", "Mira K", "Potter")
    assert (profile.followers, profile.following, profile.posts_count) == (1200, 30, 40)
    assert (profile.verified, profile.private) == (True, False)
    assert profile.url == "https://www.instagram.com/mira.k/"
    assert (post.author.id, post.author.username, post.author.name) == ("77", "mira.k", "Mira K")
    assert (page.next_cursor, page.total, page.exhausted) == ("CUR", 40, False)
    assert found.cursor is None  # the operation has one page


def test_fields_of_the_classic_answer(site):
    user = site.graph_user(
        category_name="Artist",
        is_business_account=True,
        external_url=None,
        bio_links=[{"title": "Shop", "url": "https://shop.example/"}, {"title": "", "url": "mailto:x@example.org"}],
        profile_pic_url="https://cdn.example/150.jpg",
        profile_pic_url_hd="https://cdn.example/320.jpg",
        fbid="17841400000000077",
        business_email="mira@example.org",
        business_phone_number="+100000",
        highlight_reel_count=3,
    )
    profile = site.parsed("profile", {"data": {"user": user}}).items[0]
    assert (profile.category, profile.business) == ("Artist", True)
    assert profile.external_url == "https://shop.example/"
    assert [(one.title, one.url) for one in profile.links] == [("Shop", "https://shop.example/")]
    assert profile.avatar_url == "https://cdn.example/320.jpg"
    assert profile.alt_ids == ["17841400000000077"]
    assert profile.extra["highlight_reel_count"] == 3


def test_contact_data_stands_apart_and_street_addresses_are_not_read(site):
    user = site.graph_user(business_email="mira@example.org", business_phone_number="+4915550001")
    user |= {"public_email": "mira@example.org", "public_phone_number": "15550001", "address_street": "Kiln Lane 1"}
    found = site.parsed("profile", {"data": {"user": user}})
    assert found.items[0].extra.pop("contact") == {"email": "mira@example.org", "phone": "+4915550001"}
    told = json.dumps([item.__dict__ for item in found.items], default=lambda part: part.__dict__)
    assert "example.org" not in told
    assert "15550001" not in told
    assert "Kiln Lane" not in told


def test_absent_counts_are_unknown_not_zero(site):
    user = site.graph_user()
    del user["edge_owner_to_timeline_media"], user["edge_follow"]
    found = site.parsed("profile", {"data": {"user": user}})
    assert site.kinds(found) == ["profile"]
    assert (found.items[0].posts_count, found.items[0].following) == (None, None)


def polaris_user(site, **more):
    return {"pk": "74712345678", "username": "mira.k", "full_name": "Mira K", "follower_count": 8938,
            "following_count": 5, "all_media_count": None, "id": "17841474869666357", "is_private": False,
            "bio_links": [], "profile_pic_url": "https://cdn.example/150.jpg", **more}  # fmt: skip


def polaris_page(site):
    node = {"__typename": "XIGPolarisVideoMedia", "pk": "3984285244001148342", "code": "DdLBlHchN22",
            "caption": {"text": "hello"}, "display_uri": "https://cdn.example/a.jpg", "media_type": "2",
            "product_type": "clips"}  # fmt: skip
    info = {"end_cursor": "CUR1", "has_next_page": True}
    timeline = {"edges": [{"node": node}], "page_info": info}
    posts = {"pk": "74712345678", "id": "17841474869666357", "polaris_ordered_timeline_connection": timeline}
    stranger = {"pk": "9", "username": "stranger", "follower_count": 1, "full_name": "S"}
    name = "PolarisLoggedOutDesktopWWWProfile{}ContentQuery"
    return (
        "<!DOCTYPE html>"
        + site.relay("SuggestedQuery", {"data": {"xig_user_by_username": stranger}})
        + site.relay(name.format("Root"), {"data": {"xig_user_by_username": polaris_user(site)}})
        + site.relay(name.format("PostsTab"), {"data": {"xig_user_by_username": posts}})
    )


def test_logged_out_page_of_2026(site):
    found = site.parsed("profile", polaris_page(site), user="Mira.K")
    assert site.kinds(found) == ["profile", "post", "page"]
    profile, post, page = found.items
    assert (profile.id, profile.followers, profile.posts_count) == ("74712345678", 8938, None)
    assert profile.alt_ids == ["17841474869666357"]
    assert (post.type, post.likes, post.created_at) == ("reel", None, "2026-09-12T03:30:35Z")
    assert post.media[0].url == "https://cdn.example/a.jpg"
    assert (page.next_cursor, page.total) == ("CUR1", None)


def test_another_account_is_not_the_wanted_one(site):
    with pytest.raises(ContractError):
        site.parsed("profile", polaris_page(site), user="somebody.else")
    with pytest.raises(ContractError):
        site.parsed("profile", {"data": {"user": site.graph_user()}}, id="78")
    assert site.parsed("profile", {"data": {"user": site.graph_user()}}, id="77").items[0].username == "mira.k"


def test_the_apps_form(site):
    user = {"pk": 77, "username": "mira.k", "full_name": "Mira K", "media_count": 12, "follower_count": 8,
            "following_count": 4, "is_business": False, "account_type": 2, "category": "", "external_url": "",
            "hd_profile_pic_versions": [{"width": 320, "url": "https://cdn.example/320.jpg"},
                                        {"width": 640, "url": "https://cdn.example/640.jpg"}]}  # fmt: skip
    profile = site.parsed("profile", {"user": user, "status": "ok"}).items[0]
    assert (profile.id, profile.posts_count, profile.business, profile.category) == ("77", 12, True, None)
    assert profile.external_url is None
    assert profile.avatar_url == "https://cdn.example/640.jpg"


def test_an_account_by_number(site):
    inner = {"id": "77", "username": "mira.k", "profile_pic_url": "https://cdn.example/150.jpg"}
    body = {"data": {"viewer": {}, "user": {"reel": {"id": "77", "user": inner, "owner": inner}}}}
    profile = site.parsed("profile", body).items[0]
    assert (profile.id, profile.username, profile.followers) == ("77", "mira.k", None)


def test_embed_of_an_account(site):
    context = {"type": "Profile", "username": "mira.k", "full_name": "Mira K", "owner_id": "77", "posts_count": 40,
               "followers_count": 1200, "graphql_media": [{"shortcode_media": site.graph_node()}]}  # fmt: skip
    block = json.dumps({"contextJSON": json.dumps({"context": context})})
    found = site.parsed("profile", f"<html><script>s.handle({block})</script>", user="mira.k")
    assert site.kinds(found) == ["profile", "post", "page"]
    assert (found.items[0].posts_count, found.items[0].followers) == (40, 1200)
    assert found.items[2].exhausted is None


def test_a_private_account(site):
    user = site.graph_user(cursor=None, is_private=True)
    profile, page = site.parsed("profile", {"data": {"user": user}}).items
    assert profile.private is True
    assert (page.exhausted, page.partial, page.total) == (True, "private", 40)


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"user": None}, "status": "ok"},
        {"status": "ok"},
        {"errors": [{"message": "execution error"}], "data": None},
        "<html><title>Login</title></html>",
    ],
)
def test_no_account_is_a_contract_error(site, body):
    with pytest.raises(ContractError) as caught:
        site.parsed("profile", body)
    assert "data.user" in caught.value.path


def test_shared_data_without_its_record_is_no_shell(site):
    page = site.meta(og_colon_title="Mira K (@mira.k) • Instagram photos and videos")
    with pytest.raises(ContractError):
        site.parsed("profile", page + site.shared_data("ProfilePage", None))
