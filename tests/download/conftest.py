"""A real local server with misbehaving routes, and the handler as a crawl uses it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from fetchworker.demo.lab import lab_app
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.curl import CurlDownloadHandler
from fetchworker.telemetry.attribution import set_process

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


class LabSpider(Spider):
    name = "lab"


@pytest.fixture
async def lab() -> AsyncIterator[UpstreamServer]:
    async with UpstreamServer(lab_app, hosts=("lab.example", "other.example")) as server:
        yield server


@pytest.fixture
def environment(lab, tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("FETCHWORKER_CA_FILE", lab.ca_pem_path)
    monkeypatch.setenv("FETCHWORKER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("FETCHWORKER_HOST_MAP", json.dumps(lab.host_map()))
    monkeypatch.setenv("FETCHWORKER_EGRESS_ALLOW", "127.0.0.1")
    yield
    set_process(crawl_id=None, trace_id=None)


@pytest.fixture
async def make_handler(environment) -> AsyncIterator[Any]:
    made = []

    def make(**settings: Any) -> CurlDownloadHandler:
        base = {"DOWNLOAD_VERIFY_CERTIFICATES": True, "TWISTED_REACTOR_ENABLED": False, "EXTENSIONS_BASE": {}}
        handler = CurlDownloadHandler.from_crawler(get_crawler(LabSpider, {**base, **settings}))
        made.append(handler)
        return handler

    yield make
    for handler in made:
        await handler.close()


@pytest.fixture
def handler(make_handler) -> CurlDownloadHandler:
    return make_handler()
