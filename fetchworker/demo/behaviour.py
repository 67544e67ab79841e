"""How the demo's site defends itself: refusals that a crawl has to get around, deterministic and countable.

What the site can see tells who a client is: its *exit* (the address the connection comes from) and its *identity* (the
exit together with the cookie ``mid``). Requests without a ``mid`` belong to no identity yet.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING
from urllib.parse import quote

from fetchworker.demo.model import App, Reply, RequestInfo
from fetchworker.demo.pages import block_page

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from fetchworker.demo.log import Log

BLOCK, WALL, RATE_LIMIT, SLOW, BAD_GATEWAY = "block", "login_wall", "rate_limit", "slow", "bad_gateway"
_LOGIN = "/accounts/login/"


@dataclass(frozen=True, slots=True)
class BehaviourConfig:
    """What to do; None or 0 switches a behaviour off.

    The numbers after ``at_`` count the requests that came past blocks and walls, from 1, over all clients: the request
    with that number meets the behaviour, once.

    Attributes:
        block_exits: the first request of each of the first so many exits gets a vendor's 403 page; -1 for every exit.
        wall_after: an identity's hits after so many are redirected to the login page, for good.
        at_rate_limit: that request gets 429 with ``Retry-After: retry_after`` (seconds).
        at_slow: that request is answered ``slow_seconds`` late.
        at_bad_gateway: that request gets 502.
    """

    block_exits: int = 0
    wall_after: int | None = None
    at_rate_limit: int | None = None
    retry_after: int = 1
    at_slow: int | None = None
    slow_seconds: float = 1.0
    at_bad_gateway: int | None = None


CALM = BehaviourConfig()
DEMO = BehaviourConfig(block_exits=-1, wall_after=9, at_rate_limit=4, at_slow=6, at_bad_gateway=8)
NAMED = {"calm": CALM, "demo": DEMO}


class Behaviour:
    """Wraps an app; ``cookie`` is what tells its identities apart.

    ``counts`` says how often each behaviour struck (and ``passed``, the requests that came past blocks and walls); the
    log gets an event of type ``behaviour`` for each.
    """

    def __init__(self, app: App, config: BehaviourConfig, log: Log | None = None, *, cookie: str = "mid") -> None:
        self.config = config
        self.counts: Counter[str] = Counter()
        self.hits: Counter[tuple[str, str]] = Counter()
        self._app, self._log, self._cookie = app, log, cookie
        self._exits: set[str] = set()

    def reset(self) -> None:
        """Forget every exit, identity and count."""
        self.counts.clear()
        self.hits.clear()
        self._exits.clear()

    def __call__(self, request: RequestInfo) -> Reply | Awaitable[Reply]:
        """Answer a request, or refuse it."""
        if request.route.startswith(_LOGIN):
            return self._app(request)
        what = self._decide(request.peer, request.cookies().get(self._cookie))
        if what is None:
            return self._app(request)
        self.counts[what] += 1
        if self._log is not None:
            self._log.event(
                "behaviour", what=what, peer=request.peer, connection=request.connection.id, path=request.path
            )
        return self._slow(request) if what == SLOW else self._refusal(what, request)

    def _decide(self, exit_: str, mid: str | None) -> str | None:
        """What the next request from an exit meets; counts it."""
        fresh = exit_ not in self._exits
        self._exits.add(exit_)
        if fresh and (self.config.block_exits < 0 or len(self._exits) <= self.config.block_exits):
            return BLOCK
        if mid is not None:
            self.hits[exit_, mid] += 1
            if self.config.wall_after is not None and self.hits[exit_, mid] > self.config.wall_after:
                return WALL
        self.counts["passed"] += 1
        at = {self.config.at_rate_limit: RATE_LIMIT, self.config.at_slow: SLOW, self.config.at_bad_gateway: BAD_GATEWAY}
        return at.get(self.counts["passed"])

    def _refusal(self, what: str, request: RequestInfo) -> Reply:
        if what == BLOCK:
            reference = f"{request.connection.id:x}.demo.{len(self._exits):x}"
            headers = (("server", "AkamaiGHost"), ("content-type", "text/html"), ("cache-control", "no-store"))
            return Reply(403, headers, block_page(reference))
        if what == WALL:
            return Reply(302, (("location", f"https://{request.host}{_LOGIN}?next={quote(request.path, safe='')}"),))
        if what == RATE_LIMIT:
            body = b'{"message":"The demo asks you to slow down.","status":"fail"}'
            return Reply(
                429, (("retry-after", str(self.config.retry_after)), ("content-type", "application/json")), body
            )
        return Reply(
            502, (("content-type", "text/html"),), b"<html><title>502</title><h1>502 Bad Gateway</h1></html>\n"
        )

    async def _slow(self, request: RequestInfo) -> Reply:
        await asyncio.sleep(self.config.slow_seconds)
        answer = self._app(request)
        return await answer if isawaitable(answer) else answer
