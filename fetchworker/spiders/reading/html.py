"""JSON and facts that stand in a page's source: data scripts, assignments, JSON-LD, meta tags (pure).

Everything is bounded: a page of unfinished tags or objects must not cost the square of its length.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.contracts import Page

_DECODER = json.JSONDecoder(strict=False)
_SCRIPT = re.compile(r"<script\b(?P<attributes>[^<>]{0,2000})>", re.IGNORECASE)
_END = re.compile(r"</script", re.IGNORECASE)
_META = re.compile(r"""<meta\b((?:[^<>"']++|"[^"]{0,12000}+"|'[^']{0,12000}+'){0,80}+)>""", re.IGNORECASE)
_LINK = re.compile(r"""<link\b((?:[^<>"']++|"[^"]{0,4000}+"|'[^']{0,4000}+'){0,80}+)>""", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]+))""")
#: elements after which a new line begins, and any other tag, of a fragment
_BREAK = re.compile(r"<(?:br|hr)\b[^<>]{0,500}>|</(?:p|li|ul|ol|div|tr|h[1-6])\s{0,9}>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z!][^<>]{0,4000}>", re.IGNORECASE)
#: a document's own tags; ``_OPENED`` is looked for near the beginning only
_OPENED, _CLOSED = re.compile(rb"<html[\s>]", re.IGNORECASE), re.compile(rb"</(?:html|body)\b", re.IGNORECASE)
_TOP, _LAST_TAGS = 20_000, 20
#: more than any page has
_MOST_SCRIPTS, _MOST_KEYS, _MOST_TAGS = 500, 50, 300


def decoded(page: Page) -> str:
    """The page's text: by the charset of its content type, else UTF-8; bytes that make no sense become U+FFFD."""
    named = re.search(r"charset=[\"']?([\w-]+)", page.header("content-type") or "", re.IGNORECASE)
    try:
        return page.body.decode(named[1] if named else "utf-8", "replace").removeprefix("\ufeff")
    except LookupError:
        return page.body.decode(errors="replace").removeprefix("\ufeff")


def cut_off(body: bytes) -> bool:
    """Whether a document ends before its end: it opens ``<html>`` and closes neither that nor its body.

    Every whole page of the sites closes one of them (saved pages of 2017 to 2026), some with scripts behind it; a
    closing tag that a script holds as text does not count. Fragments and JSON open none: see :func:`left_open`.
    """
    if not body[:_TOP].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or not _OPENED.search(body, 0, _TOP):
        return False
    ends = deque((match.start() for match in _CLOSED.finditer(body)), _LAST_TAGS)
    return all(_in_script(body, end) for end in ends)


def _in_script(body: bytes, place: int) -> bool:
    start = body.rfind(b"<script", 0, place)
    return start >= 0 and body.find(b"</script", start, place) < 0


def left_open(text: str, tag: str) -> bool:
    """Whether a fragment ends inside a tag, or inside an element (``li``, say) that its site always closes."""
    if text.rfind("<") > text.rfind(">"):
        return True
    opened, closed = (len(re.findall(rf"{mark}{tag}[\s>]", text, re.IGNORECASE)) for mark in ("<", "</"))
    return opened > closed


def scripts(text: str) -> Iterator[tuple[dict[str, str], str]]:
    """The scripts of a page in their order: attributes (names in lower case) and content."""
    position = 0
    for _ in range(_MOST_SCRIPTS):
        start = _SCRIPT.search(text, position)
        if start is None:
            return
        end = _END.search(text, start.end())
        position = end.end() if end else len(text)
        yield attributes(start["attributes"]), text[start.end() : end.start() if end else len(text)]


def script_json(text: str, identity: str) -> Any:
    """The JSON in the script with this id, None when there is none or it is broken."""
    for found, content in scripts(text):
        if found.get("id") == identity:
            return parsed(content)
    return None


def json_ld(text: str) -> list[dict[str, Any]]:
    """The JSON-LD objects of a page; lists and ``@graph`` are opened."""
    found: list[dict[str, Any]] = []
    for values, content in scripts(text):
        if values.get("type", "").strip().lower() == "application/ld+json":
            found.extend(_objects(parsed(content)))
    return found


def keyed(text: str, key: str) -> Iterator[Any]:
    """The objects and arrays that stand behind ``"key":`` anywhere in a page's scripts, in their order."""
    pattern = re.compile(rf'"{re.escape(key)}"\s{{0,20}}:\s{{0,20}}(?=[{{\[])')
    position = 0
    for _ in range(_MOST_KEYS):
        match = pattern.search(text, position)
        if match is None:
            return
        try:
            value, position = _DECODER.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            position = match.end()
            continue
        yield value


def parsed(content: str) -> Any:
    """JSON as scripts hold it: in a comment, with control characters, with something behind it; None when broken."""
    content = content.strip().removeprefix("<!--").removeprefix("//<![CDATA[").strip()
    try:
        return _DECODER.raw_decode(content)[0]
    except (ValueError, RecursionError):
        return None


def meta(text: str) -> dict[str, str]:
    """Meta tags by property or name; the canonical address as ``canonical``."""
    found: dict[str, str] = {}
    for number, match in enumerate(_META.finditer(text)):
        if number >= _MOST_TAGS:
            break
        values = attributes(match[1])
        key = values.get("property") or values.get("name")
        if key and "content" in values:
            found.setdefault(key.lower(), values["content"])
    for number, match in enumerate(_LINK.finditer(text)):
        values = attributes(match[1])
        if number >= _MOST_TAGS or (values.get("rel", "").lower() == "canonical" and values.get("href")):
            found["canonical"] = values.get("href", "")
            break
    return found


def attributes(tag: str) -> dict[str, str]:
    """A tag's attributes, names in lower case, entities resolved."""
    return {name.lower(): html.unescape(one or two or three) for name, one, two, three in _ATTRIBUTE.findall(tag)}


def squeezed(text: str | None) -> str | None:
    """Text with its white space folded, None when nothing is left."""
    return " ".join((text or "").split()) or None


def text_of(markup: str | None) -> str | None:
    """The text of a fragment of markup, a line for each of its paragraphs and list entries; None when it has none."""
    lines = (squeezed(html.unescape(_TAG.sub(" ", line))) for line in _BREAK.sub("\n", markup or "").splitlines())
    return "\n".join(line for line in lines if line) or None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, dict):
            graph = entry.get("@graph")
            yield from (part for part in graph if isinstance(part, dict)) if isinstance(graph, list) else (entry,)
