"""The TikTok Shop spider: a page first, and what its script would ask for after it, in one session."""

from collections.abc import Iterator, Sequence

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.tiktok_shop import contract, parse
from fetchworker.spiders.tiktok_shop.params import ProductParams, ReviewsParams, SearchParams, more

_REGION = rf"(?P<region>{'|'.join(contract.REGIONS)})"
_HOST = r"https?://(?:(?:www|shop|m)\.)?tiktok\.com/"
_SLUG = r"(?:[^/?#]{1,300}/)?"
_END = r"/?(?:[?#].*)?$"
_PRODUCT = rf"(?P<product>{contract.PRODUCT_ID}){_END}"


class TiktokShopSpider(SiteSpider):
    """Products, reviews and searches, as a visitor without an account sees them."""

    name = "tiktok_shop"
    verb = "POST"  # a call is a chain of pages in one session, paid for by each

    @classmethod
    def visits(cls, url: str) -> Sequence[Fetch]:  # noqa: ARG003  # the same for all addresses
        """TikTok's own pages: sessions that never were there are refused by the shop."""
        return contract.warm_up()

    @operation(
        parse=parse.product,
        default_for=("product",),
        patterns=(
            rf"{_HOST}(?:shop/)?(?:{_REGION}/)?pdp/{_SLUG}{_PRODUCT}",
            rf"{_HOST}(?:shop/)?view/product/{_PRODUCT}",
        ),
        session_scope="chain",
    )
    def product(self, call: Call[ProductParams]) -> Iterator[Fetch]:
        """One product with its forms, its seller and the reviews on its page."""
        yield contract.product_page(call.params.product, call.params.region)
        yield contract.product_share(call.params.product)

    @operation(parse=parse.reviews, counts="review", session_scope="chain")
    def reviews(self, call: Call[ReviewsParams]) -> Iterator[Fetch]:
        """Reviews of a product: those of its page, then the others."""
        product, region = call.params.product, call.params.region
        if call.cursor is None:
            yield contract.product_page(product, region)
            yield contract.product_share(product)
        else:
            yield contract.reviews(product, region, int(call.cursor))

    @operation(
        parse=parse.search,
        default_for=("query",),
        counts="search_result",
        patterns=(
            rf"{_HOST}(?:shop/)?(?:{_REGION}/)?s/[^/?#]+{_END}",
            rf"{_HOST}(?:shop/)?(?:{_REGION}/)?s/?\?(?:[^#]{{0,2000}}&)?q=",
        ),
        session_scope="chain",
    )
    def search(self, call: Call[SearchParams]) -> Iterator[Fetch]:
        """Products for words."""
        query, region = call.params.query, call.params.region
        after = more(call.cursor)
        if after is None:
            yield contract.search_page(query, region)
            yield contract.search_www(query)
        else:
            yield contract.search_more(query, region, after)
            if call.page > 1:  # pages have numbers only as long as they are turned one by one
                yield contract.search_page(query, region, call.page)
