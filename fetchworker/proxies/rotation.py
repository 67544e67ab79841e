"""Whose turn it is at one site: the least recently used proxy that may be used now."""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from random import Random


class Rotation:
    """The order of the proxies at one site.

    Each proxy stands in exactly one of two heaps: ``ready`` by its last use, ``resting`` by the time at which it was
    thought to come back. The truth is ``rest_until``, which may grow at any time but shrinks only before a ``replace``;
    an entry that it contradicts moves when it comes to the top, so that no change of a proxy's state has to search the
    heaps. A pick costs O(log n), and the same again for each exclusion that it meets.
    """

    def __init__(self, proxy_ids: Iterable[str], *, rest_until: Callable[[str], float], rng: Random) -> None:
        self._rest_until = rest_until
        self._rng = rng
        self._uses = itertools.count(1)
        self._last_use: dict[str, float] = {}
        self._ready: list[tuple[float, str]] = []
        self._resting: list[tuple[float, str]] = []
        self.replace(proxy_ids)

    def replace(self, proxy_ids: Iterable[str]) -> None:
        """Take these proxies and no others; those that stay keep their place, new ones come first in random order."""
        self._last_use = {proxy_id: self._last_use.get(proxy_id, -self._rng.random()) for proxy_id in proxy_ids}
        self._ready = [(last_use, proxy_id) for proxy_id, last_use in self._last_use.items()]
        self._resting = []
        heapq.heapify(self._ready)

    def take(self, now: float, exclude: Collection[str]) -> str | None:
        """The next proxy, which goes to the end of the order; None if none may be used."""
        self._wake(now)
        passed_over: list[tuple[float, str]] = []
        chosen = None
        while self._ready and chosen is None:
            last_use, proxy_id = heapq.heappop(self._ready)
            until = self._rest_until(proxy_id)
            if until > now:
                heapq.heappush(self._resting, (until, proxy_id))
            elif proxy_id in exclude:
                passed_over.append((last_use, proxy_id))
            else:
                chosen = proxy_id
        for entry in passed_over:
            heapq.heappush(self._ready, entry)
        if chosen is not None:
            self._last_use[chosen] = next(self._uses)
            heapq.heappush(self._ready, (self._last_use[chosen], chosen))
        return chosen

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            _, proxy_id = heapq.heappop(self._resting)
            until = self._rest_until(proxy_id)
            if until > now:
                heapq.heappush(self._resting, (until, proxy_id))
            else:
                heapq.heappush(self._ready, (self._last_use[proxy_id], proxy_id))
