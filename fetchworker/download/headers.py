"""The header lines of one request, as the browser of a profile would send them: pure, and a few microseconds each.

:func:`request_head` gives curl what it needs: lines for ``HTTPHEADER`` in HTTP/1 spelling (curl writes names in lower
case on HTTP/2), the order of all names for ``HTTPHEADER_ORDER`` (it also places what curl writes itself: Host,
Content-Length, Cookie), and the value for ``COOKIE`` (curl splits it into crumbs on HTTP/2 and not on HTTP/1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from fetchworker.download.caller import caller_lines
from fetchworker.download.lines import encode, header_line, name_of, value_of
from fetchworker.download.origins import Origin, Site, farthest, origin_of, trim_referer
from fetchworker.download.plan import FETCH_MODES, plan_for
from fetchworker.errors import ArgumentError, ConfigError, ContradictionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Required, Unpack

    from fetchworker.download.profiles import Destination, Profile

_SAFE_METHODS = ("GET", "HEAD")
_TOLD = frozenset(("origin", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site"))
_EXPECT_FROM = 1024 * 1024


class RequestFields(TypedDict, total=False):
    """What :func:`request_head` asks about a request.

    ``destination`` is what the browser would be doing, ``method`` is in capitals, ``url`` http or https. All else may
    be left out:

    - ``referer``: URL of the page it comes from, whole; it is trimmed as browsers do. None: typed in (navigate), or a
      page of the same origin that does not tell (the others). A caller's Referer header stands for it, untrimmed.
    - ``initiator``: origin or URL of the page that asks, where it is not ``referer``'s.
    - ``caller_headers``: a known name's value replaces the profile's at its place, other names go where fetch() puts
      them. Those of the connection, the body's length and Scrapy's defaults are left out.
    - ``cookies``: ``name=value; …``, oldest first; a caller's Cookie header is used only when this is None.
    - ``body_length``: in bytes; None for no body. ``content_type``: the body's, unless a caller's header names it.
    - ``accept_language``: instead of the profile's.
    - ``reload``: the page is loaded again.
    - ``user_activated``: a navigation by a click or from the address bar (so unless told), not by a script.
    - ``redirect_urls``: earlier hops of this request.
    """

    destination: Required[Destination]
    method: Required[str]
    url: Required[str]
    referer: str | None
    initiator: str | None
    caller_headers: Sequence[tuple[bytes | str, bytes | str]]
    cookies: str | None
    body_length: int | None
    content_type: str | None
    accept_language: str | None
    reload: bool
    user_activated: bool
    redirect_urls: Sequence[str]


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What curl is given for one request.

    ``lines`` hold everything but Host, Content-Length and Cookie, which curl writes; ``order`` names those too.
    ``cookie`` is None for no cookies.
    """

    lines: list[bytes]
    order: bytes
    cookie: bytes | None


class _Story(NamedTuple):
    """Who asks whom for what: sec-fetch-*, Origin and Referer must all tell the same."""

    destination: Destination
    safe: bool
    page: str | None
    source: Origin
    target: Origin
    site: Site


def request_head(profile: Profile, **request: Unpack[RequestFields]) -> RequestHead:
    """The head of one request, as the browser of a profile sends it.

    Raises:
        ContradictionError: a caller's header contradicts the profile, or the rest of the request.
        ConfigError: it is no header.
        ArgumentError: ``url`` is no http or https URL.
    """
    target = origin_of(request["url"])
    if target is None:
        raise ArgumentError(f"no http or https URL: {request['url']}")
    values, repeats, cookie = _given(profile, request)
    plan = plan_for(profile, request["destination"], target.trustworthy, tuple(values))
    story = _story(values, request, target)
    if request.get("redirect_urls"):
        values.pop("sec-fetch-site", None)  # the caller's was that of the first hop
    _check_story(values, story)
    _add_story(values, profile, story, with_cookie=cookie is not None)
    _add_occasion(values, profile, story, request)
    lines = [line for name, fixed in plan.slots if (line := values.get(name, fixed)) is not None]
    if repeats:
        lines = _with_repeats(lines, values, repeats)
    _add_body_switches(lines, values, request["method"], request.get("body_length"))
    _refuse_breaks(lines, cookie)
    return RequestHead(lines, plan.order, cookie)


def request_headers(profile: Profile, **request: Unpack[RequestFields]) -> list[bytes]:
    """:func:`request_head` as one list, with Content-Length and a single Cookie line at their places."""
    head = request_head(profile, **request)
    lines, length = list(head.lines), request.get("body_length")
    if head.cookie is not None:
        lines.append(header_line("Cookie", head.cookie))
    if length is not None and (length or request["method"] not in _SAFE_METHODS):
        lines.append(b"Content-Length: %d" % length)
    places = {name: place for place, name in enumerate(head.order.lower().split(b","))}
    return sorted(lines, key=lambda line: places.get(name_of(line), len(places)))


def _given(
    profile: Profile, request: RequestFields
) -> tuple[dict[str, bytes], Sequence[tuple[str, bytes]], bytes | None]:
    """The caller's lines by name, further ones of the same names, and the cookies."""
    own = request.get("caller_headers")
    values, repeats = caller_lines(profile, own) if own else ({}, [])
    own_cookie, cookies = values.pop("cookie", None), request.get("cookies")
    cookie = encode(cookies) if cookies else (own_cookie and value_of(own_cookie)) or None
    _set(values, "Content-Type", request.get("content_type"))
    _set(values, "Accept-Language", request.get("accept_language"))
    return values, repeats, cookie


