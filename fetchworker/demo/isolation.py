"""Do identities stay apart? What the server's log proves, and a site whose answers leave marks to follow.

Whoever sends the requests names its identity in the header :data:`IDENTITY`, which no real site is sent (benchmarks and
tests stamp it on); all else is what any site could see.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from fetchworker.demo.hello import EARLY_DATA, PRE_SHARED_KEY, is_grease
from fetchworker.demo.lab import redirect, text
from fetchworker.demo.log import shared_between_identities
from fetchworker.demo.model import Reply, RequestInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from fetchworker.demo.log import Record

#: the header with the identity that the sender means
IDENTITY = "x-test-identity"
#: what stands before the mark in the name of each cookie that the site gives
_MARK = "mark"
#: extensions that a connection has because of what went before, and of its place
_OF_THE_MOMENT = frozenset({PRE_SHARED_KEY, EARLY_DATA})


class MarkingSite:
    """Gives each identity a cookie that names it, on every answer anew, and is unkind to it in several ways.

    ``/page``, ``/image`` and ``/data`` answer. ``/flaky`` does at an identity's second try (503 before), ``/hops``
    leads over another host and back, ``/blocked`` refuses every third identity that comes (403).
    """

    def __init__(self, hosts: tuple[str, str]) -> None:
        self._hosts = hosts
        self._numbers = itertools.count(1)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._refused: dict[str, bool] = {}

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer."""
        identity = request.header(IDENTITY) or "nobody"
        reply = self._answer(request, identity)
        mark = f"{_MARK}{next(self._numbers) % 5}={identity}; Path=/; Secure; SameSite=None"
        return Reply(reply.status, [*reply.headers, ("set-cookie", mark)], reply.body)

    def _answer(self, request: RequestInfo, identity: str) -> Reply:
        here, other = self._hosts
        if request.route == "/flaky":
            self._seen[identity, request.path] += 1
            return text("not yet\n", 503) if self._seen[identity, request.path] == 1 else text("now\n")
        if request.route == "/blocked":
            refused = self._refused.setdefault(identity, len(self._refused) % 3 == 0)
            return text("no\n", 403) if refused else text("come in\n")
        if request.route == "/hops":
            return redirect(f"https://{other}/over?{request.path}")
        if request.route == "/over":
            return redirect(f"https://{here}/page?from={request.path.count('/')}")
        return text(f"{request.route}\n")


def identity_of(record: Record) -> str:
    """The identity that the sender of a request record means."""
    return _header(record, IDENTITY) or "nobody"


def violations(records: Iterable[Record]) -> list[str]:
    """What ties identities together or tears one apart, one sentence each; none for a log that proves nothing.

    A connection serves one identity; a ticket is offered by the one it was issued to; a mark in a cookie is sent back
    by the one it was given to; an identity has one exit and one face (user agent, hints, language, TLS hello, HTTP/2
    opening) for life.
    """
    records = list(records)
    requests = [record for record in records if record["type"] == "request"]
    hellos = {record["connection"]: record["hello"] for record in records if record["type"] == "connection"}
    return [
        *shared_between_identities([r for r in records if r["type"] in ("request", "connection")], identity_of),
        *_foreign_marks(requests),
        *_more_than_one(requests, "exit", lambda record: str(record["peer"])),
        *_more_than_one(requests, "face", lambda record: _face(record, hellos)),
    ]


def _foreign_marks(requests: Iterable[Record]) -> Iterator[str]:
    for record in requests:
        identity = identity_of(record)
        for line in (value for name, value in record["headers"] if name.lower() == "cookie"):
            for crumb in line.split("; "):
                name, _, mark = crumb.partition("=")
                if name.startswith(_MARK) and mark != identity:
                    yield f"{identity} sent a cookie of {mark}"


def _more_than_one(requests: Iterable[Record], what: str, of: Callable[[Record], str]) -> Iterator[str]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for record in requests:
        found[identity_of(record)].add(of(record))
    yield from (f"{name} had more than one {what}: {sorted(had)}" for name, had in found.items() if len(had) > 1)


def _face(record: Record, hellos: Mapping[int, Mapping[str, Any] | None]) -> str:
    told = [_header(record, name) for name in ("user-agent", "sec-ch-ua", "sec-ch-ua-platform", "accept-language")]
    hello = hellos.get(record["connection"])
    if hello is None:
        return repr(told)
    plain = {kind: [v for v in hello[kind] if not is_grease(v)] for kind in ("ciphers", "extensions", "groups")}
    extensions = sorted(set(plain["extensions"]) - _OF_THE_MOMENT)
    return repr((told, plain["ciphers"], extensions, plain["groups"], hello["signatures"], record["h2"]))


def _header(record: Record, name: str) -> str | None:
    return next((value for key, value in record["headers"] if key.lower() == name), None)
