"""The seen-set as Scrapy's settings name it (``DUPEFILTER_CLASS``): what makes two requests the same.

The set itself is kept in Redis with the queue: 64-bit integers in buckets, about ten bytes for each. Two different
requests are taken for the same when the first 64 bits of their fingerprints agree: among a million requests the odds of
one such pair are 1 in 37 million, among fifty million 1 in 15,000.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.misc import build_from_crawler, load_object

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler

#: classes whose way of telling requests apart is ours as well
_SAME = frozenset({"scrapy.dupefilters.RFPDupeFilter", "scrapy_redis.dupefilter.RFPDupeFilter"})
_OURS = "fetchworker.frontier.dupefilter.RFPDupeFilter"


class RFPDupeFilter(BaseDupeFilter):
    """By Scrapy's request fingerprint. A subclass may override :meth:`fingerprint`."""

    def __init__(self, crawler: Crawler) -> None:
        self._fingerprint = crawler.request_fingerprinter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it."""
        return cls(crawler)

    def fingerprint(self, request: Request) -> int | None:
        """64 bits that equal requests share, as a signed integer; None for a request that is never filtered."""
        if request.dont_filter:
            return None
        assert self._fingerprint is not None
        return int.from_bytes(self._fingerprint.fingerprint(request)[:8], "big", signed=True)


class NoDupeFilter(RFPDupeFilter):
    """Filters nothing (Scrapy's ``BaseDupeFilter``)."""

    def fingerprint(self, request: Request) -> int | None:  # noqa: ARG002  # the base's signature
        """None for every request."""
        return None


def dupefilter_of(crawler: Crawler) -> RFPDupeFilter:
    """The filter that ``DUPEFILTER_CLASS`` names.

    Raises:
        ConfigError: it is one that keeps its set elsewhere, so that workers would not share it.
    """
    name = crawler.settings["DUPEFILTER_CLASS"]
    if name in _SAME:
        return RFPDupeFilter(crawler)
    chosen = load_object(name)
    if chosen is BaseDupeFilter:
        return NoDupeFilter(crawler)
    if isinstance(chosen, type) and issubclass(chosen, RFPDupeFilter):
        return build_from_crawler(chosen, crawler)
    raise ConfigError(f"DUPEFILTER_CLASS: {name} does not share its set with the other workers; write {_OURS}")
