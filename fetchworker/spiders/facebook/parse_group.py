"""Groups in Comet data (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.items import Group
from fetchworker.spiders.facebook import ids
from fetchworker.spiders.facebook.body import entity
from fetchworker.spiders.reading.counts import first_count
from fetchworker.spiders.reading.values import count, dig, flag, ident, link, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.spiders.facebook.body import Body, Document

#: the site's words for who may read a group, in its languages
_PUBLIC = re.compile(
    r"\b(?:public|öffentlich|publi[ck]|público|pública|pubblic|openbar|publiczn|offentlig|julkinen|herkese açık|"
    r"veřejn|công khai|открыт|общедоступн)|公開|公开|공개|สาธารณะ|عام",
    re.IGNORECASE,
)
_PRIVATE = re.compile(
    r"\b(?:priva[td]|privé|privad|besloten|prywatn|privat|yksityinen|gizli|soukrom|"
    r"riêng tư|закрыт|частн)|非公開|私密|비공개|ส่วนตัว|خاص",
    re.IGNORECASE,
)


def group(body: Body) -> Document | None:
    """The page's group: facts of all its objects with its number; None when the page is of none."""
    roots = list(_roots(body))
    number = next((ident(root.get("id")) for root in roots if ident(root.get("id"))), None)
    if number is None:
        return None
    return entity(body.documents, number, "Group", without=("group_feed",))


def _roots(body: Body) -> Iterator[Document]:
    for document in body.documents:
        root, node = dig(document, "data", "group"), dig(document, "data", "node")
        if isinstance(root, dict):
            yield root
        if isinstance(node, dict) and (node.get("__typename") == "Group" or "group_feed" in node):
            yield node


def draft(raw: Document) -> Group:
    """The group's item; what the page does not tell stays None."""
    number = ident(raw.get("id"))
    return Group.draft(
        id=number,
        name=text(raw.get("name")),
        privacy=privacy(_privacy(raw)),
        members=_members(raw),
        description=text(dig(raw, "description_with_entities", "text")) or text(dig(raw, "description", "text")),
        url=link(raw.get("url")) or (f"{ids.HOME}/groups/{number}/" if number else None),
        extra=_extra(raw),
    )


def _privacy(raw: Mapping[str, Any]) -> str | None:
    info = raw.get("privacy_info")
    for path in (("label", "text"), ("title", "text"), ("text",), ("title",)):
        found = text(dig(info, *path))
        if found:
            return found
    return text(raw.get("visibility"))


def privacy(words: str | None) -> str | None:
    """``public`` or ``private`` for the site's word; another word stays as it is."""
    if words is None:
        return None
    if _PRIVATE.search(words):
        return "private"
    return "public" if _PUBLIC.search(words) else words


def _members(raw: Mapping[str, Any]) -> int | None:
    for exact in (count(dig(raw, "group_member_profiles", "count")), count(raw.get("group_total_members_count"))):
        if exact is not None:
            return exact
    shown = text(dig(raw, "group_member_profiles", "formatted_count_text"))
    return first_count(shown or text(raw.get("group_total_members_info_text")))


def _extra(raw: Mapping[str, Any]) -> dict[str, Any]:
    places = raw.get("group_locations")
    names = [name for one in places if (name := text(dig(one, "name")))] if isinstance(places, list) else []
    found: dict[str, Any] = {
        "locations": names,
        "cover_url": link(dig(raw, "cover_renderer", "cover_photo_content", "photo", "image", "uri")),
        "marketplace": flag(raw.get("is_forsale_group")),
    }
    return {name: value for name, value in found.items() if value not in (None, [])}
