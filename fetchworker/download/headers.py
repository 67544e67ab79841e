"""The header lines of one request, as the browser of a profile would send them: pure, and a few microseconds each.

``request_head`` gives curl what it needs: lines for ``HTTPHEADER`` in HTTP/1 spelling (curl writes names in lower case
on HTTP/2), the order of all names for ``HTTPHEADER_ORDER`` (it also places what curl writes itself: Host,
Content-Length, Cookie), and the value for ``COOKIE`` (curl splits it into crumbs on HTTP/2 and not on HTTP/1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.settings.default_settings import DEFAULT_REQUEST_HEADERS, USER_AGENT

from fetchworker.download.blink import HINTS, blink_order
from fetchworker.download.origins import Origin, Site, farthest, origin_of, trim_referer
from fetchworker.errors import ArgumentError, ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from fetchworker.download.profiles import Destination, Profile

#: a caller's: they belong to the connection or are written from the body
_DROPPED = frozenset(
    "connection content-length expect host http2-settings keep-alive proxy-authenticate proxy-authorization "
    "proxy-connection te trailer transfer-encoding upgrade".split()
)
#: a script cannot set them; where the profile has no place for one, a caller's is dropped
_BROWSERS_OWN = frozenset(
    "accept-charset dnt origin priority referer sec-fetch-dest sec-fetch-mode sec-fetch-site "
    "sec-fetch-storage-access sec-fetch-user upgrade-insecure-requests".split()
)
#: what Scrapy's own middlewares add where nobody asked for it
_SCRAPYS = {
    **{name.lower(): value.encode() for name, value in DEFAULT_REQUEST_HEADERS.items()},
    "accept-encoding": b", ".join(ACCEPTED_ENCODINGS),
    "user-agent": USER_AGENT.encode(),
}
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BRAND = re.compile(r'"([^"]*)";v="(\d+)')
_LOWER_ON_HTTP1 = "sec-ch-"
_EXPECT_FROM = 1024 * 1024
_SAFE_METHODS = ("GET", "HEAD")
_FETCH_MODES = {
    "navigate": (b"navigate", b"document"),
    "xhr": (b"cors", b"empty"),
    "image": (b"no-cors", b"image"),
    "script": (b"no-cors", b"script"),
}


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What curl is given for one request.

    ``lines`` hold everything but Host, Content-Length and Cookie, which curl writes; ``order`` names those too.
    ``cookie`` is None for no cookies.
    """

    lines: list[bytes]
    order: bytes
    cookie: bytes | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The slots of a kind of request in order, with the lines that never change, and the same as an order string."""

    slots: tuple[tuple[str, bytes | None], ...]
    order: bytes


def request_head(
    profile: Profile,
    *,
    destination: Destination,
    method: str,
    url: str,
    referer: str | None = None,
    initiator: str | None = None,
    caller_headers: Iterable[tuple[bytes | str, bytes | str]] = (),
    cookies: str | None = None,
    body_length: int | None = None,
    content_type: str | None = None,
    accept_language: str | None = None,
    reload: bool = False,
    user_activated: bool = True,
    redirect_urls: Sequence[str] = (),
) -> RequestHead:
    """The head of one request.

    Args:
        profile: the browser.
        destination: what the browser would be doing.
        method: in capitals.
        url: where it goes; http or https.
        referer: the page it comes from, whole; it is trimmed as browsers do. None: typed in (navigate), or a page
            that does not tell (the others).
        initiator: origin or URL of the page that asks, where it is not ``referer``'s.
        caller_headers: a known name's value replaces the profile's at its place, other names go where fetch() puts
            them. Those of the connection, the body's length and Scrapy's defaults are left out.
        cookies: ``name=value; …``, oldest first; a caller's Cookie header is used only when this is None.
        body_length: in bytes; None for no body.
        content_type: of the body, unless a caller's header names it.
        accept_language: instead of the profile's.
        reload: the page is loaded again.
        user_activated: a navigation by a click or from the address bar, not by a script.
        redirect_urls: earlier hops of this request.

    Raises:
        ConfigError: a caller's header contradicts the profile, or is no header.
        ArgumentError: ``url`` is no http or https URL.
    """
    plan, values, extras, cookie = _prepare(
        profile, destination, method, url, referer, initiator, caller_headers, cookies, content_type, redirect_urls
    )
    if accept_language is not None:
        values.setdefault("accept-language", _line("Accept-Language", accept_language.encode()))
    if reload or (profile.post_revalidates and destination == "navigate" and method not in _SAFE_METHODS):
        values.setdefault("cache-control", b"Cache-Control: max-age=0")
    if destination == "navigate" and user_activated and profile.fetch_user:
        values.setdefault("sec-fetch-user", b"Sec-Fetch-User: ?1")
    lines = [line for name, fixed in plan.slots if (line := values.get(name, fixed)) is not None]
    if extras:
        lines = _with_repeats(lines, values, extras)
    _add_body_switches(lines, values, method, body_length)
    _refuse_breaks(lines, cookie)
    return RequestHead(lines, plan.order, cookie)


def request_headers(
    profile: Profile,
    *,
    destination: Destination,
    method: str,
    url: str,
    referer: str | None = None,
    initiator: str | None = None,
    caller_headers: Iterable[tuple[bytes | str, bytes | str]] = (),
    cookies: str | None = None,
    body_length: int | None = None,
    content_type: str | None = None,
    accept_language: str | None = None,
    reload: bool = False,
    user_activated: bool = True,
    redirect_urls: Sequence[str] = (),
) -> list[bytes]:
    """:func:`request_head` as one list, with Content-Length and a single Cookie line at their places."""
    head = request_head(
        profile,
        destination=destination,
        method=method,
        url=url,
        referer=referer,
        initiator=initiator,
        caller_headers=caller_headers,
        cookies=cookies,
        body_length=body_length,
        content_type=content_type,
        accept_language=accept_language,
        reload=reload,
        user_activated=user_activated,
        redirect_urls=redirect_urls,
    )
    lines = list(head.lines)
    if head.cookie is not None:
        lines.append(_line("Cookie", head.cookie))
    if body_length is not None and (body_length or method not in _SAFE_METHODS):
        lines.append(b"Content-Length: %d" % body_length)
    places = {name: place for place, name in enumerate(head.order.lower().split(b","))}
    return sorted(lines, key=lambda line: places.get(_name_of(line), len(places)))


def _prepare(
    profile: Profile,
    destination: Destination,
    method: str,
    url: str,
    referer: str | None,
    initiator: str | None,
    caller_headers: Iterable[tuple[bytes | str, bytes | str]],
    cookies: str | None,
    content_type: str | None,
    redirect_urls: Sequence[str],
) -> tuple[_Plan, dict[str, bytes], list[tuple[str, bytes]], bytes | None]:
    target = origin_of(url)
    if target is None:
        raise ArgumentError(f"no http or https URL: {url}")
    values, extras = _callers(profile, caller_headers) if caller_headers else ({}, [])
    theirs = values.pop("cookie", None)
    cookie = _encode(cookies) if cookies else None if theirs is None else theirs.partition(b": ")[2]
    if content_type is not None:
        values.setdefault("content-type", _line("Content-Type", content_type.encode()))
    plan = _plan(profile, destination, target.trustworthy, tuple(values))
    told = values.get("referer")
    page = told.partition(b": ")[2].decode("latin-1") if told else referer
    _add_relation(values, profile, destination, method, target, page, initiator, redirect_urls, with_cookie=bool(cookie))
    return plan, values, extras, cookie


def _add_relation(
    values: dict[str, bytes],
    profile: Profile,
    destination: Destination,
    method: str,
    target: Origin,
    page: str | None,
    initiator: str | None,
    redirect_urls: Sequence[str],
    *,
    with_cookie: bool,
) -> None:
    """Sec-fetch-site, Origin and Referer tell one story: that of the page which asks."""
    page_origin = origin_of(page) if page else None
    source = (origin_of(initiator) if initiator else None) or page_origin
    typed = source is None and destination == "navigate" and method in _SAFE_METHODS
    source = source or target
    hops = [hop for url in redirect_urls if (hop := origin_of(url))] if redirect_urls else []
    site: Site = "none" if typed else farthest(source, [*hops, target])
    values.setdefault("sec-fetch-site", b"Sec-Fetch-Site: " + site.encode())
    if method not in _SAFE_METHODS or (destination == "xhr" and site != "same-origin"):
        hidden = destination == "navigate" and source.trustworthy and not target.trustworthy
        if destination in ("navigate", "xhr"):
            values.setdefault("origin", b"Origin: " + (b"null" if hidden else source.text.encode()))
    if page_origin and page and "referer" not in values and (told := trim_referer(page, page_origin, target)):
        values["referer"] = b"Referer: " + _encode(told)
    credentialed = destination in ("image", "script") or (destination == "xhr" and with_cookie)
    if profile.storage_access and site == "cross-site" and credentialed:
        values.setdefault("sec-fetch-storage-access", b"Sec-Fetch-Storage-Access: " + profile.storage_access.encode())


def _callers(
    profile: Profile, headers: Iterable[tuple[bytes | str, bytes | str]]
) -> tuple[dict[str, bytes], list[tuple[str, bytes]]]:
    """The caller's lines by lower-case name, and the second and later lines of names given more than once."""
    values: dict[str, bytes] = {}
    extras: list[tuple[str, bytes]] = []
    for raw_name, raw_value in headers:
        name = raw_name if isinstance(raw_name, str) else raw_name.decode("latin-1")
        value = _encode(raw_value).strip() if isinstance(raw_value, str) else raw_value.strip()
        key = name.lower()
        if key in _DROPPED or _SCRAPYS.get(key) == value:
            continue
        if not _TOKEN.fullmatch(name):
            raise ConfigError(f"{name!r} is no header name")
        if key == "user-agent" or key.startswith("sec-ch-"):
            _check_against(profile, key, value)
            if key in ("user-agent", *HINTS):
                continue
        if key in values:
            extras.append((key, _line(name, value)))
        else:
            values[key] = _line(name, value)
    return values, extras


