"""Tells the empty shell of an application, which scripts fill in, from a page (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree

from fetchworker.outcomes._view import Content, content_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.contracts import Page

#: bytes of a page that is looked at; a shell's scripts stand in files of their own
_MOST = 512 * 1024
#: characters of text that a shell may have beside its scripts: a title, "Loading…"
_TEXT = 200
_OK = 200

#: elements whose text nobody sees
_UNSEEN = frozenset({"head", "title", "script", "style", "noscript", "template", "svg"})
#: names of the element that an application is put into
_ROOTS = frozenset({"root", "app", "__next", "__nuxt", "react-root", "main", "application", "mount", "app-root"})


def is_app_shell(page: Page) -> bool:
    """Whether an answer is HTML with next to no text, which asks for JavaScript or has a place that scripts fill.

    A page with data for scripts in it (JSON, JSON-LD) is none: it need not be rendered to be read.
    """
    body = page.body
    if page.status not in (None, _OK) or len(body) > _MOST or not is_html(page) or b"script" not in body.lower():
        return False
    try:
        tree = etree.fromstring(body, etree.HTMLParser(encoding="utf-8", remove_comments=True, no_network=True))
    except etree.LxmlError:
        return False
    return tree is not None and _waits_for_scripts(tree) and _has_little_text(tree)


def is_html(page: Page) -> bool:
    """Whether an answer is an HTML document."""
    return content_of(page.body) is Content.HTML and b"<?xml" not in page.body[:64]


def _waits_for_scripts(tree: Any) -> bool:
    kinds = [(script.get("type") or "").lower() for script in tree.iter("script")]
    if not kinds or any("json" in kind for kind in kinds):
        return False
    asks = any("javascript" in "".join(element.itertext()).lower() for element in tree.iter("noscript"))
    return asks or any(element.get("id") in _ROOTS for element in tree.iter(etree.Element))


def _has_little_text(tree: Any) -> bool:
    found = 0
    for text in _texts(tree):
        found += sum(map(len, text.split()))
        if found > _TEXT:
            return False
    return True


def _texts(tree: Any) -> Iterator[str]:
    """What a reader without scripts sees, piece by piece."""
    left = [tree]
    while left:
        element = left.pop()
        if element.tag not in _UNSEEN:
            yield element.text or ""
            left += element
        if element is not tree:
            yield element.tail or ""
