"""What a page of the Meta family gives a guest for later requests (pure).

Tokens of the session (``lsd``, ``csrf``), what is computed from them (``jazoest``), values of the build and ids of
stored queries. Runs over every page fetched with ``harvest``; a miss is no error. Places seen
on recorded pages of facebook, instagram, threads and the Ad Library, 2023 to 2026.
"""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.contracts import Page

_LSD = re.compile(rb'"LSD"\s*,\s*\[\s*\]\s*,\s*\{\s*"token"\s*:\s*"([\w-]+)"')
_EQMC = re.compile(rb'<script id="__eqmc"[^<>]{0,200}>\s{0,40}(\{[^<]{0,2000}\})\s{0,40}</script>')
_EQMC_JAZOEST = re.compile(r"[?&]jazoest=(\d+)")
_CSRF = re.compile(rb'"csrf_token"\s*:\s*"([\w-]+)"')
_CSRF_COOKIE = re.compile(r"csrftoken=([\w-]+)")
_APP_ID = re.compile(rb'"X-IG-App-ID"\s*:\s*"(\d+)"')
_SITE_DATA = re.compile(rb'"SiteData"\s*,\s*\[\s*\]\s*,\s*\{')
_SITE_VALUES = re.compile(
    rb'"(client_revision|haste_session|hsi|comet_env|__spin_r|__spin_b|__spin_t)"\s*:\s*(?:"([^"\\]{1,200})"|(\d+))'
)
_QUERY_ID = re.compile(r'"queryID"\s*:\s*"(\d{5,25})"')
_PRELOADER = re.compile(r"adp_(\w+?)(?:RelayPreloader_\w+)?\Z")
_MODULE = re.compile(
    rb'__d\("(\w{1,200})_(facebook|instagram|threads)RelayOperation".{0,300}?exports\s*=\s*"(\d{5,25})"', re.DOTALL
)
#: a script may hold one query for several brands: the site's own is the one that is not facebook's
_SHARED_BRAND = b"facebook"
#: what names of tokens that are ids of stored queries begin with
DOC = "doc:"
_SITE_DATA_LENGTH = 8_000
#: how far before ``queryID`` its object may begin, and how many of them are read
_OBJECT_LENGTH, _MOST_QUERIES, _MOST_MODULES = 6_000, 100, 2_000
_MOST_OPENINGS = 12
_DECODER = json.JSONDecoder()


def extract(page: Page) -> dict[str, str]:
    """Tokens by name: ``lsd``, ``jazoest``, ``csrf``, ``app_id``, the build's values, ``doc:<QueryName>``."""
    body = page.body
    found = {**_eqmc(body), **_site_data(body)}
    for name, pattern in (("lsd", _LSD), ("csrf", _CSRF), ("app_id", _APP_ID)):
        match = pattern.search(body)
        if match:
            found[name] = match.group(1).decode()
    if "lsd" in found:
        found["jazoest"] = jazoest(found["lsd"])
    for cookie in page.headers.get("set-cookie", ()):
        match_cookie = _CSRF_COOKIE.match(cookie)
        if match_cookie:
            found["csrf"] = match_cookie.group(1)
    return {**found, **modules(body), **dict(_preloaded(body))}


def jazoest(lsd: str) -> str:
    """The check value of an lsd: the digit 2, then the sum of its character codes."""
    return f"2{sum(map(ord, lsd))}"


def _eqmc(body: bytes) -> dict[str, str]:
    """lsd, jazoest and hsi out of the page's short block of them."""
    match = _EQMC.search(body)
    try:
        block = orjson.loads(match.group(1)) if match else {}
    except orjson.JSONDecodeError:
        return {}
    address = _EQMC_JAZOEST.search(str(block.get("u", "")))
    told = {"lsd": block.get("l"), "hsi": block.get("e"), "jazoest": address.group(1) if address else None}
    return {name: value for name, value in told.items() if isinstance(value, str) and value}


def _site_data(body: bytes) -> dict[str, str]:
    match = _SITE_DATA.search(body)
    if match is None:
        return {}
    values = _SITE_VALUES.findall(body, match.end(), match.end() + _SITE_DATA_LENGTH)
    return {name.decode().strip("_"): (one or other).decode(errors="replace") for name, one, other in values}


def modules(body: bytes) -> dict[str, str]:
    """Ids of stored queries that a script defines, as ``doc:<QueryName>``."""
    found: dict[str, str] = {}
    for match in islice(_MODULE.finditer(body), _MOST_MODULES):
        name, brand, number = match.groups()
        token = f"{DOC}{name.decode()}"
        if brand != _SHARED_BRAND or token not in found:
            found[token] = number.decode()
    return found


def _preloaded(body: bytes) -> Iterator[tuple[str, str]]:
    """Ids of the queries that the page runs, out of the objects that pair a preloader with its ``queryID``."""
    if b'"queryID"' not in body:
        return
    text = body.decode("latin-1")
    for number, match in enumerate(_QUERY_ID.finditer(text)):
        if number >= _MOST_QUERIES:
            return
        name = _query_name(_enclosing(text, match.start()))
        if name:
            yield f"{DOC}{name}", match.group(1)


def _enclosing(text: str, position: int) -> dict[str, Any]:
    """The JSON object around ``position`` that holds ``queryID`` itself; empty when none can be read."""
    opening, lowest = position, max(0, position - _OBJECT_LENGTH)
    for _ in range(_MOST_OPENINGS):
        opening = text.rfind("{", lowest, opening)
        if opening < 0:
            break
        try:
            found, end = _DECODER.raw_decode(text[opening : position + _OBJECT_LENGTH])
        except (ValueError, RecursionError):
            continue
        if "queryID" in found and opening + end > position:
            return dict(found)
    return {}


def _query_name(entry: dict[str, Any]) -> str | None:
    preloader = _PRELOADER.match(str(entry.get("preloaderID", "")))
    name = entry.get("queryName")
    if isinstance(name, str) and name.isidentifier():
        return name
    return preloader.group(1) if preloader else None
