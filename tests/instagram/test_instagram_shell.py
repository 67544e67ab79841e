from __future__ import annotations

import pytest

from fetchworker.errors import ContractError

COUNTS = "11.5K Followers, 1,036 Following, 224 Posts"


def profile_page(site, **more):
    values = {
        "og_colon_title": "Mira K (@mira.k) • Instagram photos and videos",
        "og_colon_description": f"{COUNTS} - See Instagram photos and videos from Mira K (@mira.k)",
        "og_colon_url": "https://www.instagram.com/mira.k/",
        "og_colon_image": "https://cdn.example/100.jpg",
        "description": f'{COUNTS} - Mira K (@mira.k) on Instagram: "Potter\nin "Riga""',
    }
    return site.meta(**{**values, **more}) + '<script>{"props":{"profile_id": "7700000001"}}</script>'


def test_a_profile_out_of_meta_tags(site):
    found = site.parsed("profile", profile_page(site), user="mira.k")
    assert site.kinds(found) == ["profile"]
    profile = found.items[0]
    assert (profile.id, profile.username, profile.name) == ("7700000001", "mira.k", "Mira K")
    assert (profile.followers, profile.following, profile.posts_count) == (11_500, 1036, 224)
    assert profile.biography == 'Potter\nin "Riga"'
    assert (profile.avatar_url, profile.partial) == ("https://cdn.example/100.jpg", "page_shell")
    assert (profile.verified, profile.private) == (None, None)


def test_other_wording_gives_no_counts(site):
    page = profile_page(site, og_colon_description="11 mil seguidores, 3 seguidos, 5 publicaciones")
    assert site.parsed("profile", page).items[0].followers is None


@pytest.mark.parametrize(
    "page",
    [
        {"og_colon_title": "Instagram", "og_colon_description": "Create an account or log in to Instagram"},
        {"og_colon_title": "Login • Instagram", "og_colon_url": "https://www.instagram.com/accounts/login/"},
        {},
    ],
)
def test_a_page_of_nobody_is_a_contract_error(site, page):
    with pytest.raises(ContractError):
        site.parsed("profile", site.meta(**page))


def test_a_profile_shell_of_another(site):
    with pytest.raises(ContractError):
        site.parsed("profile", profile_page(site), user="ana.b")


def test_data_wins_over_meta_tags(site):
    user = {"pk": "77", "username": "mira.k", "follower_count": 11_499, "all_media_count": None}
    page = profile_page(site) + site.relay("ProfileQuery", {"data": {"xig_user_by_username": user}})
    profile = site.parsed("profile", page).items[0]
    assert (profile.followers, profile.posts_count, profile.partial) == (11_499, None, None)


def post_page(site, **more):
    values = {
        "og_colon_title": 'Mira K on Instagram: "New kiln #clay"',
        "og_colon_description": '298K likes, 553 comments - mira.k on September 12, 2026: "New kiln #clay". ',
        "og_colon_url": "https://www.instagram.com/p/DdLBlHchN22/",
        "og_colon_image": "https://cdn.example/640.jpg",
        "al_colon_ios_colon_url": "instagram://media?id=3984285244001148342",
        "twitter_colon_title": "Mira K (@mira.k) • Instagram photo",
    }
    return site.meta(**{**values, **more})


def test_a_post_out_of_meta_tags(site):
    post = site.parsed("post", post_page(site), shortcode="DdLBlHchN22").items[0]
    assert (post.id, post.shortcode, post.type, post.text) == (
        "3984285244001148342",
        "DdLBlHchN22",
        "image",
        "New kiln #clay",
    )
    assert (post.likes, post.comments_count, post.created_at) == (298_000, 553, "2026-09-12T03:30:35Z")
    assert (post.author.username, post.author.name, post.hashtags) == ("mira.k", "Mira K", ["clay"])
    assert (post.media[0].url, post.partial) == ("https://cdn.example/640.jpg", "page_shell")


def test_a_reel_and_an_older_wording(site):
    page = post_page(
        site,
        og_colon_title="Mira K shared a photo on Instagram: “Wheel” • See 3 photos",
        og_colon_description="1.2m Likes, 5,971 Comments - Mira K (@mira.k) on Instagram: “Wheel”",
        og_colon_url="https://www.instagram.com/mira.k/reel/DdLBlHchN22/",
        twitter_colon_title="",
    )
    post = site.parsed("post", page).items[0]
    assert (post.type, post.url) == ("reel", "https://www.instagram.com/reel/DdLBlHchN22/")
    assert (post.likes, post.comments_count, post.text) == (1_200_000, 5971, "Wheel")
    assert (post.author.username, post.author.name) == ("mira.k", "Mira K")


def test_a_post_shell_of_another(site):
    with pytest.raises(ContractError):
        site.parsed("post", post_page(site), shortcode="B7eWEshtO_y")
    with pytest.raises(ContractError):
        site.parsed("post", post_page(site) + site.shared_data("PostPage", None))


EMBED = """<html><body><div class="Embed" data-permalink="https://www.instagram.com/p/DdLBlHchN22/?utm_source=ig_embed"
 data-media-type="GraphVideo" data-media-id="3984285244001148342" data-owner-id="77">
<span class="UsernameText">mira.k</span>
<img class="EmbeddedMediaImage" alt="A pot &amp; a lid" src="https://cdn.example/e.jpg?a=1&amp;b=2" srcset="x 1w">
{likes}<div class="Caption"><a class="CaptionUsername" href="x">mira.k</a>
<br/>Out of the kiln<br/><a href="y">#clay</a>
<div class="CaptionComments"><a>View all 11,691 comments</a></div></div></div>{script}</body></html>"""


def test_an_embed_drawn_as_html(site):
    page = EMBED.format(likes="<a>5,644 likes</a>", script='<script>{"contextJSON":null}</script>')
    post = site.parsed("post", page, id="3984285244001148342").items[0]
    assert (post.id, post.shortcode, post.type) == ("3984285244001148342", "DdLBlHchN22", "video")
    assert (post.likes, post.comments_count, post.views) == (5644, 11_691, None)
    assert post.text == "Out of the kiln\n#clay"
    assert (post.author.id, post.author.username) == ("77", "mira.k")
    assert (post.media[0].url, post.media[0].alt) == ("https://cdn.example/e.jpg?a=1&b=2", "A pot & a lid")
    assert post.partial == "embed"


@pytest.mark.parametrize("quote", ['"', '\\"', '\\\\\\"'])
def test_counts_in_an_embeds_scripts(site, quote):
    told = '{"edge_media_to_comment":{"count":12},"edge_liked_by":{"count":56},"video_view_count":128870}'
    page = EMBED.format(likes="", script=f"<script>x({told.replace(chr(34), quote)}</script>")
    post = site.parsed("post", page).items[0]
    assert (post.likes, post.comments_count, post.views) == (56, 12, 128_870)
