"""The spider of TikTok's ads: the library of ads shown in Europe, and the Creative Center."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.tiktok_ads import contract, parse, tokens
from fetchworker.spiders.tiktok_ads.params import (
    AnalyticsParams,
    LibraryParams,
    TopAdParams,
    TopAdsParams,
    TrendsParams,
)

_CENTER = r"https?://ads\.tiktok\.com/business/creativecenter/"


class TiktokAdsSpider(SiteSpider):
    """Ads and trends, as a visitor without an account sees them."""

    name = "tiktok_ads"
    extract_tokens = staticmethod(tokens.extract)
    compute_tokens = staticmethod(tokens.compute)

    @classmethod
    def visits(cls, url: str) -> Sequence[Fetch]:
        """The library's handshake; the Creative Center needs none."""
        return contract.handshake() if url.startswith(contract.LIBRARY) else ()

    @operation(
        parse=parse.library,
        default_for=("advertiser", "query"),
        counts="ad",
        patterns=(r"https?://library\.tiktok\.com/ads(?:/detail)?/?(?:[?#].*)?$",),
    )
    def library(self, call: Call[LibraryParams]) -> Iterator[Fetch]:
        """Ads that were shown in Europe: for words, of an advertiser, or one with its details."""
        params = call.params
        if params.ad:
            yield contract.library_ad(params.ad)
            return
        window = params.window(datetime.now(UTC))
        wanted = contract.Wanted(params.region, window, params.query or "", params.advertiser or "")
        yield contract.library_search(wanted, search_id=call.cursor or "", seen=call.seen)

    @operation(parse=parse.top_ads, counts="ad", patterns=(rf"{_CENTER}inspiration/topads/",))
    def top_ads(self, call: Call[TopAdsParams]) -> Iterator[Fetch]:
        """Ads that did best, by country, industry and time."""
        if call.params.related_to:
            yield contract.like_ad(call.params.related_to)
        else:
            yield contract.top_ads(call.params.asked(), int(call.cursor or "1"))

    @operation(
        parse=parse.top_ad, default_for=("ad",), patterns=(rf"{_CENTER}topads/(?P<ad>\d{{10,25}})(?:[/?#].*)?$",)
    )
    def top_ad(self, call: Call[TopAdParams]) -> Iterator[Fetch]:
        """One of the top ads."""
        yield contract.top_ad(call.params.ad)

    @operation(parse=parse.top_ad_analytics, counts="ad_analytics")
    def top_ad_analytics(self, call: Call[AnalyticsParams]) -> Iterator[Fetch]:
        """How a top ad's film is watched, second by second, and its places among others."""
        metric = call.cursor or call.params.metric or contract.METRICS[0]
        yield contract.analytics(call.params.ad, metric)

    @operation(parse=parse.trends, default_for=("type",), counts="trend")
    def trends(self, call: Call[TrendsParams]) -> Iterator[Fetch]:
        """What is popular: hashtags, sounds, creators, videos, keywords, products."""
        yield contract.trends(call.params.type, call.params.asked(), int(call.cursor or "1"))
