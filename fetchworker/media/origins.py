"""Who fetched the page that an item is from: its media are asked for by the same identity.

A session that a crawl would forget with its last page is kept until the media of that page are there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fetchworker.sessions import Session

#: the meta key of a request for a picture or a film: its answer is no page
MEDIA = "fw_media"


@dataclass(frozen=True, slots=True)
class Origin:
    """The page's side of a request: a stored session by its ``name``, or else the ``identity`` itself."""

    referer: str | None = None
    name: str | None = None
    identity: Session | None = None


class Origins:
    """The origins of the items that are on their way, and the sessions that they hold."""

    def __init__(self) -> None:
        self._by_item: dict[str, Origin] = {}
        self._held: Counter[str] = Counter()
        self._unwanted: set[str] = set()

    def add(self, item_id: str, origin: Origin) -> None:
        """An item is on its way; of two of the same id the later one's holds for both."""
        self._by_item[item_id] = origin

    def of(self, item_id: str) -> Origin:
        """The origin of an item."""
        return self._by_item.get(item_id) or Origin()

    def remove(self, item_id: str, origin: Origin) -> None:
        """An item has come to its end."""
        if self._by_item.get(item_id) is origin:
            del self._by_item[item_id]

    def hold(self, name: str) -> None:
        """Somebody needs the session."""
        self._held[name] += 1

    def release(self, name: str) -> bool:
        """Somebody needs the session no more; whether it is to be dropped now."""
        self._held[name] -= 1
        if self._held[name] > 0:
            return False
        del self._held[name]
        dropped = name in self._unwanted
        self._unwanted.discard(name)
        return dropped

    def keeps(self, name: str) -> bool:
        """Whether a session that would be dropped has to stay; :meth:`release` tells when it goes."""
        if self._held[name]:
            self._unwanted.add(name)
            return True
        del self._held[name]
        return False
