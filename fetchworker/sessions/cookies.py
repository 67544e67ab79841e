"""A cookie jar that keeps, orders and sends cookies as Chromium does (RFC 6265bis), and that two processes can share.

Every write and deletion carries a stamp: microseconds of the clock, raised where needed above all that the jar has
seen. A store keeps, for each cookie, whatever has the higher stamp, so that merging two copies of a jar brings back
neither an older value nor a deleted cookie. The jar does no I/O and reads no clock: ``now`` is POSIX time in seconds.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from fetchworker.errors import ArgumentError, SessionDamagedError
from fetchworker.sessions._places import (
    Place,
    canonical_host,
    domain_keys,
    is_ip,
    is_public_suffix,
    locate,
    path_match,
)
from fetchworker.sessions._rules import Cookie, CookieKey, accept, check_caller_cookie, displaces, shadows
from fetchworker.sessions._setcookie import MAX_AGE, parse_set_cookie

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

FORMAT = 1  #: version of :meth:`CookieJar.to_dict`
MAX_PER_DOMAIN = 180  #: cookies of one domain, as in Chromium
MAX_COOKIES = 3000  #: cookies in all, as in Chromium
MAX_DELETED = 300  #: deletions that are remembered for merging
REMEMBER_DELETED = 3600.0  #: seconds for which they are

_order = attrgetter("sort_key")


class JarChanges(NamedTuple):
    """What a store has to write: ``dropped`` are entries to forget if they still bear the stamp."""

    since: int
    cookies: list[Cookie]
    deleted: list[tuple[CookieKey, int]]
    dropped: list[tuple[CookieKey, int]]


class CookieJar:
    """The cookies of one identity.

    Order of sending: longer paths first, then the cookie that is there for longest; a cookie that gets a new value
    counts as new, one that is set again to the value it had does not (Chromium's ``CookieMonster``, seen 2026-11).
    ``Partitioned`` is ignored: every request counts as made from its own site.
    """

    __slots__ = ("_clock", "_cookies", "_count", "_deleted", "_dropped", "_loose", "_saved")

    def __init__(self) -> None:
        self._cookies: dict[str, dict[tuple[str, str], Cookie]] = {}
        self._count = 0
        self._loose: set[CookieKey] = set()
        self._deleted: dict[CookieKey, int] = {}
        self._dropped: dict[CookieKey, int] = {}
        self._clock = 0
        self._saved = 0

    # What goes out

    def header(self, url: str, now: float, *, top_level: bool = True) -> list[tuple[str, str]]:
        """Name and value of each cookie for a request to ``url``, in order.

        ``top_level`` False is a request that a page of another site makes: only ``SameSite=None`` cookies go along.
        Values are latin-1 text: encoded as such they are the bytes that the site sent.
        """
        place = locate(url)
        if place is None:
            return []
        return [(c.name, c.value) for c in self._sent(place, now) if top_level or c.same_site == "none"]

    def cookie_header(self, url: str, now: float, *, top_level: bool = True) -> str | None:
        """The value of the one ``Cookie`` header, None when there is nothing to send; encode it as latin-1."""
        pairs = self.header(url, now, top_level=top_level)
        return "; ".join([f"{name}={value}" if name else value for name, value in pairs]) or None

    def get(self, name: str, url: str, now: float) -> str | None:
        """The value of the cookie ``name`` that a request to ``url`` would carry first, or None."""
        return next((value for found, value in self.header(url, now) if found == name), None)

    def _sent(self, place: Place, now: float) -> list[Cookie]:
        _, path, secure, domains = place
        cookies = self._cookies
        found = [
            cookie
            for domain in domains
            if domain in cookies
            for cookie in cookies[domain].values()
            if (cookie.expires is None or cookie.expires > now)
            and (secure or not cookie.secure)
            and (cookie.path == "/" or path_match(path, cookie.path))
        ]
        if len(found) > 1:
            found.sort(key=_order)
        return found

    # What comes in

    def set_from_response(self, url: str, set_cookie_headers: Sequence[str | bytes], now: float) -> int:
        """Take the ``Set-Cookie`` lines of the answer from ``url``; how many were taken, deletions included.

        What a browser would refuse is ignored; no input raises.
        """
        place = locate(url)
        if place is None:
            return 0
        lines = [set_cookie_headers] if isinstance(set_cookie_headers, str | bytes) else set_cookie_headers
        return sum(self._receive(place, line, now) for line in lines)

    def _receive(self, place: Place, line: str | bytes, now: float) -> bool:
        sent = parse_set_cookie(line)
        cookie = accept(sent, place, now) if sent else None
        if cookie is None or (not place.secure and any(shadows(old, cookie, now) for old in self._all())):
            return False
        self._write(cookie, now)
        return True

    def set(self, name: str, value: str | bytes, *, url: str, now: float) -> None:
        """Take a caller's ``name=value`` for requests to ``url``.

        It replaces the cookie of that name that ``url`` would get, whatever its domain and path, so that only one is
        sent; without such it goes to all paths of this host, until a response sets the name. Text is sent as UTF-8.

        Raises:
            ArgumentError: the cookie could not be sent, or ``url`` is no http(s) URL.
        """
        place = locate(url)
        if place is None:
            raise ArgumentError(f"cookie {name!r}: its URL is no http or https URL", fields=[f"cookies.{name}"])
        secure = place.secure and name.lower().startswith(("__secure-", "__host-"))
        cookie = check_caller_cookie(name, value, domain=place.host, path="/", secure=secure)
        self._set_loose(cookie, place, now)

    def add(
        self,
        name: str,
        value: str | bytes,
        *,
        domain: str,
        now: float,
        path: str = "/",
        host_only: bool = False,
        secure: bool = False,
        http_only: bool = False,
        same_site: str = "",
        expires: float | None = None,
    ) -> None:
        """Take a cookie whose scope is known, from a browser or a cookie file; ``expires`` is POSIX time.

        Raises:
            ArgumentError: no browser would hold this cookie; the message says why.
        """
        host = canonical_host(domain.removeprefix("."))
        if host is None:
            raise ArgumentError(f"cookie {name!r}: {domain!r} is no domain", fields=[f"cookies.{name}"])
        if not host_only and not is_ip(host):
            if is_public_suffix(host):
                raise ArgumentError(
                    f"cookie {name!r}: {domain!r} is a public suffix; set it for one host (host_only)",
                    fields=[f"cookies.{name}"],
                )
            host = "." + host
        cookie = check_caller_cookie(name, value, domain=host, path=path, secure=secure)
        end = None if expires is None else min(expires, now + MAX_AGE)
        kind = same_site.lower()
        self._write(cookie._replace(http_only=http_only, same_site=kind, expires=end, loose=False), now)

    def merge(self, other: CookieJar, now: float) -> None:
        """Put all that ``other`` holds, its deletions too, over what is here: ``other`` wins."""
        events: list[tuple[int, Cookie | CookieKey]] = [(cookie.stamp, cookie) for cookie in other._all()]
        events += [(stamp, key) for key, stamp in other._deleted.items()]
        for _, event in sorted(events, key=lambda event: event[0]):
            if not isinstance(event, Cookie):
                self._delete(event, now)
            elif event.loose:
                self._set_loose(event, Place(event.domain, event.path, True, domain_keys(event.domain)), now)
            else:
                self._write(event, now)

    def purge(self, now: float) -> None:
        """Forget expired cookies and deletions older than :data:`REMEMBER_DELETED`."""
        for cookie in [cookie for cookie in self._all() if cookie.expired(now)]:
            self._drop(cookie)
        horizon = (now - REMEMBER_DELETED) * 1e6
        for key in [key for key, stamp in self._deleted.items() if stamp < horizon]:
            self._dropped[key] = self._deleted.pop(key)

    # What a store needs

    @property
    def version(self) -> int:
        """Rises with every change."""
        return self._clock

    @property
    def dirty(self) -> bool:
        """Whether there are changes that no store has."""
        return self._clock > self._saved

    def next_stamp(self, now: float) -> int:
        """A stamp above all that the jar has seen."""
        self._clock = max(self._clock + 1, int(now * 1e6))
        return self._clock

    def take_changes(self) -> JarChanges:
        """What changed since the last call (or the loading); the jar counts as saved from here on."""
        since, self._saved = self._saved, self._clock
        cookies = [cookie for cookie in self._all() if cookie.stamp > since]
        deleted = [(key, stamp) for key, stamp in self._deleted.items() if stamp > since]
        dropped, self._dropped = list(self._dropped.items()), {}
        return JarChanges(since, cookies, deleted, dropped)

    def give_back(self, changes: JarChanges) -> None:
        """The changes could not be saved: they count as unsaved again."""
        self._saved = min(self._saved, changes.since)

    def unsave(self) -> None:
        """No store has any of it: the next save sends all."""
        self._saved = 0

    def to_dict(self) -> dict[str, Any]:
        """The jar as plain JSON values, to be read by :meth:`from_dict`."""
        return {
            "v": FORMAT,
            "clock": self._clock,
            "saved": self._saved,
            "cookies": [list(cookie) for cookie in self],
            "deleted": [[*key, stamp] for key, stamp in self._deleted.items()],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The jar that :meth:`to_dict` wrote.

        Raises:
            SessionError: a newer version wrote it, or it is damaged.
        """
        if data.get("v") != FORMAT:
            raise SessionDamagedError(
                f"a cookie jar of format {data.get('v')!r} cannot be read, this version knows {FORMAT}"
            )
        jar = cls()
        try:
            for row in data["cookies"]:
                jar._insert(Cookie.from_row(row))
            jar._deleted = {(domain, path, name): int(stamp) for domain, path, name, stamp in data["deleted"]}
            jar._clock, jar._saved = int(data["clock"]), int(data["saved"])
        except (KeyError, TypeError, ValueError) as error:
            raise SessionDamagedError("a stored cookie jar is damaged") from error
        return jar

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Cookie]:
        """All cookies, expired ones too, the oldest first."""
        return iter(sorted(self._all(), key=lambda cookie: cookie.created))

    def __repr__(self) -> str:
        return f"<CookieJar of {self._count}>"

    # How it is kept

    def _all(self) -> Iterable[Cookie]:
        return (cookie for kept in self._cookies.values() for cookie in kept.values())

    def _write(self, cookie: Cookie, now: float) -> None:
        if cookie.expired(now):
            self._delete(cookie.key, now)
        else:
            self._put(cookie, now)
        for key in [key for key in self._loose if displaces(cookie, key)]:
            self._delete(key, now)

    def _set_loose(self, cookie: Cookie, place: Place, now: float) -> None:
        first, *others = [old for old in self._sent(place, now) if old.name == cookie.name] or [cookie]
        self._put(first._replace(value=cookie.value), now)
        for other in others:
            self._delete(other.key, now)

    def _put(self, cookie: Cookie, now: float) -> None:
        old = self._cookies.get(cookie.domain, {}).get((cookie.path, cookie.name))
        again = old is not None and old.value == cookie.value and not old.expired(now)
        stamp = self.next_stamp(now)
        self._insert(cookie._replace(stamp=stamp, created=old.created if old and again else stamp))
        self._deleted.pop(cookie.key, None)
        if len(self._cookies[cookie.domain]) > MAX_PER_DOMAIN:
            self._evict(list(self._cookies[cookie.domain].values()), now)
        elif self._count > MAX_COOKIES:
            self._evict(list(self._all()), now)

    def _evict(self, crowd: list[Cookie], now: float) -> None:
        """Make room: the expired go, else the one that was written least recently."""
        for cookie in [c for c in crowd if c.expired(now)] or [min(crowd, key=lambda c: c.stamp)]:
            self._drop(cookie)

    def _delete(self, key: CookieKey, now: float) -> None:
        self._remove(key)
        self._deleted.pop(key, None)
        self._deleted[key] = self.next_stamp(now)
        if len(self._deleted) > MAX_DELETED:
            oldest = next(iter(self._deleted))
            self._dropped[oldest] = self._deleted.pop(oldest)

    def _drop(self, cookie: Cookie) -> None:
        self._remove(cookie.key)
        self._dropped[cookie.key] = cookie.stamp

    def _insert(self, cookie: Cookie) -> None:
        kept = self._cookies.setdefault(cookie.domain, {})
        place = (cookie.path, cookie.name)
        self._count += place not in kept
        kept[place] = cookie
        (self._loose.add if cookie.loose else self._loose.discard)(cookie.key)

    def _remove(self, key: CookieKey) -> None:
        domain, path, name = key
        kept = self._cookies.get(domain, {})
        if kept.pop((path, name), None) is None:
            return
        self._count -= 1
        self._loose.discard(key)
        if not kept:
            del self._cookies[domain]