def _check_against(profile: Profile, key: str, value: bytes) -> None:
    text = value.decode("latin-1")
    if key == "sec-ch-ua-full-version-list" and profile.sec_ch_ua:
        fits = sorted(_BRAND.findall(text)) == sorted(_BRAND.findall(profile.sec_ch_ua))
    elif key in ("user-agent", *HINTS):
        fits = text == getattr(profile, key.replace("-", "_"))
    else:
        fits = profile.sec_ch_ua is not None
    if not fits:
        raise ConfigError(
            f"the header {key} contradicts the impersonation profile {profile.name}: leave it out, or choose a profile "
            "that says so",
            header=key,
            profile=profile.name,
        )


@lru_cache(maxsize=2048)
def _plan(profile: Profile, destination: Destination, trustworthy: bool, names: tuple[str, ...]) -> _Plan:
    """The slots for a request whose caller sets ``names`` (lower case, in the caller's order)."""
    order = [slot for slot in profile.templates[destination].order if trustworthy or not _secure_only(slot)]
    fixed = _fixed(profile, destination, trustworthy)
    own = [name for name in names if name not in order and name not in _BROWSERS_OWN]
    if "blink" in order:
        mapped = {name for name in names if name in ("accept", "content-type")}.union(own)
        block = blink_order(frozenset(mapped), hints=trustworthy and profile.sec_ch_ua is not None)
        order = [slot for slot in order if slot not in mapped]
        order[order.index("blink") : order.index("blink") + 1] = block
    else:
        moved = [name for name in names if name in own or name == "content-type"] if destination == "xhr" else own
        order = [slot for slot in order if slot not in moved]
        order[order.index("custom") : order.index("custom") + 1] = moved
    return _Plan(
        slots=tuple((name, fixed.get(name)) for name in order),
        order=b",".join([b"Host", *(name.encode() for name in order)]),
    )


