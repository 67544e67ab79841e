"""The invented people in the JSON shapes of the site, one function per shape.

Shapes as recorded in public samples: the logged-out site of 2026 (``xig_…``, ``polaris_…``), the graph form
(``edge_…``, 2018-2026), the app's form (``items``, 2021-2026).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from fetchworker.demo.paging import PAGE_SIZE, Json, connection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.demo.people import Comment, Person, Post

COMMENTS_SIZE = 24
CDN = "scontent.cdninstagram.com"

_TYPENAMES = {"image": "Image", "video": "Video", "reel": "Video", "carousel": "Sidecar"}
_MEDIA_TYPES = {"image": 1, "video": 2, "reel": 2, "carousel": 8}
_PRODUCTS = {"image": "feed", "video": "feed", "reel": "clips", "carousel": "carousel_container"}


def scoped_id(person: Person) -> str:
    """The app-scoped id that the 2026 pages call ``id``."""
    return f"17841{int(person.pk) % 10**12:012d}"


def avatar(person: Person, size: int = 150) -> str:
    """Address of the picture of an account."""
    return f"https://{CDN}/v/avatar/{quote(person.username)}_{size}.png?stp=dst-jpg_s{size}x{size}&_nc_cat=1"


def picture(post: Post, slide: int = 0) -> str:
    """Address of a post's picture."""
    return f"https://{CDN}/v/media/{post.pk}_{slide}.png?stp=dst-jpg_e35&_nc_cat=1"


def film(post: Post) -> str:
    """Address of a post's film."""
    return f"https://{CDN}/v/media/{post.pk}.mp4?_nc_cat=1"


def shown(person: Person) -> Sequence[Post]:
    """The posts that a guest sees."""
    return () if person.private else person.posts


# the logged-out site of 2026


def polaris_user(person: Person) -> Json:
    """The account as ``xig_user_by_username``; the number of posts is not told."""
    return {
        "pk": person.pk, "username": person.username, "profile_pic_url": avatar(person),
        "is_private": person.private, "is_unpublished": False,
        "latest_reel_media": max((post.taken_at for post in person.reels), default=0),
        "biography": person.biography, "full_name": person.name, "is_verified": person.verified, "account_badges": [],
        "bio_links": _bio_links(person), "is_memorialized": False, "pronouns": [],
        "follower_count": person.followers, "following_count": person.following, "all_media_count": None,
        "id": scoped_id(person), "is_coppa_enforced": False, "has_any_clips": bool(person.reels),
    }  # fmt: skip


def _bio_links(person: Person) -> list[Json]:
    if person.external_url is None:
        return []
    return [{"title": "Website", "url": person.external_url, "link_type": "external"}]


def polaris_posts(person: Person, after: str | None = None) -> Json:
    """The account with a page of its posts, as the posts tab has it (without the user name)."""
    return {
        "pk": person.pk, "full_name": person.name, "is_private": person.private,
        "follower_count": person.followers, "following_count": person.following,
        "polaris_ordered_timeline_connection": polaris_timeline(person, after), "id": scoped_id(person),
    }  # fmt: skip


def polaris_timeline(person: Person, after: str | None = None) -> Json:
    """A page of an account's posts."""
    return connection(shown(person), polaris_node, f"polaris-{person.pk}", after)


def polaris_node(post: Post) -> Json:
    """A post in a list: no time (its number holds it), no likes."""
    return {
        "__typename": f"XIGPolaris{_TYPENAMES[post.kind].replace('Sidecar', 'Carousel')}Media", "pk": post.pk,
        "code": post.shortcode, "caption": _caption(post), "display_uri": picture(post),
        "media_type": str(_MEDIA_TYPES[post.kind]), "product_type": _PRODUCTS[post.kind],
        "accessibility_caption": _alt(post),
    }  # fmt: skip


def polaris_reels(person: Person, after: str | None = None) -> Json:
    """The account with a page of its reels."""
    reels = [] if person.private else person.reels
    page = connection(reels, polaris_reel, f"reels-{person.pk}", after)
    return {"pk": person.pk, "username": person.username, "is_private": person.private,
            "polaris_clips_connection": page, "id": scoped_id(person)}  # fmt: skip


def polaris_reel(post: Post) -> Json:
    """A reel in a list, with its plays."""
    return {**polaris_node(post), "play_count": post.views}


