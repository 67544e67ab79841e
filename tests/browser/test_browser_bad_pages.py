"""Pages that mean no good: each ends with its own error within its deadline, and nothing of it is left."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, DownloadTimeoutError, IgnoreRequest

from fetchworker.browser import PageMethod
from fetchworker.errors import BrowserError

from .conftest import answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MANY = 64 * 1024
LEAK = b"<script>onload = () => { const kept = []; for (;;) kept.push(new Array(100000).fill({a: [1]})) }</script>x"


async def endless(writer, asked):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>once upon a time")
    while True:
        writer.write(b"<p>and then")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silent(writer, asked):
    await asyncio.Event().wait()


async def huge(writer, asked):
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: 104857600\r\n\r\n")
    for _ in range(1600):
        writer.write(b" " * MANY)
        await writer.drain()


async def around(writer, asked):
    writer.write(answer(b"", f"Location: /around?{len(asked.path)}{'x' * len(asked.path)}", status="302 Found"))


async def cut(writer, asked):
    writer.close()


async def attachment(writer, asked):
    writer.write(answer(b"a,b\n1,2\n", 'Content-Disposition: attachment; filename="sums.csv"', kind="text/csv"))


async def inside(writer, asked):
    writer.write(answer(b"", "Location: http://10.0.0.1/", status="302 Found"))


async def nothing(writer, asked):
    writer.write(answer(b"", status="204 No Content"))


PAGES = {
    "/endless": endless,
    "/silent": silent,
    "/loop": b"<script>for (;;);</script>",
    "/alerts": b"<script>for (;;) alert('again')</script>",
    "/alert": b"<script>alert('once'); prompt('who?')</script><p>after",
    "/stay": b"<script>onbeforeunload = event => { event.preventDefault(); return 'stay' }</script><p>here",
    "/popups": b"<p>here<script>for (let i = 0; i < 60; i++) window.open('/stay?' + i)</script>",
    "/asset": b"<link rel=stylesheet href=/huge>",
    "/huge": huge,
    "/around": around,
    "/cut": cut,
    "/attachment": attachment,
    "/inside": inside,
    "/nothing": nothing,
    "/leak": LEAK,
    "/good": b"<p>good",
}
#: path → layer, family of Scrapy's errors
ERRORS = {
    "/endless": ("deadline", DownloadTimeoutError),
    "/silent": ("deadline", DownloadTimeoutError),
    "/loop": ("deadline", DownloadTimeoutError),
    "/alerts": ("deadline", DownloadTimeoutError),
    "/asset": ("size", DownloadCancelledError),
    "/around": ("navigation", DownloadFailedError),
    "/cut": ("navigation", DownloadFailedError),
    "/leak": ("browser_process", DownloadFailedError),
    "/crash": ("browser_process", DownloadFailedError),
    "/action": ("action", BrowserError),
    "/unknown": ("navigation", DownloadFailedError),
    "/inside": ("target_policy", IgnoreRequest),
}


async def crash(page):
    await (await page.context.new_cdp_session(page)).send("Page.crash")


METHODS = {
    "/crash": [PageMethod(crash)],
    "/action": [PageMethod("click", "#absent", timeout=100)],
    "/stay": [PageMethod("click", "p"), PageMethod("goto", "about:blank")],
}


async def load(handler, site, path: str) -> tuple[str, type] | str:
    """The layer of the error, or the text of the page."""
    url = "http://nowhere.invalid/" if path == "/unknown" else site.url(path)
    meta = {"playwright": True, "download_timeout": 8, "download_maxsize": 1_000_000, "playwright_context": path}
    try:
        response = await handler.download_request(
            Request(url, meta={**meta, "playwright_page_methods": METHODS.get(path)})
        )
    except BrowserError as exc:
        return exc.layer, next(family for family in (*FAMILIES, BrowserError) if isinstance(exc, family))
    return response.text


FAMILIES = (DownloadTimeoutError, DownloadCancelledError, IgnoreRequest, DownloadFailedError)


async def test_each_ends_as_it_must(make_handler, site, settled):
    site.pages |= PAGES
    handler = make_handler(
        PLAYWRIGHT_LAUNCH_OPTIONS={"args": ["--js-flags=--max-old-space-size=64"]}, PLAYWRIGHT_MAX_CONTEXTS=4
    )
    paths = [*ERRORS, "/alert", "/stay", "/popups", "/attachment", "/nothing", "/good"]
    found = dict(zip(paths, await asyncio.gather(*(load(handler, site, path) for path in paths)), strict=True))
    assert {path: found[path] for path in ERRORS} == ERRORS
    assert "after" in found["/alert"]
    assert "here" in found["/popups"]
    assert found["/attachment"] == "a,b\n1,2\n"
    assert found["/nothing"] == ""
    assert "good" in found["/good"]
    engine = await handler._shared.engine()
    assert engine.counts["launched"] == 1, "no bad page takes the browser with it"
    assert engine.contexts <= 4
    await settled(handler, site)
