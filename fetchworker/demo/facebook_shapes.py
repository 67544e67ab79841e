"""What the demo's Facebook knows, invented, and the forms in which Comet pages and answers say it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

HOME = "https://www.facebook.com"
_CDN = "https://scontent.example"
#: 2026-09-21; each post is a day older than the one before
_NEWEST, _DAY = 1_790_000_000, 86_400
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Account:
    """A page or a person."""

    number: str
    vanity: str | None
    name: str
    likes: int
    followers: str
    about: str

    @property
    def url(self) -> str:
        """Its address."""
        return f"{HOME}/{self.vanity}" if self.vanity else f"{HOME}/people/{self.name.replace(' ', '-')}/{self.number}/"


MOSS = Account("100000000000101", "mossandmortar", "Moss and Mortar", 1_204, "1.3K", "A small pottery by the canal.")
ADA = Account("100000000000102", None, "Ada Fennel", 61, "61", "Throws bowls.")
ACCOUNTS = {account.vanity or account.number: account for account in (MOSS, ADA)}
BY_NUMBER = {account.number: account for account in (MOSS, ADA)}
GROUP, GROUP_NAME, GROUP_VANITY = "8500000000000100", "Kiln Friends", "kilnfriends"
EVENT, VIDEO, REEL = "8300000000000101", "8400000000000101", "8400000000000102"
DELEGATE = "8200000000000101"


@dataclass(frozen=True, slots=True)
class Post:
    """A post; the picture's number goes with the post's."""

    number: str
    account: Account
    text: str | None
    created: int
    reactions: int
    comments: int

    @property
    def photo(self) -> str | None:
        """The number of its picture; every third post has none."""
        return f"86{self.number[2:]}" if int(self.number) % 3 else None


def _posts(account: Account, first: int, count: int) -> tuple[Post, ...]:
    return tuple(
        Post(
            f"81{first + n:014d}",
            account,
            f"Firing {count - n} came out of the kiln today. #pottery" if n % 4 != 3 else None,  # noqa: PLR2004
            _NEWEST - n * _DAY,
            7 * (n + 1),
            n,
        )
        for n in range(count)
    )


TIMELINES = {MOSS.number: _posts(MOSS, 101, 9), ADA.number: _posts(ADA, 201, 1)}
FEED = _posts(ADA, 301, 6)
POSTS = {post.number: post for posts in (*TIMELINES.values(), FEED) for post in posts}
PHOTOS = {post.photo: post for post in POSTS.values() if post.photo}


def node_id(text: str) -> str:
    """A node's id."""
    return base64.b64encode(text.encode()).decode()


def actor(account: Account) -> Json:
    """Who wrote something."""
    return {"__typename": "User", "id": account.number, "name": account.name, "url": account.url}


def story(post: Post, *, group: bool = False) -> Json:
    """A post as a feed draws it."""
    where = f"{HOME}/groups/{GROUP}/posts/{post.number}/" if group else f"{post.account.url}/posts/{post.number}"
    message = {"text": post.text, "ranges": []} if post.text else None
    attachments = [{"styles": {"attachment": {"media": photo(post)}}}] if post.photo else []
    content: Json = {"message": message, "actors": [actor(post.account)], "attachments": attachments, "wwwURL": where}
    if group:
        content["target_group"] = {"id": GROUP}
    shuffled = {"ghl_label": {"tag": "span", "children": [{"text": letter} for letter in "yrtseayd"]}}
    metadata = [{"story": {"creation_time": post.created, "url": where, **shuffled}}]
    return {
        "__typename": "Story", "__isFeedUnit": "Story", "post_id": post.number,
        "id": node_id(f"S:_I{post.account.number}:{post.number}:{post.number}"),
        "feedback": {"id": node_id(f"feedback:{post.number}")},
        "comet_sections": {
            "content": {"story": content},
            "context_layout": {"story": {"comet_sections": {"metadata": metadata}}},
            "feedback": {"story": {"story_ufi_container": {"story": {"feedback_context": _feedback_context(post)}}}},
        },
    }  # fmt: skip


def _feedback_context(post: Post) -> Json:
    feedback = {
        "id": node_id(f"feedback:{post.number}"), "reaction_count": {"count": post.reactions},
        "share_count": {"count": 2}, "comment_rendering_instance": {"comments": {"total_count": post.comments}},
        "top_reactions": {"edges": [{"reaction_count": post.reactions, "node": {"localized_name": "Like"}}]},
    }  # fmt: skip
    comments = [{"comment": comment(post, n)} for n in range(min(post.comments, 2))]
    target = {"comet_ufi_summary_and_actions_renderer": {"feedback": feedback}}
    return {"feedback_target_with_context": target, "interesting_top_level_comments": comments}


def comment(post: Post, number: int) -> Json:
    """A comment below a post."""
    name = node_id(f"comment:{post.number}_{9_000 + number}")
    likes = {"id": node_id(f"feedback:{post.number}_{9_000 + number}"), "reactors": {"count": number}}
    return {"id": name, "body": {"text": f"Lovely glaze, number {number}"}, "created_time": post.created + 600 + number,
            "author": actor(ADA), "feedback": likes}  # fmt: skip


def photo(post: Post) -> Json:
    """A picture, as an attachment and in the viewer."""
    return {
        "__typename": "Photo", "id": post.photo, "accessibility_caption": "May be an image of pottery",
        "viewer_image": {"uri": f"{_CDN}/{post.photo}_n.jpg", "width": 1440, "height": 1080},
        "url": f"{HOME}/photo/?fbid={post.photo}",
    }  # fmt: skip


