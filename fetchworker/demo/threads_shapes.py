"""The invented people in the JSON shapes of Threads (2026), one function per shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.demo import shapes
from fetchworker.demo.paging import Json, connection
from fetchworker.demo.people import shortcode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fetchworker.demo.people import Comment, Person, Post, World

PAGE_SIZE = 11
REPLIES_SIZE = 10
#: how many posts of an account a guest sees
GUEST_LIMIT = 25
_ACCOUNT_REPLIES = 14
_MEDIA_TYPES = {"image": 1, "video": 2, "reel": 2, "carousel": 8}
_QUOTING = 5


def user(person: Person) -> Json:
    """An account as it stands beside posts and in lists."""
    return {
        "pk": person.pk, "id": person.pk, "username": person.username, "full_name": person.name,
        "profile_pic_url": shapes.avatar(person), "is_verified": person.verified, "follower_count": person.followers,
        "text_post_app_is_private": person.private,
    }  # fmt: skip


def account(person: Person) -> Json:
    """An account with all that its page tells."""
    links = [{"url": person.external_url, "title": "Website"}] if person.external_url else []
    return user(person) | {
        "biography": person.biography, "bio_links": links, "is_private": person.private,
        "hd_profile_pic_versions": [{"url": shapes.avatar(person, 320), "width": 320, "height": 320}],
    }  # fmt: skip


def post(person: Person, post: Post, quoted: Json | None = None) -> Json:
    """A post of an account; pictures are those of its twin on instagram, every third post is words alone."""
    facts = shapes.item(person, post)
    words = int(post.pk) % 3 == 0
    info = _info(len(post.comments), quoted)
    return {
        "pk": post.pk, "id": f"{post.pk}_{person.pk}", "code": post.shortcode, "user": _writer(person),
        "caption": {"text": post.caption} if post.caption is not None else None, "taken_at": post.taken_at,
        "like_count": post.likes if post.likes is not None else 0,
        "like_and_view_counts_disabled": post.likes is None,
        "media_type": 19 if words else _MEDIA_TYPES[post.kind], "text_post_app_info": info,
        "original_width": post.width, "original_height": post.height,
        "image_versions2": {"candidates": []} if words else facts["image_versions2"],
        "video_versions": None if words else facts.get("video_versions"),
        "carousel_media": None if words else facts.get("carousel_media"),
    }  # fmt: skip


def answer(writer: Mapping[str, str], number: int, text: str, to: str, *, taken_at: int, likes: int = 0) -> Json:
    """A reply: a post of words that says whom it answers."""
    info = {**_info(0, None), "is_reply": True, "reply_to_author": {"username": to, "id": None}}
    return {
        "pk": str(number), "id": f"{number}_{writer['pk']}", "code": shortcode(number), "user": dict(writer),
        "caption": {"text": text}, "taken_at": taken_at, "like_count": likes, "media_type": 19,
        "like_and_view_counts_disabled": False, "text_post_app_info": info, "image_versions2": {"candidates": []},
        "video_versions": None, "carousel_media": None, "original_width": 612, "original_height": 612,
    }  # fmt: skip


def posts(person: Person, after: str | None) -> Json:
    """A page of an account's posts; some quote the one before."""
    shown = list(enumerate(person.posts[:GUEST_LIMIT]))

    def node(entry: tuple[int, Post]) -> Json:
        place, one = entry
        quoted = post(person, person.posts[place + 1]) if place % _QUOTING == 1 else None
        return _thread(post(person, one, quoted))

    return connection(shown, node, f"threads-{person.pk}", after, PAGE_SIZE)


def replies(person: Person, world: World, after: str | None) -> Json:
    """A page of an account's replies, each behind the post that it answers."""
    others = [(other, one) for other in world.people.values() if other is not person for one in other.posts[:3]]
    answered = [(other, one) for other, one in others if not other.private][:_ACCOUNT_REPLIES]

    def node(entry: tuple[Person, Post]) -> Json:
        other, one = entry
        own = answer(_writer(person), int(one.pk) + 1, "Well said, invented neighbour", other.username,
                     taken_at=one.taken_at + 60)  # fmt: skip
        return _thread(post(other, one), own)

    return connection(answered, node, f"replies-{person.pk}", after, PAGE_SIZE)


def permalink(person: Person, one: Post, after: str | None) -> Json:
    """A post and a page of the replies to it; the post itself is the first of the first page."""
    found = connection(one.comments, lambda c: _thread(_reply(c, person)), f"post-{one.pk}", after, REPLIES_SIZE)
    if not after:
        found["edges"] = [{"node": _thread(post(person, one))}, *found["edges"]]
    return found


def _reply(comment: Comment, person: Person) -> Json:
    writer = {"pk": comment.author_pk, "username": comment.author}
    return answer(writer, int(comment.pk), comment.text, person.username, taken_at=comment.created_at,
                  likes=comment.likes)  # fmt: skip


def _writer(person: Person) -> Json:
    return {"pk": person.pk, "id": person.pk, "username": person.username, "is_verified": person.verified}


def _info(replies_count: int, quoted: Json | None) -> Json:
    return {
        "direct_reply_count": replies_count, "repost_count": 0, "quote_count": None, "reshare_count": 1,
        "share_info": {"quoted_post": quoted, "reposted_post": None}, "reply_to_author": None, "is_reply": False,
        "link_preview_attachment": None, "is_post_unavailable": False,
    }  # fmt: skip


def _thread(*found: Json) -> Json:
    items: Sequence[Json] = [{"post": one} for one in found]
    return {"__typename": "XDTThread", "thread_items": items, "id": found[0]["pk"]}
