"""The keys of a seed: what each may hold (pure)."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable

#: what a tier adds to the priority
TIERS = {"high": 1000, "normal": 0, "low": -1000}
#: the highest priority, and the lowest below zero
HIGHEST = 1_000_000_000
#: meta keys that would lead a request around the proxies, the egress guard or the pace of its host
_NOT_FROM_OUTSIDE = frozenset(
    {"proxy", "_auth_proxy", "dont_proxy", "bindaddress", "impersonate_args", "ftp_user", "ftp_password"}
    | {"download_slot", "download_latency", "verbatim_url"}
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_METHOD = re.compile(r"[A-Z]{1,20}")


def _wrong(key: str, expected: str, value: Any) -> ArgumentError:
    return ArgumentError(f"{key}: {expected} is expected, not {value!r:.60}")


def _url(value: Any, key: str) -> str:
    if not isinstance(value, str) or not re.match(r"https?://", value, re.IGNORECASE):
        raise _wrong(key, "an http(s) address", value)
    if re.search(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]", value):
        raise _wrong(key, "an address without blanks and control characters", value)
    try:
        parts = urlsplit(value)
        there = bool(parts.hostname) and parts.port != 0
    except ValueError:
        there = False
    if not there:
        raise _wrong(key, "an address with a host", value)
    return value


def _method(value: Any, key: str) -> str:
    if not isinstance(value, str) or not _METHOD.fullmatch(value.upper()) or value.upper() == "CONNECT":
        raise _wrong(key, "a method like GET or POST", value)
    return value.upper()


def _headers(value: Any, key: str) -> list[tuple[str, list[str]]]:
    if not isinstance(value, dict):
        raise _wrong(key, "an object of text, or of lists of text,", value)
    return [(_header_name(name, key), _header_values(found, f"{key}.{name:.60}")) for name, found in value.items()]


def _header_name(name: str, key: str) -> str:
    if not _TOKEN.fullmatch(name):
        raise _wrong(key, "the name of a header", name)
    if name.lower() == "proxy-authorization":
        raise ArgumentError(f"{key}.{name}: proxies are the worker's business")
    return name


def _header_values(value: Any, key: str) -> list[str]:
    values = value if isinstance(value, list) else [value]
    for each in values:
        if not isinstance(each, str) or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", each):
            raise _wrong(key, "text without control characters, or a list of it,", each)
    return values


def _cookies(value: Any, key: str) -> Any:
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict) or not all(isinstance(found, str | int | float) for found in each.values()):
            raise _wrong(key, "an object of text, or a list of objects with name and value,", each)
        if isinstance(value, list) and not {"name", "value"} <= each.keys():
            raise _wrong(key, "an object with name and value", each)
    return value


def _body(value: Any, key: str) -> tuple[bytes, None]:
    if not isinstance(value, str):
        raise _wrong(key, "text", value)
    return _encoded(value, key), None


def _body_base64(value: Any, key: str) -> tuple[bytes, None]:
    try:
        return base64.b64decode(value, validate=True), None
    except (TypeError, ValueError, binascii.Error):
        raise _wrong(key, "base64", value) from None


def _json(value: Any, key: str) -> tuple[bytes, str]:
    return _encoded(json.dumps(value, ensure_ascii=False), key), "application/json"


def _form(value: Any, key: str) -> tuple[bytes, str]:
    if not isinstance(value, dict):
        raise _wrong(key, "an object", value)
    pairs = [(name, _field(each, f"{key}.{name:.60}")) for name, found in value.items() for each in _listed(found)]
    try:
        return urlencode(pairs).encode(), "application/x-www-form-urlencoded"
    except UnicodeEncodeError:
        raise ArgumentError(f"{key}: it is no UTF-8") from None


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _field(value: Any, key: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise _wrong(key, "text, a number, or a list of them", value)
    return str(value)


def _encoded(text: str, key: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{key}: it is no UTF-8") from None


def _meta(value: Any, key: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(key, "an object", value)
    for name in value:
        if name in _NOT_FROM_OUTSIDE or name.startswith("fw_"):
            raise ArgumentError(f"{key}.{name:.60}: a seed cannot set this")
    return value


def priority_of(value: Any, key: str = "priority") -> int:
    """A priority, which may be text.

    Raises:
        ArgumentError: it is none.
    """
    number = value
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?[0-9]{1,10}\s*", value):
        number = int(value)
    if type(number) is int and abs(number) <= HIGHEST:  # True is an int as well
        return number
    raise ArgumentError(
        f"{key}: a whole number from -{HIGHEST} to {HIGHEST} is expected, not {value!r:.40}", fields=[key]
    )


def tier_of(value: Any, key: str = "tier") -> int:
    """What a tier adds to the priority.

    Raises:
        ArgumentError: there is no such tier.
    """
    if isinstance(value, str) and value.strip() in TIERS:
        return TIERS[value.strip()]
    raise ArgumentError(f"{key}: one of {', '.join(TIERS)} is expected, not {value!r:.40}", fields=[key])


def _cb_kwargs(value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(key, "an object", value)
    return value


def _dont_filter(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(key, "true or false", value)
    return value


#: each takes the value and the key, which errors name
READERS: dict[str, Callable[[Any, str], Any]] = {
    "url": _url,
    "method": _method,
    "headers": _headers,
    "cookies": _cookies,
    "body": _body,
    "body_base64": _body_base64,
    "json": _json,
    "form": _form,
    "formdata": _form,  # scrapy-redis's word
    "meta": _meta,
    "priority": priority_of,
    "tier": tier_of,
    "callback": lambda value, _: value,  # the spider knows it
    "cb_kwargs": _cb_kwargs,
    "dont_filter": _dont_filter,
}
