"""The last line of defence against credentials in logs.

Types that redact themselves (SecretStr, Proxy) are the first. Here the finished texts are searched for what looks
like credentials, and for values that were registered as secret, tracebacks included. It would rather hide too much.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from functools import cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

from fetchworker.secretnames import WHOLE

MASK: Final = "***"
#: shorter values are not registered: hiding them would tear ordinary words apart, and as passwords they hide nothing
MIN_SECRET: Final = 6

_FEW = 16

_FIELD_WORDS = ("passw", "secret", "key", "token")
_QUERY_WORDS = ("token=", "sig=", "signature=", "auth=")

# Quantifiers are possessive or bounded: the text may come from a hostile page.
_QUOTED = r"""(?:"(?:[^"\\]|\\.)*+"?|'(?:[^'\\]|\\.)*+'?|\\++"[^"\\]*(?:\\(?!")[^"\\]*)*)"""
_HEADER = rf"""
    \b((?:proxy-)?authorization|(?:set-)?cookie)\b   # Cookie
    (\\*["']\s*[:=,]\s*|\s*[:=]\s*)                 # Cookie: a    'Cookie': 'a'    ('Cookie', 'a')
    (?:\[(?:{_QUOTED}|[^\]"'])*+\]? | b?{_QUOTED} | [^\r\n]*+)"""
_FIELD = rf"""
    ((?:password|passwd|secret|api[_-]?key|access[_-]?token)\\*["']?\s{{0,4}}[:=]\s{{0,4}})
    (?:{_QUOTED} | \\*["']?[^\s"',;&}}\\]++)"""
# token=, id_token=, X-Amz-Signature=: in a query, or in a fragment
_QUERY = r"""
    ((?:[?&;\#]|\\u0026) (?:[\w-]{0,32}[_-])? (?:token|sig|signature|auth)=)
    [^\s&;\#"'<>\\]+"""
_USERINFO = r"^([a-z][a-z0-9+.-]*://)[^/?\#]*@"
_SCHEME = r"\b(Basic|Bearer)[ \t]+([A-Za-z0-9+/=._~-]{8,4096})"
# the first form is for passwords with an @, / ? or # that should have been percent-encoded
_URL = r"""
    (://)
    (?:[^\s/@:"']{0,128}:(?!\d{1,5}[/?\#])(?:(?!://)[^\s"'<>]){1,256} | [^\s/?\#"'<>]{0,512})@"""
_BARE = r"""
    (?<![\w/])[^\s:/@"'()\[\]{}<>,=]{1,128}:(?!//)(?:(?!://)[^\s"'<>]){1,256}@
    (?=[\w.-]{1,253}:\d{1,5}\b)"""
_COLONS = r"""
    \b((?:[\w-]{1,63}\.){1,8}(?!py:)[\w-]{1,63}:\d{2,5}):[^\s:/"']{1,128}:[^\s"',;]{1,256}"""


@cache
def _pattern(source: str) -> re.Pattern[str]:
    """Compiled at its first use: importing this module must not take the 6 ms."""
    return re.compile(source, re.IGNORECASE | re.VERBOSE | re.DOTALL)


class _Secrets:
    """Registered values, in every spelling under which they could turn up."""

    def __init__(self) -> None:
        self._spellings: set[str] = set()
        self._beginnings: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, value: str) -> None:
        escaped = json.dumps(value)[1:-1]
        spellings = {value, quote(value, safe=""), quote_plus(value), escaped, repr(value)[1:-1], value.strip()}
        new = {text for text in spellings if len(text) >= MIN_SECRET} - self._spellings
        if new:
            self._spellings |= new
            self._beginnings |= {text[:MIN_SECRET] for text in new}
            self._pattern = None

    def hide(self, text: str) -> str:
        if not self._spellings or not self._may_hold_one(text):
            return text
        if self._pattern is None:
            longest_first = sorted(self._spellings, key=len, reverse=True)
            self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        return self._pattern.sub(MASK, text)

    def _may_hold_one(self, text: str) -> bool:
        """Quickly: a pattern of a thousand alternatives takes a millisecond a line."""
        if len(self._spellings) <= _FEW:
            return any(spelling in text for spelling in self._spellings)
        return not self._beginnings.isdisjoint(text[i : i + MIN_SECRET] for i in range(len(text) - MIN_SECRET + 1))

    def clear(self) -> None:
        self._spellings.clear()
        self._beginnings = frozenset()
        self._pattern = None


_secrets = _Secrets()


def register_secret(value: Any) -> bool:
    """Hide ``value`` (a string, or a SecretStr) wherever it turns up in a log line from now on.

    Returns:
        False when it is shorter than :data:`MIN_SECRET` characters, and so is not hidden.
    """
    text = str(value.get_secret_value() if hasattr(value, "get_secret_value") else value)
    if len(text) < MIN_SECRET:
        return False
    _secrets.add(text)
    return True


def forget_secrets() -> None:
    """Forget what was registered (for tests)."""
    _secrets.clear()


def hide_registered(text: str) -> str:
    """``text`` without the values that were registered, and otherwise as it is."""
    return _secrets.hide(text)


def hide_userinfo(url: str) -> str:
    """``url`` without a user name and password, and otherwise as it is."""
    return _pattern(_USERINFO).sub(rf"\1{MASK}@", url, count=1) if "@" in url else url


def redact(text: str) -> str:
    """``text`` without credentials."""
    text = _secrets.hide(text)
    lower = text.lower()
    if "cookie" in lower or "authorization" in lower:
        text = _pattern(_HEADER).sub(rf"\1\2{MASK}", text)
    if any(word in lower for word in _FIELD_WORDS):
        text = _pattern(_FIELD).sub(rf"\1{MASK}", text)
    if "=" in lower and any(word in lower for word in _QUERY_WORDS):
        text = _pattern(_QUERY).sub(rf"\1{MASK}", text)
    if "basic" in lower or "bearer" in lower:
        text = _pattern(_SCHEME).sub(_scheme, text)
    if "@" in text:
        text = _pattern(_URL).sub(rf"\1{MASK}@", text)
        text = _pattern(_BARE).sub(f"{MASK}@", text)
    return _pattern(_COLONS).sub(rf"\1:{MASK}", text) if text.count(":") >= 3 else text  # noqa: PLR2004


def is_secret_name(name: str) -> bool:
    """Whether a field or header of this name holds a secret."""
    return name.lower().replace("_", "-") in WHOLE


def _scheme(match: re.Match[str]) -> str:
    """``Basic <mask>``, unless what follows is plainly a word."""
    kind, value = match.groups()
    if kind.lower() == "bearer":
        secret = len(value) >= 16  # noqa: PLR2004
    else:
        try:
            secret = b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=False)
        except (binascii.Error, ValueError):
            secret = False
    return f"{kind} {MASK}" if secret else match.group()
