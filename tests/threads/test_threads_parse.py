from __future__ import annotations

import pytest

from fetchworker.errors import ContractError, OutcomeError
from fetchworker.items import Page
from fetchworker.spiders.threads.parse import NAME_ONLY

PK, CODE = "3912345678901234567", "DZLcaqdcUuH"
OTHER = "3912123456789012345"


class TestProfile:
    @pytest.mark.parametrize(
        "wrap",
        [
            lambda user: {"data": {"userData": {"user": user}}},
            lambda user: {"data": {"user": user}},
            lambda user: {"data": {"xdt_text_app_user_by_username": user}},
        ],
    )
    def test_every_query(self, site, wrap):
        (found,) = site.parsed("profile", wrap(site.account()), user="mira.k").items
        assert (found.id, found.username, found.name, found.followers) == ("77", "mira.k", "Mira K", 1200)
        assert (found.biography, found.verified, found.private) == ("Potter", True, False)
        assert (found.avatar_url, found.url) == ("https://cdn.example/640.jpg", "https://www.threads.com/@mira.k")
        assert found.external_url == "https://mira.example/"
        assert found.posts_count is None

    def test_a_page_with_posts_and_two_queries(self, site):
        body = site.html(
            site.relay("BarcelonaProfilePageDirectQuery", {"data": {"user": site.user()}}),
            site.relay(
                "BarcelonaProfileThreadsTabDirectQuery",
                {"data": {"mediaData": site.edges([site.post()], cursor="C1"), "xdt_text_app_user": site.account()}},
            ),
        )
        found = site.parsed("profile", body, user="mira.k")
        assert [item.kind for item in found.items] == ["profile", "post", "page"]
        assert (found.items[0].followers, found.items[2].next_cursor, found.cursor) == (1200, "C1", None)

    def test_somebody_else_is_nobody(self, site):
        with pytest.raises(ContractError):
            site.parsed("profile", {"data": {"user": site.account("ana.b", "88")}}, user="mira.k")

    def test_a_number_leads_on_and_the_name_waits(self, site):
        found = site.parsed("profile", {"data": {"xdt_text_app_user_by_username": site.user()}}, user="mira.k")
        assert (found.held, found.cursor, found.state) == (True, "resolved:", {"user_id": "77"})
        assert found.items[0].partial == NAME_ONLY
        (bare,) = site.parsed("profile", {"data": {"user": site.user()}}, user="mira.k", cursor="resolved:").items
        assert bare.followers is None

    def test_a_route_tells_the_number(self, site):
        answer = '{"__ar":1,"payload":{"payloads":{"/@mira.k":{"result":{"exports":{"rootView":{"props":%s}}}}}}}'
        found = site.parsed("profile", "for (;;);" + answer % '{"user_id":"77"}', user="mira.k")
        assert (list(found.items), found.state) == ([], {"user_id": "77"})
        with pytest.raises(ContractError):
            site.parsed("profile", "for (;;);" + answer % "{}", user="mira.k")

    def test_a_shell_with_facts(self, site):
        told = {
            "title": "Mira K (@mira.k) • Threads, Say more", "url": "https://www.threads.com/@mira.k",
            "description": "59.8K Followers • 381 Threads • Potter. See the latest conversations with @mira.k.",
        }  # fmt: skip
        (found,) = site.parsed("profile", site.html(**told), user="mira.k").items
        assert (found.followers, found.posts_count, found.partial) == (59800, 381, "page_shell")
        with pytest.raises(OutcomeError):
            site.parsed("profile", site.html(**told), user="ana.b")

    def test_a_shell_without_is_a_browsers_work(self, site):
        with pytest.raises(OutcomeError) as caught:
            site.parsed("profile", site.html(title="Threads"), user="mira.k")
        assert caught.value.outcome == "challenge"


