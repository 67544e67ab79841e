"""Runs a call in the process, on the path of a crawl.

Its requests go through the crawler's middlewares, its pages through the spider's parser, its items through the
crawler's pipelines; only the queue and the files of a crawl are left out.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.exceptions import DropItem
from twisted.python.failure import Failure

from fetchworker.contracts import Call, Fetch
from fetchworker.download.wire import page_of
from fetchworker.errors import ContractError, ItemInvalidError
from fetchworker.items import Item, validate
from fetchworker.middlewares.outcome import ACCEPT, RETRIES
from fetchworker.runtime.crawl import HEARD
from fetchworker.service.failures import ApiError
from fetchworker.spiders.fetch import FetchSpider, parse
from fetchworker.spiders.paging import stamper
from fetchworker.spiders.requests import build_request, fetch_meta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response

    from fetchworker.service.crawlers import Served
    from fetchworker.service.models import FetchBody
    from fetchworker.spiders.fetch import FetchParams
    from fetchworker.spiders.operation import Started


async def run_fetch(served: Served, engine: ExecutionEngine, body: FetchBody, *, call_id: str, timeout: float) -> Item:  # noqa: ASYNC109  # the whole call's is over it
    """Fetch one address.

    Args:
        served: the spider of the site whose sessions, exits and rules hold.
        engine: its engine.
        body: what is asked for.
        call_id: names the call in logs.
        timeout: seconds; no try may take longer.

    Raises:
        ApiError: the arguments are wrong, or what the caller expects does not hold.
        Exception: as of the download path.
    """
    assert served.runtime
    params = body.params()
    if params.headers or params.cookies or params.referer:
        FetchSpider.check_call(Call("fetch", params), served.runtime.config)
    request = _fetch_request(served, body, params, call_id=call_id, timeout=timeout)
    response = await engine.download_async(request)
    item = parse(page_of(response), Call("fetch", params)).items[0]
    stamper(served.name, "fetch", call_id, response.url)(item, 0)
    FetchSpider.complete(served, item, response)  # type: ignore[arg-type]  # it asks the response alone
    _check_expected(body, item, response)
    return validate(item)


def _fetch_request(served: Served, body: FetchBody, params: FetchParams, *, call_id: str, timeout: float) -> Request:
    assert served.runtime
    fetch = Fetch(
        "fetch",
        params.url,
        method=params.method,
        destination=params.destination,
        headers=tuple(params.headers.items()),
        cookies=tuple(params.cookies.items()),
        body=params.sent(),
        referer=params.referer,
    )
    config = served.runtime.config
    meta: dict[str, Any] = {
        **fetch_meta(fetch),
        "fw_request_id": call_id,
        "download_timeout": min(timeout, config.timeout),
        "download_maxsize": min(body.max_bytes or config.max_bytes, config.max_bytes),
    }
    if body.session_id is not None:
        meta["fw_session"] = body.session_id
    if not body.follow_redirects:
        meta["dont_redirect"] = True
    if body.retries is not None:
        meta[RETRIES] = body.retries
    if body.expect.status:
        meta[ACCEPT] = body.expect.status
    return build_request(fetch, meta)


def _check_expected(body: FetchBody, item: Item, response: Response) -> None:
    expect = body.expect
    context = {"attempts": response.meta.get("fw_tries", 1), "status": response.status}
    if expect.status and response.status not in expect.status:
        wanted = ", ".join(map(str, expect.status))
        raise ApiError("CONTRACT_ERROR", f"the status is {response.status}, expected was {wanted}", **context)
    text = item.__dict__.get("body")
    marker = expect.marker
    if marker and marker.encode() not in response.body and marker not in (text or ""):
        raise ApiError("CONTRACT_ERROR", "the body does not contain the marker", path="expect.marker", **context)


async def run_operation(
    served: Served, engine: ExecutionEngine, started: Started, *, call_id: str
) -> AsyncGenerator[Item, None]:
    """The items of a call, as its pages come: those of one page, or as many as ``limit`` asks for.

    Raises:
        Exception: what the call ended with; items may have come before.
    """
    spider = served.for_call(call_id)
    heard: list[BaseException] = []
    first = spider.request(started)
    queue, rejected = deque([first]), 0
    one_page = getattr(started.call.params, "limit", None) is None
    last = first
    try:
        while queue:
            last = queue.popleft()
            last.meta[HEARD] = heard
            given = 0
            async for output in _answer(engine, last):
                if isinstance(output, Request):
                    queue.append(output)
                    continue
                checked = await _checked(engine, output)
                rejected += checked is None
                if checked is not None:
                    given += 1
                    yield checked
            if heard:
                raise heard[0]
            if given and one_page:
                break
    finally:
        await spider.leave(last)
    if rejected and not given:
        raise ContractError("items", f"{rejected} items of the page break the contract of items")


async def _answer(engine: ExecutionEngine, request: Request) -> AsyncIterator[Any]:
    """What the spider makes of a request's end."""
    assert request.callback is not None
    assert request.errback is not None
    try:
        response = await engine.download_async(request)
    except Exception as exc:  # noqa: BLE001  # it is the spider's to say what to do about it
        failure: Any = Failure(exc)  # type: ignore[no-untyped-call]  # Twisted's
        failure.request = request
        outputs = request.errback(failure)
    else:
        outputs = request.callback(response)
    async for output in outputs:
        yield output


async def _checked(engine: ExecutionEngine, item: Any) -> Item | None:
    """The item as the pipelines leave it; None when they refuse it."""
    try:
        checked: Item = await engine.scraper.itemproc.process_item_async(item)
    except (DropItem, ItemInvalidError):
        return None
    return checked
