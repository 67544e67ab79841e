"""The exits of gateways that are in use: made when a token is drawn, made again when a stored session names one."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.gateway import WANTED, ExitId, country_wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.proxies.base import Proxy

#: exits that are remembered; one that is forgotten is made again from its id
_MANY = 4096


class Exits:
    """Makes exits and remembers them.

    Args:
        clock: POSIX seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._made: OrderedDict[str, Proxy] = OrderedDict()  # the longest unused first

    def fresh(self, entry: Proxy, country: str | None = None) -> Proxy:
        """A new exit of a gateway, in the country that is asked for."""
        assert entry.gateway is not None
        return self._keep(entry.gateway.exit(entry, entry.gateway.fresh(entry, self._clock(), country)))

    def get(self, told: ExitId, entry: Proxy) -> Proxy | None:
        """The exit of that id; None when its time is over, or it is none of this gateway."""
        if entry.gateway is None or entry.gateway.over(told, self._clock()):
            return None
        known = self._made.get(str(told))
        if known is not None:
            self._made.move_to_end(known.id)
            return known
        if (told.provider, told.tier) != (entry.provider, entry.tier):
            return None
        try:
            return self._keep(entry.gateway.exit(entry, told))
        except ProxyConfigError:  # somebody else's token
            return None

    def forget(self) -> None:
        """The list was replaced: what was made of its entries holds no longer."""
        self._made.clear()

    def _keep(self, made: Proxy) -> Proxy:
        self._made[made.id] = made
        self._made.move_to_end(made.id)
        if len(self._made) > _MANY:
            self._made.popitem(last=False)
        return made


def entry_id(proxy_id: str) -> str:
    """The id of the list's entry that a proxy or an exit belongs to."""
    told = ExitId.read(proxy_id)
    return told.gateway if told else proxy_id.partition(WANTED)[0]


def exit_id(proxy_id: str) -> str:
    """The id under which it is kept how an exit fares at a site."""
    return proxy_id if ExitId.read(proxy_id) else proxy_id.partition(WANTED)[0]


def keeps_country(proxy_id: str, entry: Proxy | None) -> bool:
    """Whether an entry of the list gives what the id was chosen for: lists are changed."""
    return entry is not None and serves(entry, country_wanted(proxy_id))


def serves(entry: Proxy, country: str | None) -> bool:
    """Whether an entry of the list gives an exit of the country (None: any); a gateway bound to none gives all."""
    return country in (None, entry.country) or (entry.country is None and entry.gateway is not None)
