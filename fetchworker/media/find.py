"""The pictures and films that an item names (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.items import Item, Media, Part

if TYPE_CHECKING:
    from collections.abc import Iterator

#: fields that hold the address of a picture, or a list of such
_PICTURES = frozenset({"avatar_url", "image_url", "images", "logo_url"})
#: media of other types are no pictures or films
_TYPES = frozenset({"image", "video", None})


def media_of(item: Item) -> dict[str, str]:
    """Address → ``image`` or ``video``, each once, in the item's order. What a site gives beyond the model is left."""
    found: dict[str, str] = {}
    for url, kind in _named(item):
        if isinstance(url, str) and url.lower().startswith(("https://", "http://")):
            found.setdefault(url, kind)
    return found


def _named(part: Part) -> Iterator[tuple[Any, str]]:
    if isinstance(part, Media):
        if part.type in _TYPES:
            yield part.url, part.type or "image"
        return
    for name, value in part.__dict__.items():
        if name in _PICTURES:
            yield from ((url, "image") for url in (value if isinstance(value, list) else [value]))
        elif isinstance(value, Part):
            yield from _named(value)
        elif isinstance(value, list):
            for inner in value:
                if isinstance(inner, Part):
                    yield from _named(inner)