class TestPosts:
    def test_a_page(self, site):
        body = {"data": {"mediaData": site.edges([site.post()], [site.post(OTHER)], cursor="C1")}}
        found = site.parsed("posts", body, user="mira.k")
        first, second, page = found.items
        assert (first.id, first.shortcode, first.alt_ids) == (PK, CODE, [f"{PK}_77"])
        assert (first.url, first.type) == (f"https://www.threads.com/@mira.k/post/{CODE}", "text")
        assert (first.created_at, first.likes, first.comments_count) == ("2026-06-04T21:51:14Z", 8, 3)
        assert (first.hashtags, first.mentions, first.shares) == (["clay"], ["ana.b"], None)
        assert first.extra["repost_count"] == 0
        assert second.id == OTHER
        assert (page.next_cursor, page.exhausted, found.cursor) == ("C1", False, "C1")

    def test_threads_at_the_edge_and_threads_of_2023(self, site):
        edge = {"text_post_app_thread": {"thread_items": [{"post": site.post()}]}, "node": {"id": PK}, "cursor": ""}
        found = site.parsed("posts", {"data": {"feedData": {"edges": [edge], "page_info": {"has_next_page": False}}}})
        assert [item.id for item in found.items[:-1]] == [PK]
        assert found.items[-1].exhausted is True
        body = {"data": {"mediaData": {"threads": [{"thread_items": [{"post": site.post()}], "id": PK}]}}}
        found = site.parsed("posts", body, user="mira.k")
        assert (found.items[0].id, found.items[1].exhausted) == (PK, None)

    def test_the_rest_of_a_thread_answers_what_is_before_it(self, site):
        found = site.parsed("posts", {"data": {"mediaData": site.edges([site.post(), site.post(OTHER)])}})
        assert [item.reply_to for item in found.items[:2]] == [None, PK]

    def test_strangers_posts_are_left_out(self, site):
        listed = site.edges([site.post(OTHER, "ana.b")], [site.post()])
        found = site.parsed("posts", {"data": {"mediaData": listed}}, user="mira.k")
        assert [item.id for item in found.items[:-1]] == [PK]
        feed = {"data": {"feedData": site.edges([site.post(OTHER, "ana.b")])}}
        with pytest.raises(ContractError):
            site.parsed("posts", feed, user="mira.k")

    def test_no_posts_are_an_answer_and_null_is_none(self, site):
        (page,) = site.parsed("posts", {"data": {"mediaData": site.edges()}}, user="mira.k").items
        assert isinstance(page, Page)
        assert page.exhausted is True
        with pytest.raises(ContractError):
            site.parsed("posts", {"data": {"mediaData": None}}, user="mira.k", state={"user_id": "77"})

    def test_from_a_name_to_the_query(self, site):
        body = {"data": {"xdt_text_app_user_by_username": site.account()}}
        found = site.parsed("posts", body, user="mira.k", cursor="C7")
        assert [item.kind for item in found.items] == ["profile"]
        assert (found.cursor, found.state) == ("resolved:C7", {"user_id": "77", "told": True})

    def test_private_accounts_show_nothing(self, site):
        owner = site.account() | {"text_post_app_is_private": True}
        for operation in ("posts", "replies"):
            with pytest.raises(OutcomeError) as caught:
                site.parsed(operation, {"data": {"user": owner, "mediaData": None}}, user="mira.k")
            assert caught.value.outcome == "private"

    def test_hidden_likes_are_unknown_and_zero_is_a_value(self, site):
        hidden = site.post(like_count=0, like_and_view_counts_disabled=True)
        body = {"data": {"mediaData": site.edges([hidden], [site.post(OTHER, like_count=0)])}}
        first, second, _ = site.parsed("posts", body).items
        assert (first.likes, second.likes) == (None, 0)


