"""The Ad Library spider: which requests to make for what, in order of preference."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.meta import contract, parse
from fetchworker.spiders.meta.params import ALL, AdParams, AdsParams, ArchiveParams
from fetchworker.spiders.metafamily import bundles, tokens

_LIBRARY = r"https?://(?:www\.|m\.|web\.)?facebook\.com/ads/library/?\?"
_HERE = r"(?:[^#]*&)?"


def _given(name: str, group: str, value: str = r"[^&#]+") -> str:
    """A parameter of the address, wherever it stands."""
    return rf"(?=(?:{_HERE}{name}=(?P<{group}>{value}))?)"


_SEARCH = (
    rf"{_LIBRARY}(?={_HERE}(?:q|view_all_page_id)=[^&#])"
    + _given("q", "query")
    + _given("view_all_page_id", "page_id", r"\d+")
    + _given("country", "country", r"\w+")
    + _given("active_status", "status", r"\w+")
    + _given("ad_type", "ad_type", r"\w+")
    + _given("media_type", "media_type", r"\w+")
    + _given("search_type", "exact", r"\w+")
    + _given(r"sort_data(?:\[|%5B)mode(?:\]|%5D)", "sort", r"\w+")
)


class MetaSpider(SiteSpider):
    """Ads of Facebook, Instagram, Messenger, Threads and WhatsApp, as Meta's library shows them to anybody."""

    name = "meta"
    warmup = contract.WARMUP
    extract_tokens = staticmethod(tokens.extract)
    scripts = bundles.SCRIPTS
    gate = staticmethod(contract.gate)

    @operation(parse=parse.ads, default_for=("query", "page_id"), counts="ad", patterns=(_SEARCH,))
    def ads(self, call: Call[AdsParams]) -> Iterator[Fetch]:
        """Ads that a search finds, or those of an advertiser."""
        if call.cursor == parse.CONTROL:
            yield contract.search_query(AdsParams(query=contract.CONTROL_WORDS, country=ALL), None, call.state)
            return
        if not call.cursor:
            yield contract.search_page(call.params)
        yield contract.search_query(call.params, call.cursor, call.state)

    @operation(
        parse=parse.ad,
        default_for=("id",),
        counts="ad",
        patterns=(rf"{_LIBRARY}{_HERE}id=(?P<id>\d+)(?:[&#].*)?$",),
    )
    def ad(self, call: Call[AdParams]) -> Iterator[Fetch]:
        """One ad, with its payer and its reach where the law has them told."""
        if not call.cursor:
            yield contract.ad_page(call.params.id)
        yield contract.details_query(call.params.id, call.state.get("page_id"), call.params.country)

    @operation(parse=parse.ads_archive, default_for=("page_ids",), counts="ad")
    def ads_archive(self, call: Call[ArchiveParams]) -> Iterator[Fetch]:
        """Ads by the official API; needs a token in the environment."""
        yield contract.archive(call.params, call.cursor, size=contract.API_PAGE_SIZE)
        yield contract.archive(call.params, call.cursor, size=contract.API_SMALL_PAGE)
