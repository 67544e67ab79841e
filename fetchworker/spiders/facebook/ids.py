"""Numbers and names in Facebook's ids and addresses (pure).

Node ids are base64: ``S:_I<owner>:<post>:<post>`` for a story, ``feedback:<post>``, ``comment:<post>_<comment>`` (seen
2023 to 2026). ``pfbid…`` is another name for a post and differs from page to page.
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import parse_qsl, unquote, urlsplit

from fetchworker.spiders.facebook.params import RESERVED

HOME = "https://www.facebook.com"
MOBILE = "https://m.facebook.com"
_STORY = re.compile(r"S:_?I?(?P<owner>\d+):(?:[A-Z]+:)?(?P<post>\d+)")
_FEEDBACK = re.compile(r"feedback:(?P<post>\d+)")
_COMMENT = re.compile(r"comment:(?P<post>\d+)_(?P<comment>\d+)")
_NUMBER = re.compile(r"\d{1,25}\Z")
_HOST = re.compile(r"(?:[a-z-]+\.)*facebook\.com\Z")
_LONGEST = 400


def decoded(node: str | None) -> str:
    """What a base64 node id says, empty for anything else."""
    if not node or len(node) > _LONGEST:
        return ""
    try:
        return base64.b64decode(node, validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""


def node_id(text: str) -> str:
    """A node id, as ``feedback:1`` is written in queries."""
    return base64.b64encode(text.encode()).decode()


def story_id(owner: str, post: str) -> str:
    """The node id of a post."""
    return node_id(f"S:_I{owner}:{post}:{post}")


def post_of(node: str | None) -> str | None:
    """The post's number in the node id of a story or of its feedback."""
    said = decoded(node)
    match = _STORY.match(said) or _FEEDBACK.match(said)
    return match["post"] if match else None


def comment_of(node: str | None) -> tuple[str, str] | None:
    """Numbers of the post and of the comment in a comment's node id."""
    match = _COMMENT.match(decoded(node))
    return (match["post"], match["comment"]) if match else None


def split(address: str | None) -> tuple[list[str], dict[str, str]] | None:
    """Path segments and query of an address of the site, None for any other."""
    try:
        parts = urlsplit(address or "")
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme and not _HOST.match(host):
        return None
    return [unquote(part) for part in parts.path.split("/") if part], dict(parse_qsl(parts.query))


def username(address: str | None) -> str | None:
    """The name in a profile's address; addresses by number, and those of sections, have none."""
    found = split(address)
    if found is None or not found[0]:
        return None
    name = found[0][0]
    return None if name.lower() in RESERVED or _NUMBER.match(name) else name


def profile_number(address: str | None) -> str | None:
    """The number in a profile's address (``profile.php?id=``, ``/people/<name>/<id>``, ``fb://profile/<id>``)."""
    app = re.match(r"fb://(?:profile|page|group|event)/(?:\?id=)?(\d+)", address or "")
    if app:
        return app[1]
    segments, query = split(address) or ([], {})
    candidates = [query.get("id", "")] if segments[:1] == ["profile.php"] else segments[:1] + segments[2:3]
    return next((one for one in candidates if _NUMBER.match(one)), None)


def target(address: str | None) -> str | None:
    """Where a link leads: the site's own redirector (``l.php?u=``) is taken off."""
    found = split(address)
    if found is not None and found[0] == ["l.php"] and found[1].get("u"):
        return found[1]["u"]
    return address


def post_url(owner: str | None, post: str | None, *, group: str | None = None) -> str | None:
    """An address of a post that stays."""
    if post is None:
        return None
    if group:
        return f"{HOME}/groups/{group}/posts/{post}/"
    return f"{HOME}/{owner}/posts/{post}" if owner else f"{HOME}/{post}"
