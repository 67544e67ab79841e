"""One page in the browser: the navigation, what the spider does with the page, and what comes of it."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.http import Headers, TextResponse
from scrapy.responsetypes import responsetypes
from scrapy.utils.misc import load_object
from w3lib.encoding import html_body_declared_encoding, http_content_type_encoding

from fetchworker.browser.faults import code_of, is_playwright_error, translated
from fetchworker.download.browserfaults import endless_error, exit_error, lost_error, refusal_error, refused_since
from fetchworker.download.browserseen import Seen
from fetchworker.errors import FetchworkerError, PageFailedError, PageSizeError
from fetchworker.pagemethod import apply, methods_of
from fetchworker.tasks import drop

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response

    from fetchworker.browser import BrowserContext
    from fetchworker.download.browserplan import Plan
    from fetchworker.download.rendering import Rendering
    from fetchworker.egress.filter_proxy import Refusal

#: headers of the wire, which say nothing true of what a page has become
_OF_WIRE = ("Content-Encoding", "Content-Length", "Transfer-Encoding")
_REASON = "x-fetchworker-reason"
_EMPTY = frozenset({204, 205})  # a browser stays where it is
_NAVIGATING = "the page is navigating"
#: seconds between two readings of a page that goes somewhere else
_AGAIN = 0.05
#: seconds until a download has begun, once a navigation has ended as one
_DOWNLOAD = 10.0


class Visit:
    """Loads a page for a request.

    Args:
        request: Scrapy's.
        plan: how it goes out.
        spider: whose methods may be named as handlers of events.
        maxsize: bytes that the answer may have; 0 for any.
        abort: the function of PLAYWRIGHT_ABORT_REQUEST, None where there is none.
        navigation_timeout: milliseconds for a navigation, None for the visit's own deadline.
        rendering: what is waited for before the page is read.
    """

    def __init__(
        self,
        request: Request,
        plan: Plan,
        spider: Spider | None,
        *,
        maxsize: int,
        abort: Any = None,
        navigation_timeout: float | None = None,
        rendering: Rendering | None = None,
    ) -> None:
        self._request, self._plan, self._spider = request, plan, spider
        self._maxsize, self._abort = maxsize, abort
        self._navigation_timeout = navigation_timeout
        self._rendering = rendering
        self._last: Refusal | None = None
        self._methods = methods_of(request.meta.get("playwright_page_methods"))

    async def load(self, page: Any, context: BrowserContext) -> Response:
        """Go to the page and read it.

        Raises:
            BrowserError: by its layer.
            ProxyAuthError: the session's proxy refused its credentials.
            ProxyFailedError: it did not open the way.
            PageFailedError: the page stands nowhere: it went on to an address that cannot be had, or goes on and on.
        """
        seen = Seen(most=self._rendering.most if self._rendering is not None else None)
        work = asyncio.ensure_future(self._load(page, context, seen))
        try:
            await asyncio.wait((work, seen.spent), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
        finally:
            await drop(work)
        assert seen.most is not None
        raise endless_error(seen.most)

    async def _load(self, page: Any, context: BrowserContext, seen: Seen) -> Response:
        self._last = next(reversed(context.run.refusals), None)
        seen.watch(page)
        await self._dress(page)
        page.set_default_navigation_timeout(self._navigation_timeout or 0)
        found = await self._goto(page, context, seen)
        if found is None and seen.download.done():
            return await self._downloaded(seen)
        try:
            if found is not None and found.status in _EMPTY:
                return await self._response(page, found, b"", "utf-8")
            await apply(page, self._methods)
            if self._rendering is not None:
                found = await self._rendering.settle(page, seen, partial(self._hopeless, page, context, seen)) or found
            body, encoding = await self._content(page, found)
        except FetchworkerError:
            raise
        except Exception as exc:
            failure = self._failure(exc, context, seen) if code_of(str(exc)) else translated(exc)
            raise (self._lost(context, seen) or failure or exc) from exc
        if lost := self._lost(context, seen):
            raise lost
        return await self._response(page, found, body, encoding)

    async def _dress(self, page: Any) -> None:
        """What the request and the settings want done before the page is loaded."""
        for event, handler in (self._request.meta.get("playwright_page_event_handlers") or {}).items():
            page.on(event, getattr(self._spider, handler) if isinstance(handler, str) else handler)
        if self._abort is not None:
            await page.route("**/*", self._routed)
        elif not self._plan.plain:
            await page.route("**/*", self._first, times=1)
        initial = self._request.meta.get("playwright_page_init_callback")
        if initial:
            await load_object(initial)(page, self._request)

    async def _routed(self, route: Any, request: Any) -> None:
        wanted = self._abort(request)
        if await wanted if inspect.isawaitable(wanted) else wanted:
            await route.abort()
        elif request.is_navigation_request() and not self._plan.plain and request.url == self._request.url:
            await self._first(route, request)
        else:
            await route.continue_()

    async def _first(self, route: Any, request: Any) -> None:
        """Send the first request as it is meant: with its method, body and headers."""
        plan = self._plan
        changed: dict[str, Any] = {}
        if plan.headers:
            changed["headers"] = {**await request.all_headers(), **plan.headers}
        if plan.method != "GET":
            changed["method"] = plan.method
        if plan.body:
            changed["post_data"] = plan.body
        await route.continue_(**changed)

    async def _goto(self, page: Any, context: BrowserContext, seen: Seen) -> Any:
        wanted = dict(self._request.meta.get("playwright_page_goto_kwargs") or {})
        wanted.pop("url", None)
        if self._plan.referer:
            wanted.setdefault("referer", self._plan.referer)
        try:
            found = await page.goto(self._request.url, **wanted)
        except Exception as exc:
            if not is_playwright_error(exc):
                raise
            if seen.answer is not None and seen.answer.status in _EMPTY:
                return seen.answer
            if await self._is_download(exc, seen):
                return None
            raise self._failure(exc, context, seen) from exc
        if found is not None and _REASON in found.headers and (refused := self._lost(context, seen)):
            raise refused
        return found

    async def _is_download(self, error: Exception, seen: Seen) -> bool:
        if "Download is starting" not in str(error) and "ERR_ABORTED" not in str(error):
            return False
        await asyncio.wait((seen.download,), timeout=_DOWNLOAD)
        return seen.download.done()

    def _failure(self, error: Exception, context: BrowserContext, seen: Seen) -> Exception:
        refused = refusal_error(seen.url or self._request.url, self._refusals(context))
        return refused or translated(error, layer="navigation") or error

    def _refusals(self, context: BrowserContext) -> list[Refusal]:
        """What the filtering proxy has refused since the visit began."""
        return refused_since(context.run.refusals, self._last)

    def _lost(self, context: BrowserContext, seen: Seen) -> Exception | None:
        """What is wrong where the page that stands there is no answer of the site."""
        if seen.lost is not None:
            return lost_error(seen.lost, self._refusals(context))
        answer = seen.committed
        if answer is not None and _REASON in answer.headers:
            return refusal_error(answer.url, self._refusals(context))
        return None

    def _hopeless(self, page: Any, context: BrowserContext, seen: Seen) -> Exception | None:
        """Why a page will not become what is waited for."""
        return self._lost(context, seen) or exit_error(page.url, self._refusals(context))

    async def _content(self, page: Any, found: Any) -> tuple[bytes, str]:
        if self._rendering is not None and found is not None and not _is_markup(found):
            told = http_content_type_encoding(found.headers.get("content-type", ""))
            return await found.body(), told or "utf-8"  # the browser has made a page of what is none
        try:
            text = await _standing(page)
        except Exception as exc:
            raise (translated(exc, layer="navigation") or exc) from exc
        return _encoded(text, found.headers.get("content-type", "") if found is not None else "")

    async def _response(self, page: Any, found: Any, body: bytes, encoding: str) -> Response:
        self._check_size(len(body))
        headers = Headers()
        if found is not None:
            await self._note(found)
            headers = await _headers(found)
        url = found.url if found is not None and found.status in _EMPTY else page.url
        made = responsetypes.from_args(headers=headers, url=url, body=body)
        status = found.status if found is not None else 200
        named: dict[str, Any] = {"encoding": encoding} if issubclass(made, TextResponse) else {}
        return made(url=url, status=status, headers=headers, body=body, flags=["playwright"], **named)

    async def _downloaded(self, seen: Seen) -> Response:
        download = seen.download.result()
        failed = await download.failure()
        if failed:
            raise PageFailedError("navigation", f"the download failed: {failed}")
        path = Path(await download.path())
        self._check_size(await asyncio.to_thread(lambda: path.stat().st_size))
        body = await asyncio.to_thread(path.read_bytes)
        self._request.meta["playwright_suggested_filename"] = download.suggested_filename
        headers = await _headers(seen.answer) if seen.answer is not None else Headers()
        made = responsetypes.from_args(headers=headers, url=download.url, body=body)
        status = seen.answer.status if seen.answer is not None else 200
        return made(url=download.url, status=status, headers=headers, body=body, flags=["playwright"])

    def _check_size(self, size: int) -> None:
        if self._maxsize and size > self._maxsize:
            told = f"the page has {size} bytes, more than DOWNLOAD_MAXSIZE ({self._maxsize})"
            raise PageSizeError("size", told)

    async def _note(self, found: Any) -> None:
        """Tell what the browser has followed, as Scrapy's own redirects would."""
        urls, reasons, before = [], [], found.request.redirected_from
        while before is not None:
            answer = await before.response()
            urls.append(before.url)
            reasons.append(answer.status if answer is not None else None)
            before = before.redirected_from
        meta = self._request.meta
        if urls:
            meta["redirect_times"] = len(urls)
            meta["redirect_urls"], meta["redirect_reasons"] = urls[::-1], reasons[::-1]
        meta["playwright_security_details"] = await found.security_details()