def _story(values: Mapping[str, bytes], request: RequestFields, target: Origin) -> _Story:
    destination, safe = request["destination"], request["method"] in _SAFE_METHODS
    page, source = _asker(values, request.get("referer"), request.get("initiator"))
    site = _site(source, target, request.get("redirect_urls", ()), typed=destination == "navigate" and safe)
    return _Story(destination, safe, page, source or target, target, site)


def _check_story(values: Mapping[str, bytes], story: _Story) -> None:
    """What a caller says about who asks whom for what must be what all else says."""
    if not _TOLD.intersection(values):
        return
    mode, kind = FETCH_MODES[story.destination]
    true: dict[str, tuple[bytes, ...]] = {
        "sec-fetch-site": (story.site.encode(),),
        "sec-fetch-mode": (mode,),
        "sec-fetch-dest": (kind,),
    }
    if story.destination == "xhr" or not story.safe:
        true["origin"] = (story.source.text.encode(), b"null")
    for name in true.keys() & values.keys():
        said = value_of(values[name])
        if said not in true[name]:
            raise ContradictionError(
                f"the header {name} says {said.decode('latin-1')!r}, but by referer, address and fw_destination the "
                f"request is {true[name][0].decode()!r}: leave it out, or change these",
                header=name,
            )


def _add_occasion(values: dict[str, bytes], profile: Profile, story: _Story, request: RequestFields) -> None:
    """What a click and a reload add."""
    navigates = story.destination == "navigate"
    if navigates and profile.fetch_user and request.get("user_activated", True):
        values.setdefault("sec-fetch-user", b"Sec-Fetch-User: ?1")
    if request.get("reload") or (profile.post_revalidates and navigates and not story.safe):
        values.setdefault("cache-control", b"Cache-Control: max-age=0")


def _set(values: dict[str, bytes], name: str, value: str | None) -> None:
    if value is not None:
        values.setdefault(name.lower(), header_line(name, encode(value)))


def _asker(values: Mapping[str, bytes], referer: str | None, initiator: str | None) -> tuple[str | None, Origin | None]:
    """The page that asks and its origin, as far as they are known."""
    page = value_of(values["referer"]).decode("latin-1") if "referer" in values else referer
    claimed = value_of(values["origin"]).decode("latin-1") if "origin" in values else None
    source = next((origin for url in (initiator, page, claimed) if url and (origin := origin_of(url))), None)
    return page, source


def _site(source: Origin | None, target: Origin, redirect_urls: Sequence[str], *, typed: bool) -> Site:
    if source is None and typed:
        return "none"
    hops = [hop for url in redirect_urls if (hop := origin_of(url))] if redirect_urls else []
    return farthest(source or target, [*hops, target])


def _add_story(values: dict[str, bytes], profile: Profile, story: _Story, *, with_cookie: bool) -> None:
    values.setdefault("sec-fetch-site", b"Sec-Fetch-Site: " + story.site.encode())
    if story.page and "referer" not in values and (told := _referer(story.page, story.target)):
        values["referer"] = told
    if origin := _origin(story):
        values.setdefault("origin", b"Origin: " + origin)
    with_credentials = story.destination in ("image", "script") or (story.destination == "xhr" and with_cookie)
    if story.site == "cross-site" and profile.storage_access and with_credentials:
        _set(values, "Sec-Fetch-Storage-Access", profile.storage_access)


def _origin(story: _Story) -> bytes | None:
    """CORS requests tell their origin when they change something or leave it; of navigations, only forms do."""
    if story.destination == "xhr":
        return None if story.safe and story.site == "same-origin" else story.source.text.encode()
    if story.destination != "navigate" or story.safe:
        return None
    hidden = story.source.trustworthy and not story.target.trustworthy
    return b"null" if hidden else story.source.text.encode()


def _referer(page: str, target: Origin) -> bytes | None:
    origin = origin_of(page)
    told = trim_referer(page, origin, target) if origin else None
    return None if told is None else b"Referer: " + encode(told)


def _add_body_switches(lines: list[bytes], values: Mapping[str, bytes], method: str, body_length: int | None) -> None:
    if (body_length or method == "POST") and "content-type" not in values:
        lines.append(b"Content-Type:")  # no header; left alone, curl would call the body a form
    if body_length and body_length > _EXPECT_FROM:
        lines.append(b"Expect:")  # no header; curl would ask for 100-continue on HTTP/1, no browser does


def _with_repeats(
    lines: Iterable[bytes], values: Mapping[str, bytes], repeats: Iterable[tuple[str, bytes]]
) -> list[bytes]:
    all_lines: list[bytes] = []
    for line in lines:
        all_lines.append(line)
        all_lines += [more for name, more in repeats if values.get(name) is line]
    return all_lines


def _refuse_breaks(lines: Sequence[bytes], cookie: bytes | None) -> None:
    text = b"".join(lines) + (cookie or b"")
    if b"\n" in text or b"\r" in text or b"\0" in text:
        name = next((name_of(line) for line in lines if re.search(rb"[\r\n\0]", line)), b"cookie")
        raise ConfigError(f"a line break or NUL in the header {name.decode('latin-1')}", header=name.decode("latin-1"))
