"""Evidence that may be kept: a few words around what a refusal was known by, without anything personal or secret."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from fetchworker.outcomes import conditions as c
from fetchworker.outcomes._rules import rules_for, signature_of
from fetchworker.outcomes._view import Content, View
from fetchworker.telemetry.redaction import MASK, redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from fetchworker.contracts import Page
    from fetchworker.outcomes.taxonomy import Verdict

#: the longest snippet, characters
SNIPPET_MAX = 300

_BEFORE = 100  # characters of it that stand before the marker
_AROUND = 1000  # bytes looked at on either side, so that no secret is cut in two and missed
_LONGEST_HEADER = 80
_SHORTEST_SECRET = 4

_AT = r"(?:@|&\#0*64;|&\#x0*40;|%40|\\u0040|\\x40)"
#: patterns and what stays of their matches
_MASKS = (
    # e-mail addresses, the @ in whatever spelling
    (rf"[\w.+%-]{{1,64}}{_AT}[\w-]{{1,63}}(?:(?:\.|&\#0*46;)[\w-]{{1,63}}){{1,8}}", MASK),
    # what forms send, and values whose names say that they are tokens
    (r"""(?i)(<input\b[^>]{0,300}?\bvalue\s{0,4}=\s{0,4}["']?)[^"'>]{1,512}""", rf"\1{MASK}"),
    (
        r"""(?i)((?:token|csrf|lsd|sessi[a-z_]{0,12}|nonce|sid|key|auth|ticket)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"'<>&]{6,512}""",
        rf"\1{MASK}",
    ),
    # what looks like one: JSON Web Tokens, UUIDs, hexadecimal, long words with digits in them
    (r"eyJ[\w-]{8,}(?:\.[\w-]+){0,4}", MASK),
    (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", MASK),
    (r"\b(?=[a-fA-F]*\d)(?=\d*[a-fA-F])[0-9a-fA-F]{12,}\b", MASK),
    (r"(?<![\w-])(?=[\w-]*\d)[\w-]{20,}", MASK),
    (r"(?<![\w+/=-])(?=[\w+/=-]*\d)(?=[\w+/=-]*[a-z])(?=[\w+/=-]*[A-Z])[\w+/=-]{32,}", MASK),
    # addresses: block pages quote the visitor's
    (r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]?\d)", MASK),
    (r"(?<![\w:])[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){4,7}(?![\w:])", MASK),
    # telephone numbers, written with or without signs between the digits
    (r"(?<![\w#.])(?:\+|00)\d(?:[\s()./-]{0,3}\d){6,16}(?!\w)", MASK),
    (r"(?<![\w#.])\(?\d{2,5}\)?(?:[\s()/-]{1,3}\d{2,8}){2,5}(?!\w)", MASK),
    (r"(?<!\w)\d{9,}(?!\w)", MASK),
)


def snippet(
    page: Page, verdict: Verdict, *, site: str | None, request_url: str | None = None, secrets: Iterable[str] = ()
) -> str:
    """At most :data:`SNIPPET_MAX` characters around what the deciding rule found, or of the body's beginning.

    Credentials, tokens, e-mail addresses and telephone numbers are masked, and ``secrets`` (the session's own values)
    wherever they occur. A rule that looks at a header has that header first.
    """
    view = View(page, request_url, rules_for(site).expected)
    signature = signature_of(verdict)
    when = signature.when if signature else None
    header = next(_headers(when, view), "") if when is not None else ""
    told = f"{mask(header, secrets)[:_LONGEST_HEADER]} … " if header else ""
    if view.content is Content.BINARY:
        return f"{told}{len(page.body)} bytes that are no text"
    start, length = next(_places(when, view), (0, 0)) if when is not None else (0, 0)
    return told + _cut(view.body, start, length, SNIPPET_MAX - len(told), secrets)


def mask(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` without what may not be kept."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    text = redact(text)
    for pattern, stays in _patterns():
        text = pattern.sub(stays, text)
    return text


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled at the first failure: most crawls have none."""
    return tuple((re.compile(source), stays) for source, stays in _MASKS)


def _cut(body: bytes, start: int, length: int, room: int, secrets: Iterable[str]) -> str:
    """The text around a place, in one line. Masked before it is cut, and the torn words at the ends left out."""
    first, last = max(0, start - _AROUND), start + length + _AROUND
    before, after = body[first:start].decode("utf-8", "replace"), body[start:last].decode("utf-8", "replace")
    if first:
        before = before.partition(" ")[2]
    if last < len(body):
        after = after.rpartition(" ")[0]
    marker = after[:length]
    text = " ".join(mask(before + after, secrets).split())
    at = text.find(marker) if marker else 0
    begin = max(0, at - _BEFORE)
    return text[begin : begin + room]


def _places(condition: c.Condition, view: View) -> Iterator[tuple[int, int]]:
    """Where in the body, and over how many bytes, is what made a condition hold."""
    match condition:
        case c.All(parts) | c.AnyOf(parts):
            for part in parts:
                if part.holds(view):
                    yield from _places(part, view)
        case c.BodyHas(marker, _):
            yield view.body.find(marker), len(marker)
        case c.JsonAt(_, _, looks):
            found = ((view.body.find(look.encode()), len(look)) for look in looks)
            yield from (place for place in found if place[0] >= 0)
        case c.TitleMatches():
            yield max(0, view.body.lower().find(b"<title")), len(b"<title")


def _headers(condition: c.Condition, view: View) -> Iterator[str]:
    match condition:
        case c.All(parts) | c.AnyOf(parts):
            for part in parts:
                if part.holds(view):
                    yield from _headers(part, view)
        case c.HeaderMatches(name, _):
            yield from (f"{name}: {value}" for value in view.header(name))
