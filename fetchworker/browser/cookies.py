"""Cookies between a session's jar and a browser context (pure).

A browser context is told all cookies of the jar; afterwards what is new or changed there goes back, and what is gone
there is deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Place = tuple[str, str, str]
"""Domain (with a dot first where subdomains get it too), path, name."""

_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None"}


class Kept(NamedTuple):
    """A cookie of a jar, as far as a browser is told of it; ``expires`` is POSIX time, None with the session."""

    domain: str
    path: str
    name: str
    value: str
    expires: float | None
    secure: bool
    http_only: bool
    same_site: str

    @property
    def place(self) -> Place:
        """What tells it from others."""
        return self.domain, self.path, self.name


class Changes(NamedTuple):
    """What a browser has made of the cookies that it was told."""

    written: list[Kept]
    gone: list[Kept]


def kept(cookies: Iterable[Any], now: float) -> list[Kept]:
    """The cookies of a jar that have not expired."""
    fields = ("domain", "path", "name", "value", "expires", "secure", "http_only", "same_site")
    made = (Kept(*(getattr(cookie, field) for field in fields)) for cookie in cookies)
    return [cookie for cookie in made if cookie.expires is None or cookie.expires > now]


def for_browser(cookies: Iterable[Kept]) -> Iterator[dict[str, Any]]:
    """The cookies in Playwright's form."""
    for cookie in cookies:
        said: dict[str, Any] = {
            "name": cookie.name,
            "value": _text(cookie.value),
            "domain": cookie.domain,
            "path": cookie.path,
            "secure": cookie.secure,
            "httpOnly": cookie.http_only,
        }
        if cookie.expires is not None:
            said["expires"] = cookie.expires
        if cookie.same_site in _SAME_SITE:
            said["sameSite"] = _SAME_SITE[cookie.same_site]
        yield said


def changes(before: Iterable[Kept], after: Iterable[Mapping[str, Any]]) -> Changes:
    """What has changed since the browser was told ``before``; ``after`` are cookies in Playwright's form."""
    told = {cookie.place: cookie for cookie in before}
    found = {cookie.place: cookie for cookie in map(_from_browser, after)}
    written = [cookie for place, cookie in found.items() if place not in told or not _same(told[place], cookie)]
    return Changes(written, [cookie for place, cookie in told.items() if place not in found])


def _from_browser(cookie: Mapping[str, Any]) -> Kept:
    expires = cookie.get("expires", -1)
    return Kept(
        domain=cookie["domain"],
        path=cookie["path"],
        name=cookie["name"],
        value=cookie["value"].encode().decode("latin-1"),
        expires=None if expires is None or expires < 0 else float(expires),
        secure=bool(cookie.get("secure")),
        http_only=bool(cookie.get("httpOnly")),
        same_site=str(cookie.get("sameSite") or "").lower(),
    )


def _same(told: Kept, found: Kept) -> bool:
    """Whether it is what it was; a browser names a SameSite where none was told, and rounds times."""
    lasts = (told.expires is None) == (found.expires is None)
    return told.value == found.value and lasts and abs((told.expires or 0) - (found.expires or 0)) <= 1


def _text(value: str) -> str:
    """A jar's value is bytes as latin-1; what is UTF-8 in it is text to a browser."""
    raw = value.encode("latin-1")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return value
