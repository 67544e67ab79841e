"""One post: which it is, what it says, what is below it."""

from __future__ import annotations

import html
import json

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.facebook.ids import node_id


def permalink(site, *stories):
    nodes = [site.result("CometSinglePostDialogContentQuery", {"data": {"node": one}}) for one in stories]
    return site.page(*nodes)


def test_a_post(site):
    words = "Glazed by @Ada #raku #2026 and https://x.example/#no"
    ranges = [
        {
            "entity": {
                "__typename": "User",
                "id": "5",
                "profile_url": "https://www.facebook.com/ada.fennel",
                "short_name": "Ada",
            }
        },
        {"entity": {"__typename": "Hashtag", "url": "https://www.facebook.com/hashtag/raku"}},
    ]
    raw = site.story(words=words, media=[site.photo()], counts=site.counts())
    raw["comet_sections"]["content"]["story"]["message"]["ranges"] = ranges
    (post,) = site.items("post", permalink(site, raw), id=site.post)
    assert (post.id, post.type, post.text) == (site.post, "image", words)
    assert (post.likes, post.comments_count, post.shares, post.views) == (5, 2, 1, None)
    assert (post.hashtags, post.mentions) == (["raku"], ["ada.fennel"])
    assert post.created_at == "2026-05-28T20:26:40Z"
    (media,) = post.media
    assert (media.type, media.width, media.alt) == ("image", 900, "May be an image of a bowl")
    assert post.alt_ids[0].startswith("pfbid0")


def test_counts_of_comments_and_shared_posts_are_not_its_own(site):
    shared = site.story("8100000000000999", "Somebody else's", counts=site.counts(900, 90, 9))
    raw = site.story(words=None, attached_story=shared)
    context = raw["comet_sections"]["feedback"]["story"]["story_ufi_container"]["story"]["feedback_context"]
    comment = {
        "id": node_id(f"comment:{site.post}_77"),
        "body": {"text": "Mine!"},
        "created_time": 1_780_000_100,
        "author": site.actor("5", "Ada", "ada.fennel"),
        "feedback": {"id": node_id(f"feedback:{site.post}_77"), "reactors": {"count": 3}},
    }
    context["interesting_top_level_comments"] = [{"comment": comment}, {"comment": comment}]
    post, said = site.items("post", permalink(site, raw), id=site.post)
    assert (post.text, post.likes, post.comments_count, post.shares) == (None, None, None, None)
    assert (post.reposted.id, post.reposted.text) == ("8100000000000999", "Somebody else's")
    assert (said.id, said.post_id, said.text, said.likes, said.author.username) == (
        "77",
        site.post,
        "Mine!",
        3,
        "ada.fennel",
    )


def test_hidden_counts_stay_none(site):
    raw = site.story(counts={"reaction_count": None, "i18n_reaction_count": "***", "share_count": {"count": None}})
    (post,) = site.items("post", permalink(site, raw))
    assert (post.likes, post.shares, post.comments_count) == (None, None, None)
    raw = site.story(counts={"i18n_reaction_count": "1.1K", "i18n_share_count": "68"})
    (post,) = site.items("post", permalink(site, raw))
    assert (post.likes, post.shares) == (1100, 68)


def test_the_wanted_post_among_others(site):
    others = [site.story(f"81000000000009{n:02d}") for n in range(3)]
    body = permalink(site, others[0], site.story(), *others[1:])
    assert site.items("post", body, id=site.post)[0].id == site.post
    assert site.items("post", body, id=f"pfbid0{site.post}abcDEF")[0].id == site.post
    with pytest.raises(ContractError):
        site.parsed("post", body, id="8100000000000555")
    with pytest.raises(ContractError):
        site.parsed("post", body, id="pfbid0doesnotfitatall")
    # names that begin with pfbid differ from page to page: alone, the post is the one that was asked for
    assert site.items("post", permalink(site, site.story()), id="pfbid0doesnotfitatall")[0].id == site.post


@pytest.mark.parametrize(
    ("media", "form"),
    [
        ([], "text"),
        (["photo"], "image"),
        (["photo", "photo"], "carousel"),
        (["video"], "video"),
        (["reel"], "reel"),
    ],
)
def test_forms(site, media, form):
    made = {
        "photo": site.photo(),
        "video": {"__typename": "Video", "id": "9", "playable_url": "https://video.example/9.mp4"},
        "reel": {"__typename": "Video", "id": "9", "permalink_url": "https://www.facebook.com/reel/9/"},
    }
    raw = site.story(media=[made[name] for name in media])
    assert site.items("post", permalink(site, raw))[0].type == form


