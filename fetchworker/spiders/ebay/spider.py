"""The eBay spider: searches, listings and sellers of all of eBay's shops."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.ebay import contract, parse
from fetchworker.spiders.ebay.params import DescriptionParams, ItemParams, SearchParams, SellerParams

_SHOPS = "|".join(domain.removeprefix("ebay.").replace(".", r"\.") for domain in contract.DOMAINS)
_SITE = rf"https?://(?:[a-z-]{{1,20}}\.){{0,2}}ebay\.(?P<domain>{_SHOPS})/"
_VARIATION = r"(?:/?\?(?:[^#]{0,2000}&)?var=(?P<variation>\d{1,15})(?!\d))?"


class EbaySpider(SiteSpider):
    """Listings, as a visitor without an account sees them."""

    name = "ebay"
    warmup = Fetch("warmup", contract.home())

    @operation(
        parse=parse.search,
        default_for=("query", "seller", "category"),
        counts="search_result",
        patterns=(_SITE.replace("?P<domain>", "?:") + "sch/",),
    )
    def search(self, call: Call[SearchParams]) -> Iterator[Fetch]:
        """Listings for words, a seller or a category: running, ended or sold ones."""
        yield contract.search(call.params.address(), call.cursor)

    @operation(
        parse=parse.item,
        default_for=("item",),
        patterns=(rf"{_SITE}itm/(?:[^/?#]{{1,200}}/)?(?P<item>\d{{9,15}})(?!\d){_VARIATION}",),
    )
    def item(self, call: Call[ItemParams]) -> Iterator[Fetch]:
        """One listing with its variations, and the reviews on its page."""
        params = call.params
        yield contract.item(params.domain, params.item, params.variation)

    @operation(parse=parse.description)
    def description(self, call: Call[DescriptionParams]) -> Iterator[Fetch]:
        """The seller's own text of a listing."""
        yield contract.description(call.params.item)

    @operation(parse=parse.seller, patterns=(rf"{_SITE}usr/(?P<seller>[A-Za-z0-9*!$._-]{{1,64}})/?(?:[?#].*)?$",))
    def seller(self, call: Call[SellerParams]) -> Iterator[Fetch]:
        """A seller's name, ratings and numbers."""
        yield contract.seller(call.params.domain, call.params.seller)
