"""The entry of a list that names a provider's product → a :class:`Proxy` with a gateway. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, unquote

from pydantic import SecretStr

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.base import Proxy, read_scheme, valid_host, valid_port
from fetchworker.proxies.gateway import Gateway
from fetchworker.proxies.providers import product_of

#: provider → the user name and the password that the environment holds for it
Accounts = Mapping[str, tuple[str | None, SecretStr | None]]
NO_ACCOUNTS: Accounts = MappingProxyType({})

_AFTER = ("rotate", "keep")
_OPTIONS = ("country", "lifetime", "scheme", "tier", "after", "endpoint")
_TAKEN = frozenset({*_OPTIONS, "provider", "product", "username", "password", "tags"})


def product_parts(provider: str, rest: str) -> dict[str, Any]:
    """The parts of ``[user:password@]product[?country=DE&…]``."""
    before, _, query = rest.partition("?")
    account, _, name = before.rpartition("@")
    username, _, password = account.partition(":")
    parts: dict[str, Any] = {"provider": provider, "product": name.rstrip("/")}
    parts |= {key: unquote(text) for key, text in (("username", username), ("password", password)) if text}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key not in _OPTIONS:
            raise ProxyConfigError(f"an option is not known; write any of {', '.join(_OPTIONS)}")
        if key in parts:
            raise ProxyConfigError(f"the {key} is given twice")
        parts[key] = value
    return parts


def product_entry(parts: Mapping[str, Any], accounts: Accounts) -> Proxy:
    """The entry of ``{provider, product, username, password, country, lifetime, scheme, tier, after, endpoint, tags}``.

    Raises:
        ProxyConfigError: naming the part that is wrong.
    """
    stray = [name for name in parts if name not in _TAKEN]
    if stray:
        raise ProxyConfigError(f"{stray[0]} has no place beside a product; the gateway's place is written as endpoint")
    provider, name = (_word(parts, key) for key in ("provider", "product"))
    product = product_of(provider, name)
    username, password = _account(parts, accounts.get(provider, (None, None)))
    gateway = Gateway(
        product, username, password, country=_option(parts, "country"), minutes=_minutes(parts), after=_after(parts)
    )
    return gateway.entry(
        read_scheme(_option(parts, "scheme") or "http"),
        _place(_option(parts, "endpoint")),
        tier=_option(parts, "tier"),
        tags=frozenset(parts.get("tags") or ()),
    )


def _account(parts: Mapping[str, Any], known: tuple[str | None, SecretStr | None]) -> tuple[str, SecretStr]:
    """The entry's own credentials, else those of the environment; never one of each."""
    username, password = _option(parts, "username"), _option(parts, "password")
    if username is None and password is None:
        return known[0] or "", known[1] or SecretStr("")
    return username or "", SecretStr(password or "")


def _word(parts: Mapping[str, Any], name: str) -> str:
    value = _option(parts, name)
    if value is None:
        raise ProxyConfigError(f"{name} missing")
    return value.lower()


def _option(parts: Mapping[str, Any], name: str) -> str | None:
    value = parts.get(name)
    if value is None:
        return None
    if isinstance(value, bool):  # NO, Norway's code
        raise ProxyConfigError(f"the {name} is read as true or false by YAML; put it in quotes")
    if not isinstance(value, str):
        raise ProxyConfigError(f"the {name} is not text but {type(value).__name__}; put it in quotes")
    return value


def _minutes(parts: Mapping[str, Any]) -> int:
    value = parts.get("lifetime")
    if value is None:
        return 0
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise ProxyConfigError("the lifetime is not a number of minutes")
    return int(text)


def _after(parts: Mapping[str, Any]) -> Any:
    value = parts.get("after", "rotate")
    if value not in _AFTER:
        raise ProxyConfigError(f"after is not known; write one of {', '.join(_AFTER)}")
    return value


def _place(text: str | None) -> tuple[str, int] | None:
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not valid_host(host) or not valid_port(port):
        raise ProxyConfigError("the endpoint is not host:port")
    return host, int(port)
