"""What is attached to a post's card (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from fetchworker.items import Link, Media
from fetchworker.spiders.linkedin import contract
from fetchworker.spiders.linkedin.nodes import Element, Nodes, attribute, shown
from fetchworker.spiders.reading.values import dig, mapping, sequence
from fetchworker.spiders.reading.values import link as web
from fetchworker.spiders.reading.values import text as told

if TYPE_CHECKING:
    from collections.abc import Iterator


def media(nodes: Nodes) -> list[Media]:
    """Pictures, films and documents; the picture of a link belongs to the link."""
    return [*_images(nodes), *_videos(nodes), *_documents(nodes)]


def kind(nodes: Nodes, found: list[Media]) -> str | None:
    """The post's type by what is attached to it."""
    types = {medium.type for medium in found}
    if types & {"video", "document"}:
        return "video" if "video" in types else "carousel"
    if found:
        return "carousel" if len(found) > 1 else "image"
    shared = links(nodes)
    if not shared:
        return "text"
    path = (shared[0].url or "").partition("linkedin.com")[2]
    return "article" if path.startswith("/pulse/") else "job" if path.startswith("/jobs/") else "link"


def links(nodes: Nodes) -> list[Link]:
    """The page that a post shows a preview of."""
    url = contract.outside(attribute(_anchor(nodes), "href"))
    return [Link.draft(title=shown(nodes.test("article-content__title")), url=url)] if url else []


def _anchor(nodes: Nodes) -> Element | None:
    card = nodes.test("article-content")
    return card if card is not None else nodes.first("share-article__title-link", "share-article__link")


def _images(nodes: Nodes) -> Iterator[Media]:
    parts = nodes.tests("feed-images-content__list-item") or nodes.tests("feed-images-content")
    for part in parts or nodes.all("share-images__image"):
        for image in part.iter("img"):
            url = contract.picture(attribute(image, "data-delayed-url", "src"))
            if url:
                yield Media.draft(type="image", url=url, alt=attribute(image, "alt"))


def _videos(nodes: Nodes) -> Iterator[Media]:
    for part in nodes.tests("feed-native-video-content") or nodes.all("share-native-video"):
        holder = next(iter(part.xpath(".//*[@data-sources]")), None)
        sources = sequence(_json(attribute(holder, "data-sources")))
        best = max(sources, key=_rate, default=None)
        url = web(dig(best, "src")) or contract.picture(attribute(holder, "data-poster-url"))
        if url:
            yield Media.draft(type="video", url=url)


def _rate(source: Any) -> float:
    rate = dig(source, "data-bitrate")
    return rate if isinstance(rate, int | float) else 0


def _documents(nodes: Nodes) -> Iterator[Media]:
    for frame in nodes.root.xpath(".//*[@data-native-document-config]"):
        document = mapping(dig(_json(attribute(frame, "data-native-document-config")), "doc"))
        covers = [web(dig(cover, "config", "src")) for cover in sequence(document.get("coverPages"))]
        url = web(document.get("url")) or next((page for page in covers if page), None)
        if url:
            yield Media.draft(type="document", url=url, alt=told(document.get("title")))


def _json(value: str | None) -> Any:
    try:
        return orjson.loads(value or "")
    except orjson.JSONDecodeError:
        return None