def test_albums_and_links(site):
    album = {
        "styles": {
            "attachment": {
                "media": site.photo("1"),
                "all_subattachments": {
                    "nodes": [{"media": site.photo("86000001")}, {"media": site.photo("86000002")}, {"media": None}]
                },
            }
        }
    }
    raw = site.story(attachments=[album])
    (post,) = site.items("post", permalink(site, raw))
    assert (post.type, len(post.media)) == ("carousel", 2)
    linked = {
        "styles": {
            "attachment": {
                "title_with_entities": {"text": "Kilns"},
                "story_attachment_link_renderer": {
                    "attachment": {
                        "web_link": {"url": "https://l.facebook.com/l.php?u=https%3A%2F%2Fkilns.example%2F&h=1"}
                    }
                },
            }
        }
    }
    (post,) = site.items("post", permalink(site, site.story(attachments=[linked])))
    assert (post.type, post.links[0].url, post.links[0].title) == ("link", "https://kilns.example/", "Kilns")


def test_a_posts_page_of_the_mobile_site(site):
    told = {
        "@type": "SocialMediaPosting",
        "identifier": f"{site.owner};{site.post};;9",
        "dateCreated": "2020-05-20T11:40:00-0700",
        "articleBody": "Two bowls left",
        "commentCount": 149,
        "interactionStatistic": [
            {"interactionType": "http://schema.org/LikeAction", "userInteractionCount": 2117},
            {"interactionType": "https://schema.org/CommentAction", "userInteractionCount": 149},
            {"interactionType": "http://schema.org/ShareAction", "userInteractionCount": 281},
            {"interactionType": "http://schema.org/FollowAction", "userInteractionCount": 5},
        ],
        "author": {
            "name": "Fern and Flint",
            "identifier": int(site.owner),
            "url": "https://www.facebook.com/fernandflint/",
        },
        "comment": [
            None,
            {
                "@type": "Comment",
                "identifier": f"{site.post}_77",
                "dateCreated": "2020-05-21T11:40:00-0700",
                "text": "Mine!",
                "author": {"name": "Ada", "url": "https://www.facebook.com/ada.fennel"},
            },
        ],
    }
    linked = f'<script type="application/ld+json">{json.dumps(told)}</script>'
    for body in (site.page(linked), site.page(linked, site.article(tag="div", likes=""))):
        post, said = site.items("post", body, id=site.post)
        assert (post.text, post.likes, post.comments_count in (12, 149), post.shares) == (
            "Two bowls left",
            2117,
            True,
            281,
        )
        assert (post.created_at, post.author.id, post.author.name) == (
            "2020-05-20T18:40:00Z",
            site.owner,
            "Fern and Flint",
        )
        assert (said.id, said.post_id, said.author.username, said.created_at) == (
            "77",
            site.post,
            "ada.fennel",
            "2020-05-21T18:40:00Z",
        )
    with pytest.raises(ContractError):
        site.parsed("post", site.page(linked), id="8100000000000555")


def stage(number, *, owner="100000000000701", time=1_590_000_000, story="8100000000000701"):
    store = (
        html.escape(json.dumps({"object_id": int(number)}, separators=(",", ":")))
        .replace("{", "&#123;")
        .replace("}", "&#125;")
    )
    return f"""<div class="a" data-store="{store}" id="u" data-sigil="photo-stage marea">
    <i class="img" aria-label="A bowl"></i>
    <div data-full-size-href="https://scontent.example/{number}.jpg?a=1&amp;b=2"></div>
    <a href="/photo.php?fbid=1&amp;id={owner}&amp;set=pcb.{story}">next</a></div><code><!--
    <a class="actor-link" href="/fernandflint/?x">
    <strong class="actor">Fern and Flint</strong></a><div id="voice_replace_id" class=""><p>Blue &amp; green</p></div>
    <abbr data-store="&#123;&quot;time&quot;:{time},&quot;short&quot;:false&#125;">Today</abbr> --></code>
    <script>["{number}",{{ft_ent_identifier:{number},comment_count:4,share_count:2,reduced:"4",like_count:58}}]</script>"""


@pytest.mark.parametrize("operation", ["photo", "post"])
def test_a_photos_page_of_the_mobile_site(site, operation):
    (post,) = site.items(operation, site.page(stage("8600000000000701")), id="8600000000000701")
    assert (post.id, post.alt_ids, post.type, post.text) == ("8600000000000701", [site.post], "image", "Blue & green")
    assert (post.likes, post.comments_count, post.shares) == (58, 4, 2)
    assert (post.author.id, post.author.username) == (site.owner, "fernandflint")
    assert post.media[0].url == "https://scontent.example/8600000000000701.jpg?a=1&b=2"
    with pytest.raises(ContractError):
        site.parsed(operation, site.page(stage("8600000000000701")), id="555555")
