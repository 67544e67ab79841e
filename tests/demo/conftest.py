from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
from curl_cffi import AsyncSession, CurlOpt

from fetchworker.demo import Authority, Log, ProxyServer, UpstreamServer, demo_site

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
def serve(stack: AsyncExitStack, authority: Authority) -> Callable[..., Any]:
    """Start an upstream with an app (the whole calm demo by default)."""

    async def start(app: Any = None, **options: Any) -> UpstreamServer:
        log = options.pop("log", None) or Log()
        app = app or demo_site(log=log).app
        return await stack.enter_async_context(UpstreamServer(app, authority=authority, log=log, **options))

    return start


@pytest.fixture
def proxy(stack: AsyncExitStack, authority: Authority) -> Callable[..., Any]:
    """Start a proxy in front of an upstream; both write to one log."""

    async def start(upstream: UpstreamServer, **options: Any) -> ProxyServer:
        options = {"authority": authority, "log": upstream.log, **options}
        return await stack.enter_async_context(ProxyServer(upstream.host_map(), **options))

    return start


@pytest.fixture
def browser(stack: AsyncExitStack, authority: Authority) -> Callable[..., Any]:
    """A curl_cffi session that trusts the demo; with ``upstream`` its names lead there without a proxy."""

    async def start(upstream: UpstreamServer | None = None, **options: Any) -> AsyncSession[Any]:
        if upstream is not None:
            pins = [f"{host}:{upstream.port}:127.0.0.1" for host in upstream.hosts]
            options["curl_options"] = {CurlOpt.RESOLVE: pins}
        options = {"impersonate": "chrome", "verify": str(authority.pem_path), "timeout": 20, **options}
        return await stack.enter_async_context(AsyncSession(**options))

    return start
