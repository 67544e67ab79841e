"""What a seed may say, for spiders of any Scrapy project: a plain address, or a JSON object (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy_redis.spiders import RedisMixin

from fetchworker.errors import ArgumentError, UnqueueableError
from fetchworker.frontier.codec import encode, is_callback
from fetchworker.frontier.seedkeys import HIGHEST, READERS, TIERS, priority_of, tier_of

if TYPE_CHECKING:
    from scrapy import Spider

__all__ = ["HIGHEST", "TIERS", "priority_of", "request_of", "requests_of", "seed_request", "tier_of"]

#: the largest seed (bytes)
LARGEST = 8 * 1024 * 1024
_CONTENT = ("body", "body_base64", "json", "form", "formdata")


def requests_of(raw: bytes, spider: Spider) -> list[Request]:
    """The requests for a seed: the spider's own way to make them, else :func:`seed_request`.

    A spider has its own way with a method ``seed_request``, or with a ``make_request_from_data`` other than
    scrapy-redis's, which would drop headers and cookies and take keys that it does not know for a form.

    Raises:
        ArgumentError: the seed names no request. What the spider's own method raises goes through.
    """
    own = getattr(spider, "seed_request", None)
    if own is None:
        own = getattr(spider, "make_request_from_data", None)
        if getattr(own, "__func__", None) is RedisMixin.make_request_from_data:
            own = None
    made = seed_request(raw, spider) if own is None else own(raw)
    found = [made] if isinstance(made, Request) else list(made) if isinstance(made, Iterable) else []
    if not found or not all(isinstance(request, Request) for request in found):
        raise ArgumentError(f"{spider.name} makes no request of this seed")
    return found


def request_of(raw: bytes, spider: Spider) -> Request:
    """:func:`requests_of` where a seed is one request.

    Raises:
        ArgumentError: the seed names no request, or several.
    """
    found = requests_of(raw, spider)
    if len(found) > 1:
        raise ArgumentError(f"{spider.name} makes {len(found)} requests of this seed: one is expected")
    return found[0]


def seed_request(raw: bytes, spider: Spider) -> Request:
    """The request for an address or a JSON object (docs/crawls.md lists the keys).

    Raises:
        ArgumentError: naming the key that is wrong, and what is expected.
    """
    text = _text_of(raw, getattr(spider, "redis_encoding", None) or "utf-8")
    values = {"url": text} if re.match(r"https?://", text, re.IGNORECASE) else _object(text)
    request = _request(values, spider)
    try:
        encode(request, spider)  # while the seed is still there to be put aside
    except UnqueueableError as exc:
        raise ArgumentError(exc.message) from None
    return request


def _text_of(raw: bytes, encoding: str) -> str:
    if len(raw) > LARGEST:
        raise ArgumentError(f"the seed has {len(raw)} bytes, more than {LARGEST}")
    try:
        text = raw.decode(encoding).strip()
    except UnicodeDecodeError:
        raise ArgumentError(f"the seed is not {encoding.upper()}") from None
    if not text:
        raise ArgumentError("the seed is empty")
    return text


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_number, object_pairs_hook=_unique)
    except RecursionError:
        raise ArgumentError("the seed is nested too deep") from None
    except ValueError:
        raise ArgumentError("the seed is neither an http(s) address nor JSON") from None
    if not isinstance(value, dict):
        raise ArgumentError(f"the seed is JSON, but no object: {type(value).__name__}")
    return value


def _no_number(name: str) -> float:
    raise ArgumentError(f"the seed holds {name}, which is no JSON")


def _number(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ArgumentError(f"the seed holds the number {text:.40}, which is too large")
    return number


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ArgumentError(f"the seed has the key {name!r:.80} twice")
        found[name] = value
    return found


def _request(values: dict[str, Any], spider: Spider) -> Request:
    _know(values)
    read = {key: READERS[key](value, key) for key, value in values.items()}
    priority = read.pop("priority", 0) + read.pop("tier", 0)
    if "callback" in read:
        read["callback"] = _callback(read["callback"], spider)
    content = [key for key in _CONTENT if key in read]
    if len(content) > 1:
        raise ArgumentError(f"{content[0]} and {content[1]} contradict each other: give one of them")
    if content:
        _add_content(read, content[0], read.pop(content[0]))
    read.setdefault("dont_filter", True)
    try:
        return Request(priority=priority, **read)
    except ValueError as exc:
        raise ArgumentError(f"url: {exc!s:.200}") from None


def _know(values: dict[str, Any]) -> None:
    for key in values:
        if key not in READERS:
            close = get_close_matches(key[:80], READERS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "the fields of a form go into 'form'"
            raise ArgumentError(f"unknown key {key!r:.80} ({hint})")
    if "url" not in values:
        raise ArgumentError("url: it is missing")


def _add_content(read: dict[str, Any], key: str, content: tuple[bytes, str | None]) -> None:
    read["body"], kind = content
    method = read.setdefault("method", "POST")
    if key.startswith("form") and method in ("GET", "HEAD"):
        raise ArgumentError(f"{key}: {method} sends no form; write the fields into the url")
    names = [name.lower() for name, _ in read.get("headers", [])]
    if kind is not None and "content-type" not in names:
        read["headers"] = [*read.get("headers", []), ("Content-Type", [kind])]


def _callback(name: Any, spider: Spider) -> Any:
    if not isinstance(name, str) or name.startswith("_") or not is_callback(spider, name):
        raise ArgumentError(f"callback: {spider.name} has no public method {name!r:.80} for answers")
    return getattr(spider, name)