async def _standing(page: Any) -> str:
    """The page's HTML once it stays where it is; who goes on for ever is ended by the visit's deadline."""
    while True:
        try:
            html: str = await page.content()
        except Exception as exc:
            if _NAVIGATING not in str(exc):
                raise
        else:
            return html
        await page.wait_for_load_state("domcontentloaded")
        await asyncio.sleep(_AGAIN)


def _is_markup(found: Any) -> bool:
    kind = found.headers.get("content-type", "html").lower()
    return "html" in kind or "xml" in kind


async def _headers(found: Any) -> Headers:
    pairs = [(pair["name"], pair["value"]) for pair in await found.headers_array()]
    headers = Headers()
    for name, value in pairs:
        if not name.startswith(":"):
            headers.appendlist(name, value)
    for name in _OF_WIRE:
        headers.pop(name, None)
    return headers


def _encoded(text: str, content_type: str) -> tuple[bytes, str]:
    """A page's text as bytes, in the encoding that it says it is in."""
    for encoding in (http_content_type_encoding(content_type), html_body_declared_encoding(text), "utf-8"):
        try:
            if encoding:
                return text.encode(encoding), encoding
        except (LookupError, UnicodeEncodeError):
            continue
    return text.encode("utf-8", "replace"), "utf-8"
