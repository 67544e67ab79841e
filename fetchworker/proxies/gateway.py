"""A provider's product in the proxy list, and the exits that it makes: one for each token.

An exit's id is ``provider.tier.gateway.token.time``: the gateway by 16 hex digits of its entry (the password left out,
so that a new one ends no session), the time at which the token was made in hex; ``@DE`` behind it is the country that
was asked for. It holds no secret, and whoever has the same entry in the list can make the exit of it again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.base import Proxy, Scheme
from fetchworker.proxies.countries import country_code
from fetchworker.proxies.providers import Wish, check_minutes, credentials, fresh_token

if TYPE_CHECKING:
    from pydantic import SecretStr

    from fetchworker.proxies.providers import Product

_ID_PARTS = 5
#: stands between the id of a proxy or an exit and the country for which it was chosen
WANTED = "@"
_MINUTE = 60


class ExitId(NamedTuple):
    """The parts of an exit's id; ``made`` in POSIX seconds, ``country`` None: nobody asked for one."""

    provider: str
    tier: str
    gateway: str
    token: str
    made: int
    country: str | None = None

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The parts, or None for what is no exit of a gateway."""
        name, _, country = text.partition(WANTED)
        parts = name.split(".")
        if len(parts) != _ID_PARTS or not all(parts):
            return None
        try:
            return cls(parts[0], parts[1], parts[2], parts[3], int(parts[4], 16), country or None)
        except ValueError:
            return None

    def __str__(self) -> str:
        name = f"{self.provider}.{self.tier}.{self.gateway}.{self.token}.{self.made:x}"
        return in_country(name, self.country)


@dataclass(frozen=True, slots=True)
class Gateway:
    """A product with the account that pays for it.

    ``minutes``: how long an exit is asked for. ``after``: what becomes of an identity when that time is over:
    ``rotate`` (another one takes its place) or ``keep`` (it goes on with its token, by the exit that is given then).
    """

    product: Product
    username: str
    password: SecretStr = field(repr=False)
    country: str | None = None
    minutes: int = 0
    after: Literal["rotate", "keep"] = "rotate"

    def __post_init__(self) -> None:
        minutes = check_minutes(self.product, self.minutes or self.product.syntax.lifetime_default)
        object.__setattr__(self, "minutes", minutes)
        object.__setattr__(self, "country", country_code(self.country) if self.country else None)

    def entry(
        self,
        scheme: Scheme,
        place: tuple[str, int] | None,
        *,
        tier: str | None = None,
        tags: frozenset[str] = frozenset(),
    ) -> Proxy:
        """The entry of the list: the gateway without a token, which gives any exit.

        Raises:
            ProxyConfigError: the account or the place is none.
        """
        host, port = place or self.product.place(scheme)
        username, password = credentials(self.product, self.username, self.password, Wish(self.country))
        made = Proxy(
            scheme, host, port, username, password, provider=self.product.provider, country=self.country,
            tier=_tier(tier or self.product.tier), tags=tags, gateway=self,
        )  # fmt: skip
        return replace(made, id=self._key(made))

    def _key(self, entry: Proxy) -> str:
        parts = (
            entry.scheme, entry.address, self.product.provider, self.product.name, self.username, self.country or "",
        )  # fmt: skip
        return blake2b("\0".join(parts).encode(), digest_size=8, person=b"fw-gateway").hexdigest()

    def exit(self, entry: Proxy, told: ExitId) -> Proxy:
        """The exit of a token.

        Raises:
            ProxyConfigError: the token is none of this provider's.
        """
        country = country_code(told.country) if told.country else self.country
        if self.country not in (None, country):
            raise ProxyConfigError(f"the entry is for exits of {self.country} alone")
        wish = Wish(country, told.token, self.minutes)
        username, password = credentials(self.product, self.username, self.password, wish)
        return replace(entry, username=username, password=password, id=str(told), country=country, gateway=None)

    def fresh(self, entry: Proxy, now: float, country: str | None = None) -> ExitId:
        """A token that nobody has yet, for an exit of the country; ``now`` in POSIX seconds."""
        assert entry.tier
        return ExitId(self.product.provider, entry.tier, entry.id, fresh_token(self.product), int(now), country)

    def over(self, told: ExitId, now: float) -> bool:
        """Whether the provider has given the exit up by now, so that nobody should come by that token again."""
        return self.after == "rotate" and now >= told.made + self.minutes * _MINUTE


def in_country(proxy_id: str, country: str | None) -> str:
    """The id of what was chosen for a country: whoever has it goes by no other one (pure)."""
    return proxy_id if country is None else f"{proxy_id}{WANTED}{country}"


def country_wanted(proxy_id: str | None) -> str | None:
    """The country that an id was chosen for, if any (pure)."""
    return (proxy_id or "").partition(WANTED)[2] or None


def _tier(name: str) -> str:
    if not name.isascii() or not name.replace("_", "a").isalnum():
        raise ProxyConfigError("the tier is no word of letters, digits and underscores")
    return name
