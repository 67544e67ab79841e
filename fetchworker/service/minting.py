"""Sessions that a browser makes, as one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.contracts import Fetch
from fetchworker.download.charging import MINT
from fetchworker.download.wire import LAST
from fetchworker.middlewares.pooled import KEEPS
from fetchworker.middlewares.poolwarm import visit, visits_of
from fetchworker.runtime import undone_on_failure
from fetchworker.service.failures import ApiError
from fetchworker.service.leasing import Held, session_of
from fetchworker.service.models import FetchBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.core.engine import ExecutionEngine

    from fetchworker.runtime import Runtime
    from fetchworker.service.crawlers import Served
    from fetchworker.service.models import MintBody


def minted_by(served: Served, body: MintBody) -> Sequence[Fetch]:
    """What the browser has to visit.

    Raises:
        ApiError: the site has no warm-up page and the call names none, or the address is wrong.
    """
    assert served.runtime
    if body.url is not None:
        return (Fetch(MINT, FetchBody(url=body.url).params().url),)
    fetches = visits_of(type(served), served.runtime.config)
    if not fetches:
        told = f"url: {served.name} has no warm-up page: say what is to be visited"
        raise ApiError("VALIDATION_ERROR", told, fields=["url"])
    return fetches


async def mint_session(
    runtime: Runtime,
    engine: ExecutionEngine,
    name: str,
    fetches: Sequence[Fetch],
    *,
    seconds: float,
    last: dict[str, Any],
) -> None:
    """Make the visits by the browser, as the session, which nobody else uses meanwhile.

    One that is there keeps its identity; what fails changes nothing of it, and leaves none that was not there.

    Args:
        runtime: of the site.
        engine: of the site.
        name: the session's.
        fetches: what is visited.
        seconds: the call's time.
        last: is told how each try ended.

    Raises:
        ApiError: a session of the pool, which has no name that a caller may give.
        Exception: as of the download path.
    """
    async with (
        session_of(runtime, Held(name), seconds=seconds) as identity,
        undone_on_failure(runtime, name) as there,
    ):
        for fetch in fetches:
            request = visit(fetch, {**identity, LAST: last, KEEPS: there}, minting=True)
            request.meta["download_timeout"] = min(seconds, runtime.config.timeout)
            await engine.download_async(request)
