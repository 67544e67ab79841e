"""Photos, videos and reels."""

from __future__ import annotations

import json

import pytest

from fetchworker.errors import ContractError


def answer(data):
    return json.dumps({"data": data})


def film(number="8400000000000701", **more):
    return {
        "__typename": "Video",
        "id": number,
        "playable_duration_in_ms": 21_500,
        "width": 1080,
        "height": 1920,
        "playable_url": "https://video.example/sd.mp4",
        "playable_url_quality_hd": "https://video.example/hd.mp4",
        **more,
    }


def test_a_photo_in_the_viewer(site):
    raw = site.photo(created_time=1_780_000_000, owner=site.actor(), container_story=site.story(counts=site.counts()))
    for body in (
        answer({"currMedia": raw}),
        site.page(site.result("CometPhotoRootContentQuery", {"data": {"currMedia": raw}})),
    ):
        (post,) = site.items("photo", body, id=raw["id"])
        assert (post.id, post.alt_ids, post.type, post.text) == (raw["id"], [site.post], "image", "Two bowls left")
        assert (post.created_at, post.likes, post.author.username) == ("2026-05-28T20:26:40Z", 5, "fernandflint")
        assert post.url == f"https://www.facebook.com/photo/?fbid={raw['id']}"


def test_counts_of_the_album_are_not_the_photos(site):
    raw = site.photo(
        feedback={"id": "own", "reaction_count": {"count": 1}}, container_story=site.story(counts=site.counts(900))
    )
    (post,) = site.items("photo", answer({"currMedia": raw}))
    assert (post.likes, post.shares) == (1, None)


def test_a_video(site):
    raw = film(
        name="A kiln",
        publish_time=1_780_000_000,
        savable_description={"text": "Slow"},
        owner=site.actor(),
        preferred_thumbnail={"image": {"uri": "https://scontent.example/t.jpg"}},
        feedback={"id": "x", "reaction_count": {"count": 7}, "total_comment_count": 3, "video_view_count": 99},
    )
    (post,) = site.items("video", answer({"video": raw}), id=raw["id"])
    assert (post.id, post.type, post.title, post.text) == (raw["id"], "video", "A kiln", "Slow")
    assert (post.likes, post.comments_count, post.views) == (7, 3, 99)
    assert (post.media[0].url, post.media[0].duration, post.media[0].width) == (
        "https://video.example/hd.mp4",
        21.5,
        1080,
    )
    assert post.extra == {"thumbnail_url": "https://scontent.example/t.jpg"}


def test_a_reel(site):
    context = {"playback_video": film(), "video_owner": site.actor()}
    story = {**site.story(words="Reel words", counts=site.counts()), "short_form_video_context": context}
    (post,) = site.items(
        "video", answer({"video": {"id": "8400000000000701", "creation_story": story}}), id="8400000000000701"
    )
    assert (post.type, post.text, post.author.username, post.likes) == ("reel", "Reel words", "fernandflint", 5)
    assert post.media[0].url == "https://video.example/hd.mp4"
    assert post.url == "https://www.facebook.com/reel/8400000000000701"


@pytest.mark.parametrize(
    "fields",
    [
        {"videoDeliveryLegacyFields": {"browser_native_hd_url": "https://video.example/f.mp4"}},
        {"browser_native_sd_url": "https://video.example/f.mp4"},
        {
            "videoDeliveryResponseFragment": {
                "videoDeliveryResponseResult": {
                    "progressive_urls": [
                        {"progressive_url": "https://video.example/sd.mp4", "metadata": {"quality": "SD"}},
                        {"progressive_url": "https://video.example/f.mp4", "metadata": {"quality": "HD"}},
                    ]
                }
            }
        },
    ],
)
def test_where_films_keep_their_files(site, fields):
    raw = {"__typename": "Video", "id": "84000", **fields}
    assert site.items("video", answer({"video": raw}))[0].media[0].url == "https://video.example/f.mp4"


def test_a_film_among_suggestions(site):
    body = site.page(site.result("Watch", {"data": {"feed": [film("84001"), film("84002"), film("84003")]}}))
    assert site.items("video", body, id="84002")[0].id == "84002"
    with pytest.raises(ContractError):
        site.parsed("video", body, id="84009")


def test_a_videos_page_of_the_mobile_site(site):
    told = {
        "@type": "VideoObject",
        "name": "A kiln | Facebook",
        "description": "Slow",
        "duration": "T1H3M58S",
        "uploadDate": "2021-06-04T08:00:35-07:00",
        "contentUrl": "https://video.example/v.mp4",
        "width": 1920,
        "interactionStatistic": [
            {"interactionType": {"@type": "http://schema.org/WatchAction"}, "userInteractionCount": 18900}
        ],
    }
    around = {
        "@type": "SocialMediaPosting",
        "identifier": "84005:9:0",
        "author": {"name": "Fern and Flint", "identifier": 7},
        "commentCount": 4,
        "comment": [{"identifier": "8100000000000701_9", "text": "x", "author": {"name": "Ada"}}],
    }
    escaped = [json.dumps(one).replace("@", "\\u0040") for one in (told, around)]
    scripts = [f'<script type="application/ld+json">{one}</script>' for one in escaped]
    head = '<link rel="canonical" href="https://www.facebook.com/fernandflint/videos/a-kiln/8400055/"/>'
    head += '<meta property="og:title" content="A kiln"/>'
    post, said = site.items("video", site.page(*scripts, head=head), id="8400055")
    assert (post.id, post.alt_ids, post.title, post.views, post.comments_count) == (
        "8400055",
        [site.post],
        "A kiln",
        18900,
        4,
    )
    assert (post.media[0].duration, post.created_at, post.author.name) == (
        3838.0,
        "2021-06-04T15:00:35Z",
        "Fern and Flint",
    )
    assert said.post_id == site.post


@pytest.mark.parametrize("operation", ["photo", "video"])
@pytest.mark.parametrize(
    "body", ["<html></html>", '{"data":{"currMedia":null}}', '{"data":{"video":null}}', '{"data":{"video":{}}}']
)
def test_nothing_to_see(site, operation, body):
    with pytest.raises(ContractError):
        site.parsed(operation, body)
