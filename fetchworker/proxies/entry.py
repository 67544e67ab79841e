"""One entry of a proxy list, as text or as a mapping → a :class:`Proxy`. Pure.

Nothing of an entry that may be a credential gets into an error: what is shown of a bad one is its scheme and, where an
``@`` tells it apart from the credentials, its host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from pydantic import SecretStr

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.base import SCHEMES, Proxy, is_address, looks_like_host, read_scheme, valid_host, valid_port
from fetchworker.proxies.countries import country_code
from fetchworker.proxies.product import NO_ACCOUNTS, Accounts, product_entry, product_parts
from fetchworker.proxies.providers import products

EXAMPLE = "write http://user:password@host:port"

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_HOST = r"\[[^\[\]]*\]|[^:@\[\]/\s]+"
_PLACE = re.compile(rf"(?P<host>{_HOST})(:(?P<port>[^:@/]*))?/?", re.DOTALL)
_PLACE_FIRST = re.compile(rf"(?P<host>{_HOST}):(?P<port>\d+):(?P<user>[^:]*):(?P<password>.*)", re.DOTALL)
_PLACE_LAST = re.compile(rf"(?P<user>[^:]*):(?P<password>.*):(?P<host>{_HOST}):(?P<port>\d+)", re.DOTALL)

#: keys of a mapping → the part they name
_KEYS = {
    "scheme": "scheme",
    "protocol": "scheme",
    "host": "host",
    "port": "port",
    "username": "username",
    "user": "username",
    "password": "password",
    "pass": "password",
    "url": "url",
    "server": "url",
    "provider": "provider",
    "country": "country",
    "tier": "tier",
    "tags": "tags",
    "product": "product",
    "lifetime": "lifetime",
    "after": "after",
    "endpoint": "endpoint",
}
#: keys that only a provider's product has
_OF_PRODUCTS = ("product", "lifetime", "after", "endpoint")


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read a text entry."""

    host: str
    port: str
    username: str
    password: SecretStr
    as_url: bool

    @property
    def sure(self) -> bool:
        return looks_like_host(self.host)


def parse_text(entry: str, accounts: Accounts = NO_ACCOUNTS) -> Proxy:
    """``[scheme://][user:password@]host:port``, ``host:port:user:password`` or ``user:password:host:port``.

    Also ``provider://[user:password@]product[?country=DE&lifetime=60&…]``. Credentials before an ``@`` are
    percent-decoded, those between colons are taken as they are.
    """
    scheme, rest = _split_scheme(entry.strip())
    if scheme in products():
        return product_entry(product_parts(scheme, rest), accounts)
    known = read_scheme(scheme or "http")
    readings = list(_readings(rest))
    chosen = _choose(readings, has_scheme=scheme is not None)
    if chosen is None:
        raise ProxyConfigError(f"{_fault(rest, readings)}; {EXAMPLE}")
    return Proxy(known, chosen.host, int(chosen.port), chosen.username, chosen.password)


def parse_mapping(entry: Mapping[Any, Any], accounts: Accounts = NO_ACCOUNTS) -> list[Proxy]:
    """A mapping: parts of one proxy, or URLs by scheme.

    ``{host, port, scheme, username, password, provider, country, tier, tags}``; the same with ``url`` instead of host,
    port and scheme; ``{provider, product, username, password, country, …}`` for what a known provider sells; or
    ``{"http": url, "https": url, "all": url}`` as requests and httpx take it.
    """
    names = {str(key).removesuffix("://") for key in entry}
    if names and names <= {"http", "https", "all"}:
        return [parse_text(_need_text(value, "each value"), accounts) for value in entry.values()]
    parts = _parts(entry)
    if "product" in parts:
        return [product_entry(parts, accounts)]
    stray = [name for name in _OF_PRODUCTS if name in parts]
    if stray:
        raise ProxyConfigError(f"{stray[0]} is given without a product; name the provider's product as well")
    endpoint = _from_url(parts) if "url" in parts else _from_parts(parts)
    about = replace(
        endpoint,
        provider=_text(parts, "provider") or "static",
        country=_country(parts),
        tier=_text(parts, "tier"),
        tags=_tags(parts.get("tags")),
    )
    return [about]


def describe(entry: object) -> str:
    """What may be shown of an entry: at most ``http://***@host:port``, as what follows the last ``@`` is the host."""
    if isinstance(entry, Mapping):
        url = entry.get("url", entry.get("server"))
        return describe(url) if isinstance(url, str) else "a mapping"
    if not isinstance(entry, str):
        return f"a {type(entry).__name__}"
    scheme, rest = _split_scheme(entry.strip())
    shown = f"{scheme}://" if scheme in SCHEMES else ""
    if scheme in products():
        name = rest.rpartition("@")[2].partition("?")[0].rstrip("/")
        return f"{scheme}://{name if name in products()[scheme] else '***'}"
    return shown + _shown_place(rest, has_scheme=scheme is not None)


def _split_scheme(text: str) -> tuple[str | None, str]:
    match = _SCHEME.fullmatch(text)
    return (match[1].lower(), match[2]) if match else (None, text)


