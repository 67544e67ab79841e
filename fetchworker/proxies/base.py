"""What a proxy is: an endpoint with credentials that show up nowhere."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import quote

from pydantic import SecretStr

from fetchworker.errors import ProxyConfigError

if TYPE_CHECKING:
    from fetchworker.proxies.gateway import Gateway

Scheme = Literal["http", "https", "socks5h"]
"""How we talk to the proxy. ``socks5`` is taken as ``socks5h``: names are resolved at the proxy, never here, since a
local look-up would tell our resolver where we go and give an address near us instead of near the exit."""

#: spellings of a scheme that are understood → what they mean here
SCHEMES: dict[str, Scheme] = {"http": "http", "https": "https", "socks5": "socks5h", "socks5h": "socks5h"}

_HOST_NAME = re.compile(r"(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MAX_PORT = 65_535
_MAX_SOCKS_CREDENTIAL = 255  # bytes, RFC 1929


@dataclass(frozen=True, slots=True)
class Proxy:
    """One way out.

    ``provider``, ``country`` (ISO code), ``tier`` (``datacenter``, ``residential`` …) and ``tags`` say what is known
    of it; they are no part of its identity. ``username`` and ``password`` never appear in ``repr``, ``str``, ``label``
    or an error: at many gateways the user name carries the exit's session id, so it is half a secret too.

    Raises:
        ProxyConfigError: the parts are no proxy. The message names the part and holds no credentials.
    """

    scheme: Scheme
    host: str
    port: int
    username: str | None = None
    password: SecretStr | None = None
    provider: str = "static"
    country: str | None = None
    tier: str | None = None
    tags: frozenset[str] = frozenset()
    id: str = ""
    """Short, stable name, fit for logs and stores: 16 hex digits of this endpoint with these credentials; an exit of a
    gateway is named by provider, tier, gateway and token (:mod:`fetchworker.proxies.gateway`)."""
    gateway: Gateway | None = field(default=None, repr=False)
    """What makes exits of it, for the entry of a provider's product; None for what is one exit itself."""

    def __post_init__(self) -> None:
        _set(self, "scheme", read_scheme(self.scheme))
        _set(self, "host", _host(self.host))
        _set(self, "port", _port(self.port))
        _set(self, "username", self.username or None)
        _set(self, "password", self.password if _plain(self.password) else None)
        for name, value in (("user name", self.username), ("password", _plain(self.password))):
            _check_credential(name, value, socks=self.scheme == "socks5h")
        _set(self, "id", self.id or _proxy_id(self))

    @property
    def address(self) -> str:
        """``host:port``, an IPv6 host in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def label(self) -> str:
        """The name for logs and stats: provider, host and port."""
        return f"{self.provider}:{self.address}"

    @property
    def url_without_credentials(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def url(self) -> SecretStr:
        """The whole URL, credentials percent-encoded; open it only where the client library is called."""
        if self.username is None and self.password is None:
            return SecretStr(self.url_without_credentials)
        user, password = quote(self.username or "", safe=""), quote(_plain(self.password), safe="")
        credentials = f"{user}:{password}" if password else user
        return SecretStr(f"{self.scheme}://{credentials}@{self.address}")

    def same_endpoint(self, other: Self) -> bool:
        """Same address and same credentials, whatever is told about it."""
        return _endpoint(self) == _endpoint(other)

    def __repr__(self) -> str:
        return f"<Proxy {self.id} {self.scheme} {self.label}>"

    def __str__(self) -> str:
        return self.label


def looks_like_host(text: str) -> bool:
    """An address, ``localhost``, or a name with a dot: what a person takes for a host without being told."""
    return is_address(text) or text.lower() == "localhost" or ("." in text and valid_host(text))


def is_address(text: str) -> bool:
    return _address(text) is not None


def valid_host(text: str) -> bool:
    """Whether ``text`` can be a host at all; a single word can."""
    return is_address(text) or bool(_HOST_NAME.fullmatch(_ascii(text)))


def valid_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= len(str(_MAX_PORT)) and 0 < int(text) <= _MAX_PORT


def read_scheme(value: str) -> Scheme:
    """A scheme as it is written → what it means."""
    known = SCHEMES.get(value.lower())
    if known is None:
        raise ProxyConfigError(f"the scheme is not known; write one of {', '.join(SCHEMES)}")
    return known


def _set(proxy: Proxy, name: str, value: object) -> None:
    object.__setattr__(proxy, name, value)


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value() if secret else ""


def _endpoint(proxy: Proxy) -> tuple[str, str, int, str, str]:
    return proxy.scheme, proxy.host, proxy.port, proxy.username or "", _plain(proxy.password)


def _proxy_id(proxy: Proxy) -> str:
    """48 bits for the place and the user, 16 for the password.

    Only 16 bits of the password's keyed hash go in: enough to tell a changed password, too few to find it by trying,
    as one in 65,536 of all passwords fits.
    """
    place = "\0".join((proxy.scheme, proxy.host, str(proxy.port), proxy.username or "")).encode()
    key = blake2b(place, person=b"fw-proxy").digest()
    password = blake2b(_plain(proxy.password).encode(), key=key, person=b"fw-proxy").digest()
    return key[:6].hex() + password[:2].hex()


def _host(value: str) -> str:
    address = _address(value)
    if address is not None:
        return address
    name = _ascii(value)
    if not _HOST_NAME.fullmatch(name):
        raise ProxyConfigError("the host is not a host name or an address")
    return name


def _address(value: str) -> str | None:
    """An IP address in its usual spelling, without brackets; zones (``fe80::1%eth0``) have no form that curl takes."""
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    try:
        return None if "%" in bare else str(ipaddress.ip_address(bare))
    except ValueError:
        return None


def _ascii(name: str) -> str:
    """A name as it goes on the wire; "" for what cannot be one."""
    try:
        return name.lower() if name.isascii() else name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return ""


def _port(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _MAX_PORT:
        raise ProxyConfigError(f"the port is not a number from 1 to {_MAX_PORT}")
    return value


def _check_credential(name: str, value: str | None, *, socks: bool) -> None:
    """Control characters would be refused by curl later, a long one by the SOCKS protocol."""
    if not value:
        return
    size = len(value.encode(errors="surrogatepass"))
    if _CONTROL.search(value) or len(value.encode(errors="ignore")) != size:
        raise ProxyConfigError(f"the {name} holds a control character or is not Unicode text")
    if socks and size > _MAX_SOCKS_CREDENTIAL:
        raise ProxyConfigError(f"the {name} is longer than the {_MAX_SOCKS_CREDENTIAL} bytes that SOCKS5 allows")