def polaris_media(person: Person, post: Post) -> Json:
    """A post as ``xig_polaris_media``; a gated one tells nothing."""
    typename = polaris_node(post)["__typename"]
    if post.gated:
        return {"__typename": typename, "id": post.pk, "if_not_gated_logged_out": None,
                "gating_ruling": {"gating_type": "login_required"}}  # fmt: skip
    return {"__typename": typename, "if_not_gated_logged_out": _polaris_facts(person, post),
            "comments_connection": polaris_comments(post)}  # fmt: skip


def _polaris_facts(person: Person, post: Post) -> Json:
    facts = {
        "pk": post.pk, "code": post.shortcode, "taken_at": post.taken_at, "media_type": _MEDIA_TYPES[post.kind],
        "product_type": _PRODUCTS[post.kind], "like_count": post.likes, "comment_count": len(post.comments),
        "like_and_view_counts_disabled": post.likes is None, "caption": _caption(post),
        "original_width": post.width, "original_height": post.height,
        "user": {"pk": person.pk, "username": person.username, "full_name": person.name,
                 "profile_pic_url": avatar(person), "is_verified": person.verified},
        "image_versions2": _candidates(post, 0),
    }  # fmt: skip
    return facts | _moving(post) | _slides(post) | _place(post)


def polaris_comments(post: Post, after: str | None = None) -> Json:
    """A page of comments."""
    return connection(post.comments, polaris_comment, f"comments-{post.pk}", after, COMMENTS_SIZE)


def polaris_comment(comment: Comment) -> Json:
    """A comment in the form of 2026."""
    return {
        "pk": comment.pk, "text": comment.text, "created_at": comment.created_at,
        "comment_like_count": comment.likes, "child_comment_count": comment.replies,
        "user": {"pk": comment.author_pk, "username": comment.author},
    }  # fmt: skip


# the app's form


def item(person: Person, post: Post) -> Json:
    """A post in the app's form."""
    facts = {
        "pk": post.pk, "id": f"{post.pk}_{person.pk}", "code": post.shortcode, "taken_at": post.taken_at,
        "media_type": _MEDIA_TYPES[post.kind], "product_type": _PRODUCTS[post.kind],
        "like_count": post.likes if post.likes is not None else -1, "like_and_view_counts_disabled": post.likes is None,
        "comment_count": len(post.comments), "caption": _caption(post), "user": app_user(person),
        "original_width": post.width, "original_height": post.height, "accessibility_caption": _alt(post),
        "image_versions2": _candidates(post, 0),
    }  # fmt: skip
    return facts | _moving(post) | _slides(post) | _place(post)


def app_user(person: Person) -> Json:
    """An account as it stands beside posts and in searches."""
    return {
        "pk": person.pk, "username": person.username, "full_name": person.name, "is_private": person.private,
        "is_verified": person.verified, "profile_pic_url": avatar(person),
    }  # fmt: skip


def app_profile(person: Person) -> Json:
    """An account in the app's form, with all its counts."""
    return app_user(person) | {
        "biography": person.biography, "external_url": person.external_url, "follower_count": person.followers,
        "following_count": person.following, "media_count": len(person.posts), "category": person.category,
        "bio_links": _bio_links(person), "hd_profile_pic_url_info": {"url": avatar(person, 320)},
    }  # fmt: skip


def _moving(post: Post) -> Json:
    if post.duration is None:
        return {}
    return {
        "video_versions": [{"type": 101, "url": film(post), "width": post.width, "height": post.height}],
        "video_duration": post.duration, "play_count": post.views, "has_audio": True,
    }  # fmt: skip


def _slides(post: Post) -> Json:
    if post.kind != "carousel":
        return {}
    sizes = {"original_width": post.width, "original_height": post.height, "media_type": 1}
    parts = [{"pk": f"{post.pk}{n}", **sizes, "image_versions2": _candidates(post, n)} for n in range(post.slides)]
    return {"carousel_media_count": post.slides, "carousel_media": parts}


