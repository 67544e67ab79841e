"""Reads fields out of HTML, without running any of it (pure)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from parsel import Selector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fetchworker.actions.models import What

_JSON_LD = "//script[contains(translate(@type, 'JSONLD', 'jsonld'), 'application/ld+json')]/text()"
_DEEPEST = 50


class LackingError(Exception):
    """Fields that were required and are not there."""


def extract(html: str, fields: Mapping[str, What]) -> dict[str, Any]:
    """The fields of a page: text (or HTML, or an attribute) or JSON-LD objects; None, or an empty list, for none.

    Raises:
        LackingError: naming those that are required and lack.
    """
    page = Selector(text=html or "<html></html>", type="html", huge_tree=True)
    found = {name: _one(page, what) for name, what in fields.items()}
    lacking = [name for name, what in fields.items() if what.required and found[name] in (None, [])]
    if lacking:
        raise LackingError(", ".join(lacking))
    return found


def _one(page: Selector, what: What) -> Any:
    every: list[Any]
    if what.json_ld is not None:
        every = [one for one in _objects(page) if what.json_ld == "*" or what.json_ld in _types(one)]
    elif what.css is not None:
        every = page.css(what.css).getall()
    else:
        every = page.xpath(what.xpath or "").getall()
    return every if what.many else next(iter(every), None)


def _objects(page: Selector) -> Iterator[dict[str, Any]]:
    for text in page.xpath(_JSON_LD).getall():
        try:
            yield from _opened(json.loads(text, strict=False))
        except (ValueError, RecursionError):
            continue


def _opened(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    """The objects of a value; lists and ``@graph`` are opened."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from _opened(one, depth + 1)
    elif isinstance(value, dict):
        yield value
        yield from _opened(value.get("@graph") or [], depth + 1)


def _types(value: dict[str, Any]) -> list[Any]:
    found = value.get("@type")
    return found if isinstance(found, list) else [found]
