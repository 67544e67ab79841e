"""People, what they publish, and pages of links."""

from __future__ import annotations

from typing import Literal

from fetchworker.items.base import Count, Date, Item, Link, Media, Part, Time


class Author(Part):
    """Who wrote a post or a comment."""

    id: str | None = None
    username: str | None = None
    name: str | None = None


class PageLink(Part):
    """A link of a link page, or one of its headings (``type`` says which, ``url`` is missing then).

    ``position`` is the site's own; ``parent`` is the id of the group it stands in.
    """

    id: str | None = None
    title: str | None = None
    url: str | None = None
    type: str | None = None
    position: Count | None = None
    locked: bool | None = None
    image_url: str | None = None
    parent: str | None = None


class SocialLink(Part):
    """An account elsewhere."""

    platform: str | None = None
    url: str | None = None


class Profile(Item):
    """A person, a page or a channel; ``alt_ids`` are further ids that the site uses for the same one.

    A seller has ``rating`` (see :class:`Seller`), ``feedback_count`` and ``sold_count`` besides. ``summary`` is the
    line that the site gives for previews of the page, in its words; counts in it may be exact where the page rounds.
    """

    kind: Literal["profile"] = "profile"
    id: str | None = None
    alt_ids: list[str] = []
    username: str | None = None
    name: str | None = None
    biography: str | None = None
    summary: str | None = None
    avatar_url: str | None = None
    followers: Count | None = None
    following: Count | None = None
    posts_count: Count | None = None
    likes_count: Count | None = None
    verified: bool | None = None
    private: bool | None = None
    business: bool | None = None
    category: str | None = None
    external_url: str | None = None
    links: list[Link] = []
    location: str | None = None
    rating: float | None = None
    feedback_count: Count | None = None
    sold_count: Count | None = None


class PostRef(Part):
    """Another post that a post shows."""

    id: str | None = None
    shortcode: str | None = None
    url: str | None = None
    text: str | None = None
    author: Author | None = None


class Post(Item):
    """A publication of any form; ``alt_ids`` are further ids that the site uses for the same one.

    ``title`` is what films and articles have beside their text. ``quoted`` is a post that it comments on, ``reposted``
    one that it passes on, ``links`` are the pages that it shows a preview of.
    """

    kind: Literal["post"] = "post"
    id: str | None = None
    alt_ids: list[str] = []
    shortcode: str | None = None
    type: Literal["image", "video", "carousel", "reel", "text", "link", "job", "article"] | None = None
    title: str | None = None
    text: str | None = None
    created_at: Time | None = None
    likes: Count | None = None
    comments_count: Count | None = None
    shares: Count | None = None
    views: Count | None = None
    media: list[Media] = []
    author: Author | None = None
    hashtags: list[str] = []
    mentions: list[str] = []
    location: str | None = None
    reply_to: str | None = None
    quoted: PostRef | None = None
    reposted: PostRef | None = None
    links: list[Link] = []


class Comment(Item):
    """A comment on a post, or a reply to one."""

    kind: Literal["comment"] = "comment"
    id: str | None = None
    post_id: str | None = None
    text: str | None = None
    created_at: Time | None = None
    likes: Count | None = None
    replies_count: Count | None = None
    author: Author | None = None
    reply_to: str | None = None


class LinkPage(Item):
    """A page of links; ``sensitive``: the site asks the visitor before it shows it."""

    kind: Literal["link_page"] = "link_page"
    id: str | None = None
    username: str | None = None
    title: str | None = None
    description: str | None = None
    avatar_url: str | None = None
    verified: bool | None = None
    sensitive: bool | None = None
    links: list[PageLink] = []
    social_links: list[SocialLink] = []


class Place(Part):
    """Where an event takes place."""

    id: str | None = None
    name: str | None = None
    address: str | None = None


class Host(Part):
    """Who holds an event."""

    id: str | None = None
    name: str | None = None
    url: str | None = None


class Event(Item):
    """Something that takes place; ``start`` and ``end`` are the day alone where the site tells no time.

    ``timezone`` is an IANA name or the site's own word for it; ``going`` and ``interested`` count people.
    """

    kind: Literal["event"] = "event"
    id: str | None = None
    name: str | None = None
    start: Time | Date | None = None
    end: Time | Date | None = None
    timezone: str | None = None
    place: Place | None = None
    online: bool | None = None
    past: bool | None = None
    hosts: list[Host] = []
    going: Count | None = None
    interested: Count | None = None
    description: str | None = None
    ticket_url: str | None = None


class Group(Item):
    """A group of people; ``privacy`` is ``public`` or ``private`` where the site tells it, else the site's word."""

    kind: Literal["group"] = "group"
    id: str | None = None
    name: str | None = None
    privacy: str | None = None
    members: Count | None = None
    description: str | None = None
