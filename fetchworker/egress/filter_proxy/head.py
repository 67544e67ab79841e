"""What the head of a request means, and what of it goes on (pure)."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h11

from fetchworker.egress.filter_proxy.reasons import FilterError, refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fetchworker.egress.policy import Decision, EgressPolicy

Headers = list[tuple[bytes, bytes]]

_AUTHORITY = r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:/?#@\\\s]+)"
_TUNNEL = re.compile(_AUTHORITY + r":([0-9]{1,5})", re.ASCII)
_PLAIN = re.compile(r"[Hh][Tt][Tt][Pp]://" + _AUTHORITY + r"(?::([0-9]{0,5}))?((?:[/?][^#]*)?)", re.ASCII)
_HTTP_PORT = 80
#: between two neighbours only (RFC 9110, 7.6.1)
_HOP = frozenset({b"connection", b"keep-alive", b"te", b"trailer", b"upgrade"})
#: how long a message is, and whose it is: nothing takes these out
_FRAMING = frozenset({b"host", b"content-length", b"transfer-encoding"})


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request wants to go. ``path`` is None for a tunnel; ``host`` has no brackets."""

    host: str
    port: int
    path: str | None = None

    @property
    def place(self) -> str:
        """``host:port``."""
        return f"{self._host}:{self.port}"

    @property
    def authority(self) -> str:
        """The value of the header Host."""
        return self._host if self.path is not None and self.port == _HTTP_PORT else self.place

    @property
    def url(self) -> str:
        return f"http://{self.authority}{self.path}"

    @property
    def _host(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def read_target(method: bytes, raw: bytes, policy: EgressPolicy) -> tuple[Target, Decision]:
    """The target of a request and what allows it.

    Raises:
        FilterError: the policy refuses it, or it is none that a forward proxy is asked for.
    """
    text = raw.decode("latin-1")
    target = _tunnel(text) if method == b"CONNECT" else _plain(text)
    if target is None:
        raise _no_target(f"http://{text}" if method == b"CONNECT" else text, policy)
    decision = policy.classify(f"http://{target.place}")  # of what will be dialled, not of what was written
    if not decision.allowed:
        raise refused(decision)
    return target, decision


def _no_target(url: str, policy: EgressPolicy) -> FilterError:
    """What the policy says of it, which tells more, or that it is no request of a proxy's client."""
    if url.lower().startswith("https://"):
        return FilterError("scheme", layer="url")
    decision = policy.classify(url) if "://" in url else None
    return FilterError("bad_request") if decision is None or decision.allowed else refused(decision)


def _tunnel(text: str) -> Target | None:
    found = _TUNNEL.fullmatch(text)
    return Target(found[1].strip("[]"), int(found[2])) if found else None


def _plain(text: str) -> Target | None:
    found = _PLAIN.fullmatch(text)
    if not found:
        return None
    path = found[3] if found[3].startswith("/") else f"/{found[3]}"
    return Target(found[1].strip("[]"), int(found[2] or _HTTP_PORT), path)


def read_credentials(headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, str]:
    """User name and password of the header Proxy-Authorization; empty ones when there are none, or several."""
    values = [value for name, value in headers if name == b"proxy-authorization"]
    kind, _, encoded = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
    if kind.lower() != b"basic":
        return "", ""
    try:
        user, _, password = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return user, password


def basic(username: str | None, password: str) -> bytes:
    """The value of an Authorization header."""
    return b"Basic " + base64.b64encode(f"{username or ''}:{password}".encode())


def onward_request(
    request: h11.Request, target: Target, *, by_proxy: bool = False, authorization: bytes | None = None
) -> h11.Request:
    """The request as it goes out: to the target's server, or to an HTTP proxy that may want an ``authorization``.

    No ``Via`` is added, though RFC 9110 asks for it: the site is to see the browser and nobody else.
    """
    headers: Headers = [(b"Host", target.authority.encode())]
    raw = request.headers.raw_items()
    if any(name.lower() in (b"connection", b"proxy-connection") for name, _ in raw):
        headers.append((b"Connection", b"keep-alive"))  # as a browser without a proxy says; second, like Chromium's
    headers += [pair for pair in end_to_end(raw) if pair[0].lower() != b"host"]
    if authorization is not None:
        headers.append((b"Proxy-Authorization", authorization))
    path = target.url if by_proxy else target.path or "/"
    return h11.Request(method=request.method, target=path.encode("latin-1"), headers=headers)


def onward_response(response: h11.Response | h11.InformationalResponse) -> h11.Response | h11.InformationalResponse:
    """The answer as the client gets it."""
    headers = end_to_end(response.headers.raw_items())
    return type(response)(status_code=response.status_code, headers=headers, reason=response.reason)


def end_to_end(raw: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that are not for us alone, as they are written."""
    pairs = list(raw)
    named = [value for name, value in pairs if name.lower() == b"connection"]
    own = {token.strip().lower() for value in named for token in value.split(b",")} - _FRAMING | _HOP
    if any(name.lower() == b"transfer-encoding" for name, _ in pairs):
        own.add(b"content-length")  # chunks count (RFC 9112, 6.3); both together are how requests are smuggled
    return [
        (name, value) for name, value in pairs if name.lower() not in own and not name.lower().startswith(b"proxy-")
    ]
