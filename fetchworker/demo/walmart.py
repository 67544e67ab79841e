"""The demo plays Walmart: result pages, listings, reviews, and the block page that a script has to pass.

All stand in the state of a Next.js page, as the site's own do. ``www.walmart.ca`` is the same in Canadian dollars, with
``/en/`` before its paths. What is advertised stands in the list twice, and again on the second page.
"""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from fetchworker.demo import walmart_pages
from fetchworker.demo.model import Reply, RequestInfo
from fetchworker.demo.wares import Market, make_market

if TYPE_CHECKING:
    from fetchworker.demo.log import Log

HOSTS = ("www.walmart.com", "www.walmart.ca")
PAGE_SIZE, REVIEWS_SIZE = 40, 10
CHALLENGE = "challenge"
#: a listing that was taken away, and one that wants an account first
REMOVED, WALLED = "17000000001", "17000000002"
_HTML = ("content-type", "text/html; charset=utf-8")
_ITEM = re.compile(r"/ip/(?:[^/]+/)?(?P<number>\w{3,15})$")
_REVIEWS = re.compile(r"/reviews/product/(?P<number>\w{3,15})$")


class Walmart:
    """The app.

    Args:
        market: what there is.
        seed: a market follows from it when none is given.
        challenge_exits: the first request of each exit is sent to the block page.
        log: gets an event of type ``behaviour`` for each of them.
    """

    def __init__(
        self, market: Market | None = None, *, seed: int = 0, challenge_exits: bool = False, log: Log | None = None
    ) -> None:
        self.market = market if market is not None else make_market(seed)
        self.challenge_exits = challenge_exits
        self._log, self._exits = log, set[str]()

    def __call__(self, request: RequestInfo) -> Reply:
        """Answer a request."""
        route = request.route
        if route == "/blocked":
            return _page(walmart_pages.blocked())
        if self.challenge_exits and request.peer not in self._exits:
            return self._challenge(request)
        if route.removeprefix("/en") == "/search":
            return self._search(request)
        return self._item(request)

    def _challenge(self, request: RequestInfo) -> Reply:
        self._exits.add(request.peer)
        if self._log is not None:
            self._log.event(
                "behaviour", what=CHALLENGE, peer=request.peer, connection=request.connection.id, path=request.path
            )
        wanted = base64.urlsafe_b64encode(request.path.encode()).decode()
        return Reply(307, (("location", f"/blocked?url={wanted}&uuid=demo&vid=&g=b"),))

    def _search(self, request: RequestInfo) -> Reply:
        query = request.query()
        words, number = query.get("q", ""), int(query.get("page", "1"))
        found = [ware for ware in self.market.search(words) if ware.sold is None and _passes(ware.price, query)]
        if query.get("sort") in ("price_low", "price_high"):
            found.sort(key=lambda ware: ware.price, reverse=query["sort"] == "price_high")
        last = min(25, -(-len(found) // PAGE_SIZE))
        shown = found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        promoted = [ware for ware in found if ware.promoted][:3] if number <= 2 else []  # noqa: PLR2004  # as the site does
        results = walmart_pages.Results(words, promoted, shown, len(found), number, last)
        return _page(walmart_pages.results(results, request.host))

    def _item(self, request: RequestInfo) -> Reply:
        reviews = _REVIEWS.search(request.route)
        match = reviews or _ITEM.search(request.route)
        number = match["number"] if match else ""
        if number == WALLED:
            return Reply(302, (("location", f"/account/login?returnUrl={request.route}"),))
        if number == REMOVED:
            return _page(walmart_pages.removed(request.host))
        ware = self.market.by_number.get(number)
        if ware is None:
            home = request.route in ("/", "/en")
            return _page(walmart_pages.other("/" if home else "/404", request.host), 200 if home else 404)
        if reviews:
            return _page(walmart_pages.reviews(ware, int(request.query().get("page", "1")), request.host))
        return _page(walmart_pages.listing(ware, request.host))


def _passes(price: int, query: dict[str, str]) -> bool:
    low, high = query.get("min_price"), query.get("max_price")
    return (not low or price >= float(low) * 100) and (not high or price <= float(high) * 100)


def _page(body: str, status: int = 200) -> Reply:
    return Reply(status, (_HTML,), body.encode())