class TestPost:
    def test_pictures_films_and_carousels(self, site):
        picture = {"candidates": [{"url": "https://cdn.example/a.jpg", "width": 1080, "height": 1350}]}
        film = [{"type": kind, "url": "https://cdn.example/v.mp4"} for kind in (101, 102, 103)]
        parts = [{"image_versions2": picture, "pk": "1"}, {"image_versions2": picture, "video_versions": film}]
        for more, form, kinds in (
            ({"image_versions2": picture, "media_type": 1}, "image", ["image"]),
            ({"image_versions2": picture, "video_versions": film, "media_type": None}, "video", ["video"]),
            ({"carousel_media": parts, "media_type": None}, "carousel", ["image", "video"]),
        ):
            (found,) = site.parsed("post", {"data": {"media": site.post(**more)}}).items
            assert (found.type, [one.type for one in found.media]) == (form, kinds)

    def test_quotes_reposts_and_links(self, site):
        shown = {"url": "https://clay.example/a", "title": "Clay"}
        share = {"quoted_post": site.post(OTHER, "ana.b"), "reposted_post": None}
        (found,) = site.parsed("post", site.post(info={"share_info": share, "link_preview_attachment": shown})).items
        assert (found.quoted.id, found.quoted.author.username) == (OTHER, "ana.b")
        assert found.quoted.url == f"https://www.threads.com/@ana.b/post/{found.quoted.shortcode}"
        assert (found.reposted, found.type, found.links[0].title) == (None, "link", "Clay")

    def test_replies_come_with_it_and_recommendations_do_not(self, site):
        below = site.edges(
            [site.post()], [site.answer("3912400000000000001")], [site.post(OTHER, "cleo.d")], cursor="C1"
        )
        body = site.html(
            site.relay("BarcelonaOtherQuery", {"data": {"feedData": site.edges([site.post(OTHER, "cleo.d")])}}),
            site.relay("BarcelonaPostPageDirectQuery", {"data": {"data": below}}),
            '<script>["BarcelonaLoggedOutExpansionGating",[],{"view_counts":5120}]</script>',
            url=f"https://www.threads.com/@mira.k/post/{CODE}",
        )
        post, reply, page = site.parsed("post", body, shortcode=CODE).items
        assert (post.id, post.views) == (PK, 5120)
        assert (reply.id, reply.reply_to, reply.author.username) == ("3912400000000000001", PK, "ana.b")
        assert (page.next_cursor, page.total) == ("C1", 3)

    def test_the_wanted_one_of_several(self, site):
        body = {"data": {"data": site.edges([site.post(OTHER, "ana.b"), site.post()])}}
        assert site.parsed("post", body, id=PK).items[0].id == PK
        with pytest.raises(ContractError):
            site.parsed("post", body, id="3912400000000000009")

    def test_a_share_link_is_told_by_the_pages_own_address(self, site):
        blocks = site.relay("BarcelonaPostPageTargetQuery", {"data": {"media": site.post()}})
        other = site.relay("BarcelonaX", {"data": {"media": site.post(OTHER, "ana.b")}})
        page = site.html(other, blocks, url=f"https://www.threads.com/@mira.k/post/{CODE}")
        assert site.parsed("post", page, share="BAxyz123").items[0].id == PK
        page = site.html(other, blocks)
        assert site.parsed("post", page, share="BAxyz123", url=f"https://www.threads.com/t/{CODE}").items[0].id == PK

    def test_the_form_of_2023(self, site):
        replies = [{"thread_items": [{"post": site.answer(OTHER, is_reply=None)}]}]
        body = {"data": {"data": {"containing_thread": {"thread_items": [{"post": site.post()}]},
                                  "reply_threads": replies}}}  # fmt: skip
        post, reply, page = site.parsed("post", body).items
        assert (post.id, reply.id, reply.reply_to, page.exhausted) == (PK, OTHER, PK, None)

    def test_a_shell_with_facts(self, site):
        route = f'<script>{{"rootView":{{"props":{{"post_id":"{PK}"}}}}}}</script>'
        told = {"title": "Mira K (@mira.k) on Threads", "description": "Kiln day #clay",
                "url": f"https://www.threads.net/@mira.k/post/{CODE}"}  # fmt: skip
        (found,) = site.parsed("post", site.html(route, **told), shortcode=CODE).items
        assert (found.id, found.author.username, found.author.name) == (PK, "mira.k", "Mira K")
        assert (found.text, found.likes, found.partial) == ("Kiln day #clay", None, "page_shell")
        with pytest.raises(OutcomeError) as caught:
            site.parsed("post", site.html(route, **told), id=OTHER)
        assert caught.value.outcome == "challenge"


class TestReplies:
    def test_of_an_account_behind_what_they_answer(self, site):
        thread = [site.post(OTHER, "ana.b"), site.answer(PK, "mira.k", "ana.b")]
        found = site.parsed("replies", {"data": {"mediaData": site.edges(thread, cursor="C1")}}, user="mira.k")
        assert [(item.id, item.reply_to) for item in found.items[:2]] == [(OTHER, None), (PK, OTHER)]
        assert found.items[1].extra["reply_to_author"] == "ana.b"
        assert found.cursor == "C1"

    def test_to_a_post_page_by_page(self, site):
        later = site.edges([site.answer(OTHER)], [site.answer("3912400000000000001", "cleo.d")], cursor="C2")
        found = site.parsed("replies", {"data": {"data": later}}, shortcode=CODE, cursor="C1")
        assert [(item.id, item.reply_to) for item in found.items[:2]] == [(OTHER, PK), ("3912400000000000001", PK)]
        assert (found.cursor, found.items[-1].total) == ("C2", None)
        first = site.parsed("replies", {"data": {"data": site.edges([site.post()], [site.answer(OTHER)])}}, post=PK)
        assert [item.id for item in first.items[:-1]] == [OTHER], "the post itself is none of them"
        assert first.items[-1].total == 3

    def test_none(self, site):
        (page,) = site.parsed("replies", {"data": {"data": site.edges([site.post()])}}, shortcode=CODE).items
        assert page.exhausted is True


def test_likers(site):
    body = {"data": {"likers": {"users": [site.account(), site.user("ana.b", "88")]}}}
    first, second, page = site.parsed("likers", body, shortcode=CODE).items
    assert (first.username, first.followers, second.followers, page.exhausted) == ("mira.k", 1200, None, True)
    with pytest.raises(ContractError):
        site.parsed("likers", {"data": {"likers": None}}, shortcode=CODE)
