from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest

from fetchworker.demo.lab import lab_app
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.demo.tls import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@pytest.fixture(scope="session")
def authority() -> Any:
    with Authority() as made:
        yield made


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


@pytest.fixture
async def site(stack: AsyncExitStack, authority: Authority) -> UpstreamServer:
    """What the proxies reach: lab.example:443."""
    return await stack.enter_async_context(UpstreamServer(lab_app, authority=authority))


@pytest.fixture
def start(stack: AsyncExitStack, authority: Authority, site: UpstreamServer) -> Callable[..., Any]:
    """Start a proxy before the site."""

    async def run(**options: Any) -> ProxyServer:
        server = ProxyServer(site.host_map(), authority=authority, log=site.log, **options)
        return await stack.enter_async_context(server)

    return run
