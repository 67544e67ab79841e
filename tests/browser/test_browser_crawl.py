"""Spiders that were written for scrapy-playwright, run as they are by ``scrapy runspider`` in the project."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress

import pytest

from tests.conftest import ROOT

from .conftest import answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SPIDER = """
import scrapy
from scrapy_playwright.page import PageMethod


class QuotesSpider(scrapy.Spider):
    name = "quotes"
    custom_settings = {
        "DOWNLOAD_HANDLERS": {
            "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
            "https": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
        },
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"headless": True, "timeout": 30000},
        "PLAYWRIGHT_MAX_CONTEXTS": 1,
    }

    async def start(self):
        for name in ("ann", "ben"):
            yield scrapy.Request(
                f"http://page.example:PORT/{name}",
                meta={
                    "playwright": True,
                    "playwright_context": name,
                    "playwright_page_methods": [PageMethod("wait_for_selector", "p.made")],
                },
                callback=self.parse,
            )
        yield scrapy.Request(
            "http://page.example:PORT/cat",
            meta={"playwright": True, "playwright_include_page": True},
            callback=self.parse_page,
            errback=self.failed,
        )
        yield scrapy.Request("http://page.example:PORT/plain", callback=self.parse)

    def parse(self, response):
        yield {"url": response.url, "made": response.css("p.made::text").getall()}

    async def parse_page(self, response):
        page = response.meta["playwright_page"]
        title = await page.title()
        await page.close()
        yield {"url": response.url, "made": [title]}

    async def failed(self, failure):
        await failure.request.meta["playwright_page"].close()
"""


def test_a_spider_of_scrapy_playwrights(project, shell, server_of_pages, tmp_path):
    port = server_of_pages
    spider = tmp_path / "quotes.py"
    spider.write_text(SPIDER.replace("PORT", str(port)))
    project.env |= {
        "FETCHWORKER_BROWSER": shell,
        "FETCHWORKER_HOST_MAP": json.dumps({f"page.example:{port}": f"127.0.0.1:{port}"}),
    }
    ended = project.scrapy("runspider", str(spider), "-o", f"{tmp_path}/items.jsonl")
    items = {item["url"].rpartition("/")[2]: item["made"] for item in project.lines("items.jsonl")}
    assert items == {"ann": ["ann"], "ben": ["ben"], "cat": ["cat"], "plain": []}, ended.stderr
    assert ended.stderr.count("scrapy-playwright's download handler is replaced by fetchworker's") == 1
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0


DROPPED = """
import scrapy

class Cakes(scrapy.Spider):
    name = "cakes"

    async def start(self):
        yield {"kind": "cake", "size": 3}
        for n in range(int(getattr(self, "plain", 0))):
            yield {"size": n}
"""


@pytest.mark.parametrize(("plain", "code"), [(0, 1), (2, 0)])
def test_a_run_whose_items_were_all_dropped_has_failed(project, tmp_path, plain, code):
    spider = tmp_path / "cakes.py"
    spider.write_text(DROPPED)
    project.env |= {"FETCHWORKER_STORE": "true", "FETCHWORKER_MEDIA": "true"}
    ended = project.scrapy("runspider", str(spider), "-a", f"plain={plain}", "-o", f"{tmp_path}/items.jsonl")
    assert ended.returncode == code, ended.stderr
    assert project.lines("items.jsonl") == [{"size": n} for n in range(plain)]
    assert "unknown kind 'cake'" in ended.stderr


@pytest.fixture
def server_of_pages():
    """A server whose pages write their own name by a script; its port."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            body = (
                "<script>onload = () => { const made = document.createElement('p'); made.className = 'made';"
                f"made.textContent = document.title = '{name}'; document.body.append(made) }}</script>"
            ).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


SLOW = """
import scrapy

class Slow(scrapy.Spider):
    name = "slow"

    async def start(self):
        for n in range(2):
            yield scrapy.Request(f"http://page.example:PORT/slow?{n}", meta={"playwright": True})

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
"""


async def test_ctrl_c_lets_pages_under_way_end(project, shell, site, tmp_path):
    shut = asyncio.Event()

    async def slow(writer, _):
        await shut.wait()
        writer.write(answer(b"<title>done</title>"))

    site.pages["/slow"] = slow
    (tmp_path / "slow.py").write_text(SLOW.replace("PORT", str(site.port)))
    project.env |= {
        "FETCHWORKER_BROWSER": shell,
        "FETCHWORKER_HOST_MAP": json.dumps({f"page.example:{site.port}": f"127.0.0.1:{site.port}"}),
    }
    command = project.command("runspider", str(tmp_path / "slow.py"), "-o", str(tmp_path / "items.jsonl"))
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=project.environment(), stderr=asyncio.subprocess.PIPE, start_new_session=True
    )
    try:
        while len(site.to("/slow")) < 2:
            site.came.clear()
            await site.came.wait()
        os.killpg(process.pid, signal.SIGINT)
        lines = []
        while b"Closing spider" not in (line := await process.stderr.readline()):
            lines.append(line)
            assert line, b"".join(lines).decode()
        shut.set()
        told = (await process.stderr.read()).decode()
        await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert project.lines("items.jsonl") == [{"title": "done"}] * 2, told
    assert len(site.to("/slow")) == 2, "no page is sent again"
