"""The spider of Google's Ads Transparency Center."""

from collections.abc import Iterator, Mapping
from typing import Any

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.ads_transparency import contract, geo, parse
from fetchworker.spiders.ads_transparency.params import CreativeParams, CreativesParams, SuggestionsParams
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.operation import Resolver, Started

_SITE = r"https?://adstransparency\.google\.com/"
#: parameters of an address, wherever they stand in it
_REGION = r"(?:(?=[^#]*[?&]region=(?P<region>[A-Za-z]{2,8})(?:[&#]|$)))?"
_REST = rf"/?(?=[?#]|$){_REGION}"
_FILTERS = (
    _REGION
    + r"(?:(?=[^#]*[?&]format=(?P<format>[A-Za-z]{4,5})(?:[&#]|$)))?"
    + r"(?:(?=[^#]*[?&]topic=(?P<topic>all|political)(?:[&#]|$)))?"
)


class _Resolver(Resolver):
    """Knows that ``creative`` beside ``advertiser`` asks for one advertisement, whichever comes first."""

    def arguments(self, arguments: Mapping[str, Any]) -> Started:
        one = "creative" in arguments and "operation" not in arguments
        return super().arguments({**arguments, "operation": "creative"} if one else arguments)


class AdsTransparencySpider(SiteSpider):
    """Advertisers and advertisements, as a visitor without an account sees them."""

    name = "ads_transparency"
    warmup = Fetch("warmup", f"{contract.HOME}?region=anywhere")

    @classmethod
    def make_resolver(cls) -> Resolver:
        """What turns arguments and seeds into this spider's calls."""
        return _Resolver(cls.name, cls.operations)

    @operation(parse=parse.suggestions, default_for=("query",))
    def suggestions(self, call: Call[SuggestionsParams]) -> Iterator[Fetch]:
        """Advertisers and sites by a part of their name."""
        params = call.params
        yield contract.suggestions(params.query, region=_criterion(params.region), size=params.size)

    @operation(
        parse=parse.creatives,
        default_for=("advertiser", "domain"),
        counts="ad",
        patterns=(
            rf"{_SITE}advertiser/(?P<advertiser>{contract.ADVERTISER})/?(?=[?#]|$){_FILTERS}",
            rf"{_SITE}(?=\?){_FILTERS}(?=[^#]*[?&]domain=(?P<domain>[^&#]{{4,253}}))",
        ),
    )
    def creatives(self, call: Call[CreativesParams]) -> Iterator[Fetch]:
        """All advertisements of an advertiser, or those that lead to a site."""
        params = call.params
        yield contract.creatives(
            advertiser=params.advertiser,
            domain=params.domain,
            filters=params.filters(),
            topic=params.topic,
            region=_criterion(params.region),
            size=params.page_size,
            cursor=call.cursor,
        )

    @operation(
        parse=parse.creative,
        default_for=("creative",),
        patterns=(
            rf"{_SITE}advertiser/(?P<advertiser>{contract.ADVERTISER})/creative/(?P<creative>{contract.CREATIVE}){_REST}",
        ),
    )
    def creative(self, call: Call[CreativeParams]) -> Iterator[Fetch]:
        """One advertisement: its variations, and the countries it was shown in."""
        params = call.params
        yield contract.creative(params.advertiser, params.creative, region=_criterion(params.region))


def _criterion(region: str | None) -> int | None:
    return geo.criterion(region) if region else None