def _candidates(post: Post, slide: int) -> Json:
    full = {"url": picture(post, slide), "width": post.width, "height": post.height}
    small = {"url": f"{picture(post, slide)}&w=320", "width": 320, "height": post.height * 320 // post.width}
    return {"candidates": [full, small]}


def _place(post: Post) -> Json:
    return {"location": {"pk": "1", "name": post.location} if post.location else None}


def _caption(post: Post) -> Json | None:
    return {"text": post.caption} if post.caption is not None else None


def _alt(post: Post) -> str:
    return f"{'Video' if post.duration else 'Photo'} that was never taken"


# the graph form


def graph_user(person: Person) -> Json:
    """The account as ``web_profile_info`` has it, with its first posts."""
    posts = connection(shown(person), lambda post: graph_node(person, post), f"graph-{person.pk}")
    return {
        "biography": person.biography, "bio_links": _bio_links(person), "external_url": person.external_url,
        "edge_followed_by": {"count": person.followers}, "fbid": scoped_id(person),
        "edge_follow": {"count": person.following}, "full_name": person.name, "id": person.pk,
        "is_business_account": person.category is not None, "is_professional_account": person.category is not None,
        "business_email": None, "business_phone_number": None, "category_name": person.category,
        "is_private": person.private, "is_verified": person.verified, "profile_pic_url": avatar(person),
        "profile_pic_url_hd": avatar(person, 320), "username": person.username, "pronouns": [],
        "has_clips": bool(person.reels), "edge_felix_video_timeline": _counted(connection((), polaris_node, "none"), 0),
        "edge_owner_to_timeline_media": _counted(posts, len(person.posts)),
    }  # fmt: skip


def graph_node(person: Person, post: Post) -> Json:
    """A post in a list."""
    likes = {"count": post.likes if post.likes is not None else -1}
    node = {
        "__typename": f"Graph{_TYPENAMES[post.kind]}", "id": post.pk, "shortcode": post.shortcode,
        "dimensions": {"height": post.height, "width": post.width}, "display_url": picture(post),
        "owner": {"id": person.pk, "username": person.username}, "is_video": post.duration is not None,
        "accessibility_caption": _alt(post), "edge_media_to_caption": _caption_edges(post),
        "edge_media_to_comment": {"count": len(post.comments)}, "comments_disabled": False,
        "taken_at_timestamp": post.taken_at, "edge_liked_by": likes, "edge_media_preview_like": likes,
        "location": {"id": "1", "name": post.location} if post.location else None, "thumbnail_src": picture(post),
    }  # fmt: skip
    if post.duration is not None:
        node |= {"video_url": film(post), "video_view_count": post.views, "video_duration": post.duration,
                 "product_type": _PRODUCTS[post.kind]}  # fmt: skip
    if post.kind == "carousel":
        node["edge_sidecar_to_children"] = {"edges": [{"node": _child(post, n)} for n in range(post.slides)]}
    return node


def graph_media(person: Person, post: Post) -> Json:
    """A post as ``xdt_shortcode_media``, with its first comments."""
    node = graph_node(person, post)
    node["__isXDTGraphMediaInterface"] = f"XDT{node['__typename']}"
    node["__typename"] = f"XDT{node['__typename']}"
    node["like_and_view_counts_disabled"] = post.likes is None
    owner = {"is_verified": person.verified, "full_name": person.name, "profile_pic_url": avatar(person)}
    node["owner"] |= owner | {"edge_followed_by": {"count": person.followers}}
    node["edge_media_to_parent_comment"] = graph_comments(post)
    del node["edge_media_to_comment"]
    return node


def graph_comments(post: Post, after: str | None = None) -> Json:
    """A page of comments; its cursor is a JSON text, to be passed back word for word."""
    inner = json.loads(after)["server_cursor"] if after else None
    page = connection(post.comments, graph_comment, f"graph-comments-{post.pk}", inner, PAGE_SIZE)
    end = page["page_info"]["end_cursor"]
    page["page_info"]["end_cursor"] = json.dumps({"server_cursor": end}) if end else None
    return _counted(page, len(post.comments))


def graph_comment(comment: Comment) -> Json:
    """A comment in the graph form."""
    replies = {"count": comment.replies, "page_info": {"has_next_page": False, "end_cursor": None}, "edges": []}
    return {
        "id": comment.pk, "text": comment.text, "created_at": comment.created_at,
        "owner": {"id": comment.author_pk, "username": comment.author},
        "edge_liked_by": {"count": comment.likes}, "edge_threaded_comments": replies,
    }  # fmt: skip


def _counted(page: Json, total: int) -> Json:
    return {"count": total, **page}


def _caption_edges(post: Post) -> Json:
    return {"edges": [{"node": {"text": post.caption}}] if post.caption is not None else []}


def _child(post: Post, slide: int) -> Json:
    return {
        "__typename": "GraphImage", "id": f"{post.pk}{slide}", "display_url": picture(post, slide),
        "dimensions": {"height": post.height, "width": post.width}, "is_video": False,
    }  # fmt: skip


# searches


def topsearch(found: Sequence[Person]) -> Json:
    """Accounts that a search found."""
    users = [{"position": n, "user": app_user(person)} for n, person in enumerate(found)]
    return {
        "see_more": None,
        "inform_module": None,
        "hashtags": [],
        "places": [],
        "users": users,
        "rank_token": "0|demo",
    }