def _secure_only(slot: str) -> bool:
    # the Priority header and te are an HTTP/2 matter, and plain http is HTTP/1
    return slot.startswith("sec-") or slot in ("priority", "te")


def _fixed(profile: Profile, destination: Destination, trustworthy: bool) -> Mapping[str, bytes]:
    template = profile.templates[destination]
    mode, kind = _FETCH_MODES[destination]
    upgrade = destination == "navigate" and (profile.upgrade_insecure or not trustworthy)
    pairs: dict[str, str | bytes | None] = {
        "Connection": "keep-alive",
        "sec-ch-ua": profile.sec_ch_ua,
        "sec-ch-ua-mobile": profile.sec_ch_ua_mobile,
        "sec-ch-ua-platform": profile.sec_ch_ua_platform,
        "Upgrade-Insecure-Requests": "1" if upgrade else None,
        "User-Agent": profile.user_agent,
        "Accept": template.accept,
        "Sec-Fetch-Mode": mode,
        "Sec-Fetch-Dest": kind,
        "Accept-Encoding": profile.accept_encoding if trustworthy else "gzip, deflate",
        "Accept-Language": profile.accept_language,
        "Priority": template.priority,
        "TE": "trailers" if profile.trailers else None,
    }
    return {
        name.lower(): _line(name, _encode(value) if isinstance(value, str) else value)
        for name, value in pairs.items()
        if value is not None
    }


def _add_body_switches(lines: list[bytes], values: Mapping[str, bytes], method: str, body_length: int | None) -> None:
    if (body_length or method == "POST") and "content-type" not in values:
        lines.append(b"Content-Type:")  # curl would call it a form
    if (body_length or 0) > _EXPECT_FROM:
        lines.append(b"Expect:")  # curl asks for 100-continue on HTTP/1, no browser does


def _with_repeats(
    lines: Iterable[bytes], values: Mapping[str, bytes], extras: Iterable[tuple[str, bytes]]
) -> list[bytes]:
    repeated: list[bytes] = []
    for line in lines:
        repeated.append(line)
        repeated += [more for name, more in extras if values.get(name) is line]
    return repeated


def _refuse_breaks(lines: Sequence[bytes], cookie: bytes | None) -> None:
    text = b"".join(lines) + (cookie or b"")
    if b"\n" in text or b"\r" in text or b"\0" in text:
        bad = next((line for line in lines if any(c in line for c in b"\r\n\0")), b"cookie")
        raise ConfigError(f"a line break or NUL in the header {_name_of(bad).decode('latin-1')}")


def _line(name: str, value: bytes) -> bytes:
    # "Name;" is how curl is told to send an empty value; "Name:" would send nothing
    return name.encode() + (b": " + value if value else b";")


def _name_of(line: bytes) -> bytes:
    return re.split(rb"[:;]", line, maxsplit=1)[0].lower()


def _encode(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()