def _readings(rest: str) -> Iterator[_Reading]:
    """Every way in which the text after the scheme makes sense."""
    credentials, _, place = rest.rpartition("@")
    match = _PLACE.fullmatch(place)
    if match and valid_host(match["host"]) and valid_port(match["port"] or ""):
        user, _, password = credentials.partition(":")
        yield _Reading(match["host"], match["port"], _decoded(user), SecretStr(_decoded(password)), as_url=True)
    for form in () if _bare_ipv6(rest) else (_PLACE_FIRST, _PLACE_LAST):
        match = form.fullmatch(rest)
        if match and valid_host(match["host"]) and valid_port(match["port"]):
            yield _Reading(match["host"], match["port"], match["user"], SecretStr(match["password"]), as_url=False)


def _bare_ipv6(rest: str) -> bool:
    """An IPv6 address without brackets, with a port or not: its colons would pass for those between the parts."""
    return any(":" in text and is_address(text) for text in (rest, rest.rpartition(":")[0]))


def _choose(readings: list[_Reading], *, has_scheme: bool) -> _Reading | None:
    """The one reading that holds: what says it is a URL is read as one, else the host must be the likelier of two."""
    if has_scheme and readings and readings[0].as_url:
        return readings[0]
    sure = [reading for reading in readings if reading.sure] or readings
    if len(sure) != 1 or _turned_round(sure[0]):
        return None
    return sure[0]


def _turned_round(reading: _Reading) -> bool:
    """``host:port@user:1234``: the password would pass for a port."""
    return reading.as_url and not reading.sure and looks_like_host(reading.username) and valid_port(_plain(reading))


def _plain(reading: _Reading) -> str:
    return reading.password.get_secret_value()


def _decoded(text: str) -> str:
    """Percent-decoded; a lone ``%`` stays. What is no UTF-8 becomes surrogates, which Proxy refuses."""
    return unquote(text, errors="surrogateescape")


def _fault(rest: str, readings: list[_Reading]) -> str:
    if readings:
        return "it can be read in two ways, with the host first or last"
    if _bare_ipv6(rest):
        return "an IPv6 address stands in brackets"
    match = _PLACE.fullmatch(rest.rpartition("@")[2])
    if match is None or not valid_host(match["host"]):
        return "no host and port can be told"
    return "the port is not a number from 1 to 65535" if match["port"] else "port missing"


def _shown_place(rest: str, *, has_scheme: bool) -> str:
    """``***@host:port`` if an ``@`` tells a host apart; a text without one may be any part of the credentials."""
    credentials, at, place = rest.rpartition("@")
    match = _PLACE.fullmatch(place)
    if not at or match is None or not valid_host(match["host"]) or not valid_port(match["port"] or "1"):
        return "***"
    told_apart = credentials.count(":") <= 1 and (has_scheme or looks_like_host(match["host"]))
    return f"***@{match[0]}" if told_apart else "***"


def _parts(entry: Mapping[Any, Any]) -> dict[str, Any]:
    """The mapping by the names we use. A key we do not know is not repeated: it may be a slip with a secret in it."""
    parts: dict[str, Any] = {}
    for place, (key, value) in enumerate(entry.items(), start=1):
        name = _KEYS.get(str(key).lower())
        if name is None:
            raise ProxyConfigError(f"key {place} is not known; write any of {', '.join(dict.fromkeys(_KEYS.values()))}")
        if name in parts:
            raise ProxyConfigError(f"the {name} is given twice")
        if value is not None:
            parts[name] = value
    return parts


def _from_url(parts: Mapping[str, Any]) -> Proxy:
    clash = [name for name in ("scheme", "host", "port") if name in parts]
    if clash:
        raise ProxyConfigError(f"url and {clash[0]} are both given; write one of them")
    proxy = parse_text(_need_text(parts["url"], "the url"))
    username, password = _credentials(parts)
    if not (username or password):
        return proxy
    if proxy.username or proxy.password:
        raise ProxyConfigError("credentials stand in the url and beside it; write them once")
    return replace(proxy, username=username, password=password)


def _from_parts(parts: Mapping[str, Any]) -> Proxy:
    for name in ("host", "port"):
        if name not in parts:
            raise ProxyConfigError(f"{name} missing")
    port = parts["port"]
    if isinstance(port, str) and valid_port(port):
        port = int(port)
    scheme = read_scheme(_text(parts, "scheme") or "http")
    return Proxy(scheme, _need_text(parts["host"], "the host"), port, *_credentials(parts))


def _credentials(parts: Mapping[str, Any]) -> tuple[str | None, SecretStr | None]:
    password = _text(parts, "password")
    return _text(parts, "username"), SecretStr(password) if password else None


def _text(parts: Mapping[str, Any], name: str) -> str | None:
    return _need_text(parts[name], f"the {name}") if name in parts else None


def _country(parts: Mapping[str, Any]) -> str | None:
    text = _text(parts, "country")
    return country_code(text) if text else None


def _need_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        # a YAML number has lost its leading zeros by now
        raise ProxyConfigError(f"{what} is not text but {type(value).__name__}; put it in quotes")
    return value


def _tags(value: object) -> frozenset[str]:
    if value is None:
        return frozenset()
    tags = value.split(",") if isinstance(value, str) else value
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise ProxyConfigError("the tags are not a list of words")
    return frozenset(tag.strip() for tag in tags if tag.strip())
