"""Runs a call in the process, on the path of a crawl.

Its requests go through the crawler's middlewares, its pages through the spider's parser, its items through the
crawler's pipelines; only the queue and the files of a crawl are left out.
"""

from __future__ import annotations

from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy import Request
from scrapy.exceptions import DropItem
from twisted.python.failure import Failure

from fetchworker.artifacts import ArtifactContext
from fetchworker.contracts import Call, Fetch
from fetchworker.download.wire import LAST, page_of
from fetchworker.errors import ContractError, ItemInvalidError, ProxyConfigError
from fetchworker.items import Item, validate
from fetchworker.middlewares.outcome import ACCEPT, RETRIES
from fetchworker.middlewares.pooled import COUNTRY
from fetchworker.middlewares.recording import CALL_ID, WORKSPACE, archived
from fetchworker.middlewares.render import RENDER, STEP
from fetchworker.proxies.countries import country_code
from fetchworker.runtime.crawl import HEARD
from fetchworker.service.failures import ApiError
from fetchworker.service.leasing import Held, session_of
from fetchworker.service.models import FetchBody
from fetchworker.spiders.fetch import FetchSpider, parse
from fetchworker.spiders.paging import stamper
from fetchworker.spiders.requests import build_request, fetch_meta

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from scrapy.core.engine import ExecutionEngine
    from scrapy.http import Response

    from fetchworker.runtime import Runtime
    from fetchworker.service.crawlers import Served
    from fetchworker.sites import SiteConfig
    from fetchworker.spiders.fetch import FetchParams
    from fetchworker.spiders.operation import Started


async def run_fetch(
    served: Served,
    engine: ExecutionEngine,
    body: FetchBody,
    *,
    call_id: str,
    timeout: float,  # noqa: ASYNC109  # the whole call's is over it
    last: dict[str, Any],
    workspace: str | None = None,
    caller: str | None = None,
) -> Item:
    """Fetch one address.

    Args:
        served: the spider of the site whose sessions, exits and rules hold.
        engine: its engine.
        body: what is asked for.
        call_id: names the call in logs.
        timeout: seconds; no try may take longer.
        last: is told how each try ended.
        workspace: whose artifacts it leaves behind.
        caller: whose leases it may use.

    Raises:
        ApiError: the arguments are wrong, or what the caller expects does not hold.
        Exception: as of the download path.
    """
    assert served.runtime
    params = body.params()
    if params.headers or params.cookies or params.referer:
        FetchSpider.check_call(Call("fetch", params), served.runtime.config)
    _check_render(served, body)
    request = _fetch_request(served, body, params, call_id=call_id, timeout=timeout)
    if body.country is not None:
        request.meta[COUNTRY] = check_country(served.runtime, body.country, body.proxy)
    held = Held(body.session_id, body.lease, caller) if body.session_id is not None else None
    about = _about(served, "fetch", call_id, session=body.session_id, url=params.url, workspace=workspace)
    async with archived(served.runtime, about) as kept, session_of(served.runtime, held, seconds=timeout) as meta:
        request.meta.update(meta, **{LAST: last, WORKSPACE: workspace}, **kept)
        response = await engine.download_async(request)
    item = parse(page_of(response), Call("fetch", params)).items[0]
    stamper(served.name, "fetch", call_id, response.url)(item, 0)
    FetchSpider.complete(served, item, response)  # type: ignore[arg-type]  # it asks the response alone
    _check_expected(body, item, response)
    return validate(item)


async def run_download(
    served: Served,
    engine: ExecutionEngine,
    url: str,
    *,
    call_id: str,
    timeout: float,  # noqa: ASYNC109  # as above
    max_bytes: int,
    last: dict[str, Any],
) -> bytes:
    """The bytes at an address, by the same path as :func:`run_fetch`.

    Raises:
        ApiError: the address is wrong.
        Exception: as of the download path.
    """
    assert served.runtime
    body = FetchBody(url=url)
    request = _fetch_request(served, body, body.params(), call_id=call_id, timeout=timeout)
    request.meta["download_maxsize"] = max_bytes  # the documents' own cap, whatever the site's is
    async with session_of(served.runtime, None, seconds=timeout) as meta:
        request.meta.update(meta, **{LAST: last})
        response = await engine.download_async(request)
    return response.body


def _check_render(served: Served, body: FetchBody) -> None:
    """A browser follows redirects by itself.

    Raises:
        ApiError: it is to load a page, and not to.
    """
    assert served.runtime
    loads = body.method == "GET" and body.destination == "navigate"
    if body.follow_redirects or not loads or (body.render or served.runtime.render) != "always":
        return
    told = "follow_redirects: a browser follows redirects: leave it out, or say render: never"
    raise ApiError("VALIDATION_ERROR", told, fields=["render", "follow_redirects"])