def viewed(post: Post) -> Json:
    """What the photo viewer's query gives."""
    beside = {"created_time": post.created, "owner": actor(post.account), "container_story": story(post)}
    return {"currMedia": {**photo(post), **beside}}


def film(number: str) -> Json:
    """What the pages of videos and reels give."""
    playing = {
        "__typename": "Video", "id": number, "playable_duration_in_ms": 21_500, "width": 1080, "height": 1920,
        "browser_native_hd_url": f"{_CDN}/{number}.mp4",
        "preferred_thumbnail": {"image": {"uri": f"{_CDN}/{number}.jpg"}},
    }  # fmt: skip
    told = {"name": "A kiln is opened", "publish_time": _NEWEST, "savable_description": {"text": "Slow, with sound."}}
    if number == REEL:
        context = {"playback_video": {**playing, "permalink_url": f"{HOME}/reel/{number}/"}, "video_owner": actor(MOSS)}
        return {"video": {"id": number, "creation_story": {"short_form_video_context": context}, **told}}
    return {"video": {**playing, **told, "owner": actor(MOSS), "permalink_url": f"{HOME}/watch/?v={number}"}}


def header(account: Account) -> Json:
    """The account's header."""
    social = [
        {"text": {"text": f"{account.likes / 1000:.1f}K likes" if account.likes > 999 else f"{account.likes} likes"},  # noqa: PLR2004
         "uri": f"{HOME}/profile.php?id={account.number}&sk=friends_likes"},
        {"text": {"text": f"{account.followers} followers"},
         "uri": f"{HOME}/profile.php?id={account.number}&sk=followers"},
    ]  # fmt: skip
    user = {
        **actor(account), "is_verified": account is MOSS, "profile_social_context": {"content": social},
        "delegate_page": {"id": DELEGATE} if account is MOSS else None,
        "profilePicLarge": {"uri": f"{_CDN}/{account.number}.jpg"},
    }  # fmt: skip
    return {"user": {"id": account.number, "profile_header_renderer": {"user": user}}}


def introduction(account: Account) -> Json:
    """The account's introduction, contact data included."""
    lines = [
        ("INTRO_CARD_INFLUENCER_CATEGORY", "Page · Pottery"), ("INTRO_CARD_ADDRESS", "1 Canal Row, Example Town"),
        ("INTRO_CARD_PROFILE_PHONE", "+1 555 0100"), ("INTRO_CARD_PROFILE_EMAIL", "hello@pottery.example"),
        ("INTRO_CARD_WEBSITE", "pottery.example"), ("INTRO_CARD_RATING", "Rating · 4.8 (52 Reviews)"),
    ]  # fmt: skip
    items: list[Json] = [{"node": {"profile_status_text": {"text": account.about}}}]
    for kind, words in lines if account is MOSS else ():
        url = f"https://l.facebook.com/l.php?u=https%3A%2F%2F{words}%2F&h=x" if kind.endswith("WEBSITE") else None
        shown = {"title": {"text": words, "ranges": []}, "url": url}
        line = {"timeline_context_list_item_type": kind, "renderer": {"context_item": shown}}
        items.append({"node": {"timeline_context_item": line}})
    view = {"view_style_renderer": {"view": {"profile_tile_items": {"nodes": items}}}}
    sections = {"edges": [{"node": {"profile_tile_views": {"nodes": [view]}}}]}
    return {"user": {"id": account.number, "profile_tile_sections": sections}}


def group() -> Json:
    """The group's header."""
    inner = {
        "__typename": "Group", "id": GROUP, "name": GROUP_NAME, "url": f"{HOME}/groups/{GROUP_VANITY}/",
        "group_member_profiles": {"formatted_count_text": "1,482 members"},
        "privacy_info": {"label": {"text": "Public"}},
        "description_with_entities": {"text": "For those who wait for kilns to cool."},
    }  # fmt: skip
    return {"group": {"id": GROUP, "profile_header_renderer": {"group": inner}}}


def event_header() -> Json:
    """What an event's header tells."""
    return {"event": {
        "id": EVENT, "name": "Open kiln", "day_time_sentence": "Saturday, October 3, 2026 at 2:00 PM BST",
        "start_timestamp": 1_791_032_400, "is_past": False, "is_online": False, "is_canceled": False,
        "event_place": {"id": "8200000000000109", "name": "The canal shed"}, "url": f"{HOME}/events/{EVENT}/",
        "comet_neighboring_siblings": [{"__typename": "Event", "id": "8300000000000999", "name": "Somebody else's"}],
    }}  # fmt: skip


def event_about() -> Json:
    """What an event's body tells."""
    counts = {"event_connected_users_going": {"count": 12}, "event_connected_users_interested": {"count": 40}}
    return {"event": {
        "id": EVENT, "event_description": {"text": "Come and see what survived."}, "event_creator": actor(MOSS),
        "event_hosts_that_can_view_guestlist": [actor(MOSS), actor(ADA)],
        "can_view_friends_card": {"event": {"id": EVENT, **counts}},
    }}  # fmt: skip


def event_list() -> Json:
    """The events that a page lists."""
    one: Json = {"__typename": "Event", **event_header()["event"], "event_creator": actor(MOSS)}
    one.pop("start_timestamp")
    edge = {"node": {"node": one, "actions_renderer": {"event": {"id": EVENT, "start_timestamp": 1_791_032_400}}}}
    items = {"edges": [edge], "page_info": {"has_next_page": False, "end_cursor": None}}
    return {"user": {"id": MOSS.number, "collection": {"items": {"count": 1}, "pageItems": items}}}
