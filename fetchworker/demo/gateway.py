"""A gateway as providers of proxies run them: it reads country, token and lifetime, and gives each token its own exit.

The syntax is that of a known provider's product (:mod:`fetchworker.proxies.providers`), so what a crawl says to it is
what it would say there.
"""

from __future__ import annotations

import hmac
import itertools
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.demo.proxy import Mode, ProxyServer
from fetchworker.proxies.providers import Product, product_of, read_credentials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECONDS = 60


@dataclass(slots=True)
class _Given:
    """The exit of a token, and until when (POSIX seconds) it is its own."""

    address: str
    until: float


class GatewayServer(ProxyServer):
    """A provider's gateway on a loopback port; an async context manager.

    Args:
        host_map: as :class:`~fetchworker.demo.proxy.ProxyServer`'s.
        provider: whose syntax it reads.
        product: which of the provider's products it is.
        clock: POSIX seconds, by which tokens grow old.
        network: second part of the exits' loopback addresses, so that two gateways give different ones.
        options: as ``ProxyServer``'s.

    Attributes:
        exits: every token seen → the addresses that it had, one after the other.
        countries: the countries that were asked for.
    """

    def __init__(
        self,
        host_map: Mapping[str, str],
        *,
        provider: str = "evomi",
        product: str = "residential",
        clock: Callable[[], float] = time.time,
        network: int = 77,
        **options: Any,
    ) -> None:
        super().__init__(host_map, **options)
        self.product: Product = product_of(provider, product)
        self.exits: dict[str, list[str]] = {}
        self.countries: set[str | None] = set()
        self._clock = clock
        self._network = network
        self._given: dict[str, _Given] = {}
        self._numbers = itertools.count(1)
        self._any = secrets.token_hex(2)

    def entry(self, **options: str) -> str:
        """The entry for a proxy list, with the options that it takes (``country``, ``lifetime``, ``tier``, …)."""
        scheme = "socks5h" if self.scheme == "socks5" else self.scheme
        told = {"endpoint": f"{self.address}:{self.port}", "scheme": scheme, **options}
        account = f"{quote(self.username, safe='')}:{quote(self.password, safe='')}"
        query = "&".join(f"{key}={quote(value, safe=':')}" for key, value in told.items())
        return f"{self.product.provider}://{account}@{self.product.name}?{query}"

    def expire(self, token: str | None = None) -> None:
        """Give the exit of a token (of all) to somebody else: who comes by it again gets another one."""
        for name in [token] if token else list(self._given):
            self._given.pop(name, None)

    def knows(self, user: str, password: str) -> bool:
        """Whether the account is right, whatever is asked for."""
        told = read_credentials(self.product, user, password)
        good = hmac.compare_digest(f"{told.username}:{told.password}".encode(), self._account)
        return good and self.mode is not Mode.REFUSE_CREDENTIALS

    @property
    def _account(self) -> bytes:
        return f"{self.username}:{self.password}".encode()

    def who(self, user: str, password: str) -> str:
        """``token/minutes`` of the request, with the country behind; one without a token is a stranger each time."""
        wish = read_credentials(self.product, user, password).wish
        self.countries.add(wish.country)
        token = wish.token or f"{self._any}{next(self._numbers)}"
        told = f"{token}/{wish.minutes or self.product.syntax.lifetime_default}"
        return f"{told}/{wish.country}" if wish.country else told

    def exit_of(self, user: str) -> str:
        """The address of the token, the same until its time is over."""
        token, minutes = user.split("/")[:2]
        given, now = self._given.get(token), self._clock()
        if given is None or given.until <= now:
            number = next(self._numbers)
            address = f"127.{self._network}.{number // 250}.{1 + number % 250}"
            given = self._given[token] = _Given(address, now + int(minutes) * _SECONDS)
            self.exits.setdefault(token, []).append(address)
        return given.address
