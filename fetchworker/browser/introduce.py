"""Gives the filtering proxy's credentials to a browser context, once.

Playwright would give them with the context's ``proxy``, and have every request held for it then: pages take longer, the
browser's cache is off, and each request says ``pragma: no-cache``, as no browser does by itself. Chromium keeps
credentials of a proxy for as long as the context is there, so that one request is enough (Chromium 156, 2026-11).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from fetchworker.egress.filter_proxy.reasons import INTRODUCTION
from fetchworker.errors import PageFailedError

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from fetchworker.egress.filter_proxy import Run

_ASK = f"fetch('{INTRODUCTION}', {{mode: 'no-cors'}}).then(() => '', String)"


async def introduce(page: Any, session: Any, run: Run) -> None:
    """Have the context of an empty page know the credentials.

    Args:
        page: Playwright's, still empty.
        session: of the DevTools protocol, with the page.
        run: whose credentials they are.

    Raises:
        PageFailedError: the proxy was not reached.
    """
    credentials = {
        "response": "ProvideCredentials", "username": run.username, "password": run.password.get_secret_value()
    }  # fmt: skip
    tasks: set[asyncio.Future[Any]] = set()

    def later(work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(work)
        tasks.add(task)

    def asked(event: dict[str, Any]) -> None:
        answer = {"requestId": event["requestId"], "authChallengeResponse": credentials}
        later(session.send("Fetch.continueWithAuth", answer))

    def paused(event: dict[str, Any]) -> None:
        later(session.send("Fetch.continueRequest", {"requestId": event["requestId"]}))

    session.on("Fetch.authRequired", asked)
    session.on("Fetch.requestPaused", paused)
    try:
        await session.send("Fetch.enable", {"handleAuthRequests": True})
        failed = await page.evaluate(_ASK)
        await session.send("Fetch.disable")
    finally:
        session.remove_listener("Fetch.authRequired", asked)
        session.remove_listener("Fetch.requestPaused", paused)
        await asyncio.gather(*tasks, return_exceptions=True)
    if failed:
        raise PageFailedError("browser_process", f"the filtering proxy was not reached: {failed}")
