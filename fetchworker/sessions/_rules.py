"""A cookie, and the rules that decide which are taken (RFC 6265bis 5.7): pure functions."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from fetchworker.errors import ArgumentError
from fetchworker.sessions._places import Place, default_path, domain_match, is_ip, is_public_suffix, path_match
from fetchworker.sessions._setcookie import CONTROL, MAX_PAIR, SetCookie

CookieKey = tuple[str, str, str]
"""Domain, path, name: a jar holds one cookie of each."""

_UNSENDABLE = re.compile(r"[^\t\x20-\x7e\x80-\xff]")
_NONE = type(None)
_ROW = (str, str, str, str, int, int, bool, bool, str, bool)
_EXPIRY = {_NONE, int, float}


class Cookie(NamedTuple):
    """A kept cookie.

    ``domain`` with a leading dot: subdomains get it too; without: this host alone. ``created`` and ``stamp`` (last
    write) are microseconds, no two in a jar alike; ``expires`` is POSIX time, None: with the session. ``loose``: a
    caller gave it for a URL and no more, it gives way to what a response sets under its name.
    """

    domain: str
    path: str
    name: str
    value: str
    created: int = 0
    stamp: int = 0
    expires: float | None = None
    secure: bool = False
    http_only: bool = False
    same_site: str = ""
    loose: bool = False

    @property
    def key(self) -> CookieKey:
        """What tells it from others."""
        return self[:3]

    @property
    def sort_key(self) -> tuple[int, int]:
        """Place among the cookies of a request."""
        return (-len(self.path), self.created)

    def expired(self, now: float) -> bool:
        """Whether it has ended."""
        return self.expires is not None and self.expires <= now

    @classmethod
    def from_row(cls, row: list[Any]) -> Cookie:
        """The cookie of a stored row; ValueError when the row is none, or could break a header."""
        kinds = [type(value) for value in row]
        if len(kinds) != len(cls._fields) or kinds.pop(6) not in _EXPIRY or tuple(kinds) != _ROW:
            raise ValueError("no cookie")
        if _UNSENDABLE.search(row[2]) or _UNSENDABLE.search(row[3]):
            raise ValueError("a cookie with bytes that no header may have")
        return cls._make(row)

    def __repr__(self) -> str:
        """Without the value, which may be a secret."""
        return f"<Cookie {self.name!r} for {self.domain}{self.path}>"


def accept(sent: SetCookie, place: Place, now: float) -> Cookie | None:
    """The cookie to keep of a Set-Cookie line that came from ``place``; None when it is refused."""
    domain = _scope(sent.domain, place.host)
    if domain is None or not _is_secure_enough(sent, place) or not _keeps_prefix_promise(sent):
        return None
    return Cookie(
        domain=domain,
        path=sent.path or default_path(place.path),
        name=sent.name,
        value=sent.value,
        expires=sent.expiry(now),
        secure=sent.secure,
        http_only=sent.http_only,
        same_site=sent.same_site,
    )


def _scope(asked: str | None, host: str) -> str | None:
    if asked is None:
        return host
    if not asked.isascii() or not domain_match(host, asked):
        return None
    if is_ip(host):
        return host
    if is_public_suffix(asked):
        return host if asked == host else None
    return "." + asked


def _is_secure_enough(sent: SetCookie, place: Place) -> bool:
    return (place.secure or not sent.secure) and (sent.secure or sent.same_site != "none")


def _keeps_prefix_promise(sent: SetCookie) -> bool:
    """``__Secure-`` and ``__Host-``; a nameless cookie must not look like one of them on the wire."""
    whole_host = sent.domain is None and sent.path == "/"
    return _prefix_fits(sent.name or sent.value, secure=sent.secure and bool(sent.name), whole_host=whole_host)


def _prefix_fits(name: str, *, secure: bool, whole_host: bool) -> bool:
    name = name.lower()
    if name.startswith("__host-"):
        return secure and whole_host
    return secure or not name.startswith("__secure-")


def shadows(old: Cookie, new: Cookie, now: float) -> bool:
    """Whether ``new``, from an insecure page, would hide the secure cookie ``old``: then it is refused."""
    if not old.secure or old.name != new.name or old.expired(now):
        return False
    one, other = old.domain.removeprefix("."), new.domain.removeprefix(".")
    return (domain_match(one, other) or domain_match(other, one)) and path_match(new.path, old.path)


def displaces(new: Cookie, loose: CookieKey) -> bool:
    """Whether ``new`` goes wherever the loose cookie would, under the same name."""
    domain, path, name = loose
    if name != new.name or new.key == loose or not path_match(path, new.path):
        return False
    return domain == new.domain or (new.domain.startswith(".") and domain_match(domain, new.domain[1:]))


def check_caller_cookie(name: str, value: str | bytes, *, domain: str, path: str, secure: bool) -> Cookie:
    """A caller's cookie, marked as loose; ArgumentError when it could not be sent. The value is never shown."""
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    label, text = name.encode("utf-8", "surrogatepass").decode("latin-1"), data.decode("latin-1")
    if not name or name != name.strip() or CONTROL.search(name) or set(name) & set("=;"):
        raise ArgumentError(
            f"{name!r} is no cookie name: it must not be empty or hold =, ; or control characters",
            fields=[f"cookies.{name}"],
        )
    if CONTROL.search(text) or ";" in text or text != text.strip(" \t"):
        raise ArgumentError(
            f"cookie {name!r}: the value holds ; or control characters, or blanks at an end", fields=[f"cookies.{name}"]
        )
    if len(label) + len(text) > MAX_PAIR:
        raise ArgumentError(
            f"cookie {name!r}: name and value are longer than {MAX_PAIR} bytes", fields=[f"cookies.{name}"]
        )
    if not path.startswith("/") or CONTROL.search(path):
        raise ArgumentError(f"cookie {name!r}: the path must begin with /", fields=[f"cookies.{name}"])
    if not _prefix_fits(label, secure=secure, whole_host=not domain.startswith(".") and path == "/"):
        raise ArgumentError(
            f"cookie {name!r}: its prefix asks for secure, and __Host- for one host and the path / too",
            fields=[f"cookies.{name}"],
        )
    return Cookie(domain, path, label, text, secure=secure, loose=True)
