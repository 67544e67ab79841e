"""The demo plays eBay: result pages, listings, sellers, and the interstitial that a browser has to pass.

Result pages have the cards of 2026 on .com, those of 2024, in German, on .de. Filters: ``_nkw``, ``_ssn``, ``LH_Sold``,
``LH_Complete``, ``LH_Auction``, ``LH_BIN``, ``_pgn``, ``_ipg``. Where fewer than a handful of listings have all the
words, those with some of them follow behind the site's boundary.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.demo import ebay_listing, ebay_pages
from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.wares import Market, Ware, make_market

if TYPE_CHECKING:
    from fetchworker.demo.log import Log

HOSTS = ("www.ebay.com", "www.ebay.de", "itm.ebaydesc.com")
PAGE_SIZE = 60
CHALLENGE = "challenge"
_HTML = ("content-type", "text/html;charset=utf-8")
_FEW = 5
_FILLER = 60
_ITEM = re.compile(r"/itm/(?:[^/]+/)?(?P<number>\d{9,15})$")
_SELLER = re.compile(r"/usr/(?P<name>[^/]+)/?$")


class Ebay:
    """The app.

    Args:
        market: what there is.
        seed: a market follows from it when none is given.
        challenge_exits: the first request of each exit meets the interstitial.
        log: gets an event of type ``behaviour`` for each interstitial.
    """

    def __init__(
        self, market: Market | None = None, *, seed: int = 0, challenge_exits: bool = False, log: Log | None = None
    ) -> None:
        self.market = market if market is not None else make_market(seed)
        self.challenge_exits = challenge_exits
        self._log, self._exits = log, set[str]()

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        if self.challenge_exits and request.peer not in self._exits:
            return self._challenge(request)
        if request.host.endswith("ebaydesc.com"):
            return self._description(request.route)
        return self._search(request) if request.route.startswith("/sch/") else self._page(request)

    def _challenge(self, request: RequestInfo) -> Reply:
        self._exits.add(request.peer)
        if self._log is not None:
            self._log.event(
                "behaviour", what=CHALLENGE, peer=request.peer, connection=request.connection.id, path=request.path
            )
        return _page(ebay_pages.interstitial(f"https://{request.host}{request.path}"))

    def _page(self, request: RequestInfo) -> Reply:
        item, seller = _ITEM.match(request.route), _SELLER.match(request.route)
        if item and item["number"] in self.market.by_number:
            return _page(ebay_listing.listing(self.market.by_number[item["number"]], request.host))
        if seller and seller["name"] in self.market.by_shop:
            return _page(ebay_pages.seller(self.market.by_shop[seller["name"]], request.host))
        return _page(ebay_pages.home()) if request.route == "/" else _page(ebay_pages.missing(), 404)

    def _search(self, request: RequestInfo) -> Reply:
        query = request.query()
        words = query.get("_nkw", "")
        exact = [ware for ware in self.market.search(words) if _passes(ware, query)]
        filler: list[Ware] = []
        if len(exact) < _FEW and words:
            others = self.market.search(words, some=True)
            filler = [ware for ware in others if ware not in exact and _passes(ware, query)][:_FILLER]
        size = int(query.get("_ipg", PAGE_SIZE))
        number = max(1, int(query.get("_pgn", "1")))
        shown = exact[(number - 1) * size : number * size]
        results = ebay_pages.Results(
            words=words,
            shown=shown,
            filler=filler,
            total=len(exact),
            page=number,
            last=number * size >= len(exact),
            address=f"https://{request.host}{request.path}",
            shop=self.market.by_shop.get(query.get("_ssn", "")),
        )
        return _page(ebay_pages.results(results, request.host))

    def _description(self, route: str) -> Reply:
        ware = self.market.by_number.get(route.rpartition("/")[2])
        return _page(ebay_pages.description(ware)) if ware else _page(ebay_pages.missing(), 404)


def _passes(ware: Ware, query: dict[str, str]) -> bool:
    """Whether a listing passes the filters; running ones are searched unless ended ones are asked for."""
    ended = "LH_Sold" in query or "LH_Complete" in query
    if (ware.sold is not None) != ended or query.get("_ssn", ware.shop.name) != ware.shop.name:
        return False
    if "LH_Auction" in query and ware.type == "fixed":
        return False
    return not ("LH_BIN" in query and ware.type == "auction")


def _page(body: str, status: int = 200) -> Reply:
    return Reply(status, (_HTML,), body.encode())
