"""Artifacts without credentials (pure).

Masked are: known values (of the session, of the operator, and those that a caller names), headers of credentials and
cookies, and in texts what stands behind a name that says token, password or the like. Bytes stay what they are
otherwise, whatever their encoding. Pictures and PDFs are kept as they are: what a page shows, they show.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from fetchworker.secretnames import CREDENTIALS, PAGE, SHORT, any_of
from fetchworker.telemetry.redaction import MASK, MIN_SECRET, hide_registered, is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: a cookie has places of its own; the word stands in every second page
_NAMES = any_of(*(part for part in CREDENTIALS if part != "cookie"), *PAGE)
#: words → what is looked for where one of them stands: group 1 stays, the rest is masked. Quantifiers are possessive or
#: bounded, as the text comes from pages; a page of 1 MB takes some 80 ms so, 1,300 without looking for the words first
_PLACES = (
    (
        ("token", "csrf", "xsrf", "nonce", "lsd", "sess", "sid", "auth", "ticket", "api", "secret", "passw", "cred"),
        rf"""({_NAMES}\\{{0,4}}["']?\s{{0,4}}[:=]\s{{0,4}}\\{{0,4}}["']?)[^\s"'<>&,;\\]{{6,4096}}""",
    ),
    (
        ("pw", "pass"),  # a whole name, or the last part of one: user_pwd
        r"""((?<![^\W_])(?:pwd?|pass)\\{0,4}["']?\s{0,4}[:=]\s{0,4}\\{0,4}["']?)[^\s"'<>&,;\\]{6,4096}""",
    ),
    (("basic", "bearer"), r"(\b(?:Basic|Bearer)[ \t]{1,8})[A-Za-z0-9+/=._~-]{8,4096}"),
    (
        ("cookie", "set-cookie", "authorization", "proxy-authorization"),
        r"(?<![^\r\n])((?:(?:set-)?cookie|(?:proxy-)?authorization)[ \t]{0,8}:[ \t]{0,8})[^\r\n]{1,65536}",
    ),
    (("eyj",), r"((?<![\w-]))eyJ[\w-]{8,4096}(?:\.[\w-]{1,4096}){0,4}"),
    (("://",), r"(://)[^\s/?#@\"'<>]{1,512}(?=@)"),
)
_TAG = r"<(?:input|meta)\b[^>]{0,4096}>"
_TEXTAREA = r"(<textarea\b[^>]{0,4096}>)[^<]{1,65536}"
_VALUE = r"""\b((?:value|content)\s{0,4}=\s{0,4})("[^"]{1,4096}"|'[^']{1,4096}'|[^\s"'>]{1,4096})"""
_HIDDEN = re.compile(
    rf"""(?i)\b(?:name|id)\s{{0,4}}=\s{{0,4}}["']?[\w:.\[\]-]{{0,64}}(?:{_NAMES}|{SHORT})|\btype\s{{0,4}}=\s{{0,4}}["']?password"""
)
_SECRET_HEADER = re.compile(rf"(?i)proxy-|session|{any_of(*CREDENTIALS, *PAGE)}|{SHORT}")
_FIELD = re.compile(rf"(?i){_NAMES}|{SHORT}")
#: what a form says of fields for passwords, and for codes that are as good (HTML, 4.10.18.7)
_AUTOCOMPLETE = frozenset({"current-password", "new-password", "one-time-code", "cc-number", "cc-csc"})
_BOMS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_SNIFFED = 1024


@cache
def _pattern(source: str) -> re.Pattern[str]:
    """Compiled at its first use."""
    return re.compile(source, re.IGNORECASE)


def redacted(kind: str, content: bytes, secrets: Iterable[str] = ()) -> bytes:
    """An artifact's bytes without what is secret in them.

    Args:
        kind: what it is.
        content: its bytes.
        secrets: values that are masked wherever they stand in text.
    """
    if kind in ("har", "trace"):
        from fetchworker.artifacts import recordings  # noqa: PLC0415  # they are rare

        return recordings.har(content, secrets) if kind == "har" else recordings.trace(content, secrets)
    return page(content, secrets) if kind == "html" else content


def page(content: bytes, secrets: Iterable[str] = ()) -> bytes:
    """The bytes of a text of any encoding; what is no text stays as it is."""
    encoding = _BOMS.get(content[:2])
    if encoding is not None:
        return content[:2] + text(content[2:].decode(encoding, "replace"), secrets).encode(encoding, "replace")
    if b"\x00" in content[:_SNIFFED]:
        return content
    # one character a byte: what is no ASCII stays as it is
    known = [spelling.encode().decode("latin-1") for spelling in _spelt(secrets)]
    return text(_without(content.decode("latin-1"), known)).encode("latin-1")


def text(content: str, secrets: Iterable[str] = ()) -> str:
    """A text without values that are known, and without those whose names say what they are."""
    content = hide_registered(_without(content, _spelt(secrets)))
    content = _pattern(_TAG).sub(_tag, content)
    content = _pattern(_TEXTAREA).sub(_area, content)
    for words, pattern in _PLACES:
        content = _masked(content, words, _pattern(pattern))
    return content


def _masked(content: str, words: Iterable[str], pattern: re.Pattern[str]) -> str:
    lower = content.lower()
    if len(lower) != len(content):  # a letter that is two in lower case
        return pattern.sub(rf"\1{MASK}", content)
    parts, done = [], 0
    for place in sorted(place for word in words for place in _found(lower, word)):
        match = pattern.match(content, place) if place >= done else None
        if match is not None:
            parts += [content[done : match.end(1)], MASK]
            done = match.end()
    return "".join([*parts, content[done:]]) if parts else content


def _found(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def headers(lines: Iterable[tuple[str, str]], secrets: Iterable[str] = ()) -> list[tuple[str, str]]:
    """Header lines of a request or an answer; of cookies the names are kept."""
    known = list(secrets)
    return [(name, _header(name, value, known)) for name, value in lines]


def _header(name: str, value: str, secrets: list[str]) -> str:
    lower = name.lower()
    if lower == "cookie":
        return "; ".join(_cookie(part) for part in value.split(";"))
    if lower == "set-cookie":
        first, semicolon, rest = value.partition(";")
        return _cookie(first) + semicolon + rest
    return MASK if hides(lower) else text(value, secrets)


def hides(name: str) -> bool:
    """Whether a header or a field of this name is masked."""
    return is_secret_name(name) or _SECRET_HEADER.search(name) is not None


def is_secret_field(attributes: Mapping[str, Any]) -> bool:
    """Whether the value of an element of these attributes is a secret: by its type, its name or its purpose.

    Args:
        attributes: of an ``input``, a ``meta`` or the like, as HTML names them.
    """
    told = {name.lower(): value for name, value in attributes.items() if isinstance(value, str)}
    if told.get("type", "").lower() == "password" or _AUTOCOMPLETE & set(told.get("autocomplete", "").lower().split()):
        return True
    names = (told[one] for one in ("name", "id", "property") if one in told)
    return any(is_secret_name(name) or _FIELD.search(name) for name in names)


def _cookie(pair: str) -> str:
    name, equals, _ = pair.strip().partition("=")
    return f"{name}={MASK}" if equals else MASK


def _without(content: str, spelt: Iterable[str]) -> str:
    for spelling in spelt:
        content = content.replace(spelling, MASK)
    return content


def _spelt(secrets: Iterable[str]) -> list[str]:
    """Values in all their spellings, the longest first: one may be a part of another."""
    return sorted({spelling for secret in secrets for spelling in _spellings(secret)}, key=len, reverse=True)


def _spellings(secret: str) -> Iterable[str]:
    if len(secret) < MIN_SECRET:
        return ()
    spelt = (secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], html.escape(secret))
    return {spelling for spelling in spelt if len(spelling) >= MIN_SECRET}


def _area(match: re.Match[str]) -> str:
    return match[1] + MASK if _HIDDEN.search(match[1]) else match.group()


def _tag(match: re.Match[str]) -> str:
    tag = match.group()
    return _pattern(_VALUE).sub(rf'\1"{MASK}"', tag) if _HIDDEN.search(tag) else tag