def _about(served: Served, operation: str, call_id: str, **more: Any) -> ArtifactContext:
    return ArtifactContext(site=served.name, operation=operation, request_id=call_id, **more)


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
        **tier_meta(config, body.proxy),
        "fw_request_id": call_id,
        "download_timeout": min(timeout, config.timeout),
        "download_maxsize": min(body.max_bytes or config.max_bytes, config.max_bytes),
    }
    if not body.follow_redirects:
        meta["dont_redirect"] = True
    if body.render is not None:
        meta[RENDER] = body.render
    if body.retries is not None:
        meta[RETRIES] = body.retries
    if body.expect.status:
        meta[ACCEPT] = body.expect.status
    return build_request(fetch, meta)


def tier_meta(config: SiteConfig, tier: str | None) -> dict[str, Any]:
    """What sends a request by a tier of the site's proxies, or by a better one (pure).

    Raises:
        ApiError: the site has no such tier.
    """
    tiers = config.proxy_tiers or ()
    if tier is not None and tier not in tiers:
        known = f"known: {', '.join(tiers)}" if tiers else "the site has none (`proxy_tiers` in sites.yaml)"
        raise ApiError("VALIDATION_ERROR", f"proxy: there is no tier {tier!r}; {known}", fields=["proxy"])
    return {"fw_tier": tier} if tier is not None else {}


def check_country(runtime: Runtime, country: str, tier: str | None = None) -> str:
    """The code of a country in which the site has exits, of this tier or a better one.

    Raises:
        ApiError: it has none, or that is no country.
    """
    try:
        code = country_code(country)
    except ProxyConfigError as exc:
        raise ApiError("VALIDATION_ERROR", f"country: {exc.message}", fields=["country"]) from None
    if not runtime.exits.serves(code, tier):
        told = f"country: {runtime.site} has no exit in {code}" + (f" of the tier {tier} or above" if tier else "")
        raise ApiError("VALIDATION_ERROR", f"{told}; see FETCHWORKER_PROXIES", fields=["country"])
    return code


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
    served: Served,
    engine: ExecutionEngine,
    started: Started,
    held: Held | None,
    *,
    seconds: float,
    last: dict[str, Any],
    call_id: str | None = None,
    workspace: str | None = None,
    render: str | None = None,
) -> AsyncGenerator[Item, None]:
    """The items of a call, as its pages come: those of one page, or as many as ``limit`` asks for.

    Args:
        served: the site's spider.
        engine: its engine.
        started: the call.
        held: the session that it names.
        seconds: the call's time.
        last: is told how each try ended.
        call_id: names the call in artifacts.
        workspace: whose those are.
        render: whether a browser loads its pages; None for what the site says.

    Raises:
        Exception: what the call ended with; items may have come before.
    """
    assert served.runtime
    call = uuid4().hex
    spider = served.for_call(call)
    name = held.name if held else None
    about = _about(served, started.call.operation, call_id or call, session=name, workspace=workspace)
    async with archived(served.runtime, about) as kept, session_of(served.runtime, held, seconds=seconds) as meta:
        first = spider.request(started)
        if held is not None and held.lease is not None:
            first.meta.update(meta)
            first.meta.pop("fw_session_ends", None)  # its holder gives it back
        pages = _pages(
            spider,
            engine,
            first,
            {
                LAST: last,
                CALL_ID: call_id or call,
                WORKSPACE: workspace,
                **kept,
                **({RENDER: render} if render else {}),
            },
            one=_reads_one(started),
        )
        async with aclosing(pages) as items:
            async for item in items:
                yield item


def _reads_one(started: Started) -> bool:
    """Whether the call is over with the first page that has items: nobody said how many are wanted."""
    return getattr(started.call.params, "limit", None) is None


async def _pages(
    spider: Served, engine: ExecutionEngine, first: Request, told: dict[str, Any], *, one: bool
) -> AsyncGenerator[Item, None]:
    heard: list[BaseException] = []
    queue, last = deque([first]), first
    given = refused = 0
    try:
        while queue and not (given and one):
            last = queue.popleft()
            last.meta.update(
                {**told, HEARD: heard} if STEP not in last.meta else {**told, RENDER: "never", HEARD: heard}
            )
            async for output in _answer(engine, last):
                if isinstance(output, Request):
                    queue.append(output)
                elif (item := await _checked(engine, output)) is None:
                    refused += 1
                else:
                    given += 1
                    yield item
            if heard:
                raise heard[0]
    finally:
        await spider.leave(last)
    if refused and not given:
        raise ContractError("items", f"{refused} items break the contract of items, and there are no others")


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
