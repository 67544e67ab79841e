"""The Walmart spider: searches, listings and reviews of walmart.com and walmart.ca."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.walmart import contract, parse
from fetchworker.spiders.walmart.params import ItemParams, ReviewsParams, SearchParams

_SHOPS = "|".join(domain.replace(".", r"\.") for domain in contract.DOMAINS)
_SITE = rf"https?://(?:www\.)?(?P<domain>{_SHOPS})/(?:(?:en|fr)/)?"
_ITEM = rf"(?P<item>{contract.ITEM})/?(?:[?#].*)?$"


class WalmartSpider(SiteSpider):
    """Listings, as a visitor without an account sees them."""

    name = "walmart"
    warmup = Fetch("warmup", contract.home())

    @operation(
        parse=parse.search,
        default_for=("query",),
        counts="search_result",
        patterns=(_SITE.replace("?P<domain>", "?:") + r"search(?:[/?#]|$)",),
    )
    def search(self, call: Call[SearchParams]) -> Iterator[Fetch]:
        """Listings for words."""
        yield contract.search(call.params.address(), call.cursor)

    @operation(
        parse=parse.product,
        default_for=("item",),
        patterns=(rf"{_SITE}ip/(?:[^/?#]{{1,400}}/)?{_ITEM}",),
    )
    def product(self, call: Call[ItemParams]) -> Iterator[Fetch]:
        """One listing with its variants, and the reviews on its page."""
        yield contract.product(call.params.domain, call.params.item)

    @operation(parse=parse.reviews, counts="review", patterns=(rf"{_SITE}reviews/product/{_ITEM}",))
    def reviews(self, call: Call[ReviewsParams]) -> Iterator[Fetch]:
        """All reviews of a listing, page by page."""
        params, newest = call.params, call.params.sort == "newest"
        yield contract.reviews(params.domain, params.item, page=call.cursor, rating=params.rating, newest=newest)
        if call.cursor is None and params.rating is None and not newest:
            # the listing's own page has the first ten
            yield contract.product(params.domain, params.item)
