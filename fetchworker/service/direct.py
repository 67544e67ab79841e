"""Routes that take nothing but the request are run at once, past the layers of FastAPI, which cost more than they do.

A route of FastAPI is chosen among all, its dependencies are looked through and several middlewares stand before it,
whether it needs them or not: some 0.3 ms of processor time a call (FastAPI 0.13x, seen 2026-11). The OpenAPI document
and all calls that are not quite plain (with a query, or to a path with parameters) are still FastAPI's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.routing import APIRoute

from fetchworker.errors import FetchworkerError
from fetchworker.service.failures import ApiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    Endpoint = Callable[[Request], Awaitable[Response]]


def plain_routes(routers: Iterable[APIRouter]) -> dict[tuple[str, str], Endpoint]:
    """The endpoints of these routers that take the request alone, by method and path."""
    return {
        (method, route.path): route.endpoint
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and _is_plain(route)
        for method in route.methods or ()
    }


def _is_plain(route: APIRoute) -> bool:
    given = route.dependant
    takes = given.path_params or given.query_params or given.header_params or given.cookie_params or given.body_params
    return not takes and not given.dependencies and given.request_param_name is not None


class Direct:
    """Runs some endpoints itself, and leaves everything else to the application.

    Args:
        app: the application, which has these routes too.
        endpoints: what answers, by method and path.
        failed: makes the answer to a failure of ours that they raise; others are for the layers above.
    """

    def __init__(
        self,
        app: ASGIApp,
        endpoints: Mapping[tuple[str, str], Endpoint],
        failed: Callable[[Request, Exception], Awaitable[Response]],
    ) -> None:
        self._app = app
        self._endpoints = endpoints
        self._failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        plain = scope["type"] == "http" and not scope["query_string"]
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if plain else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        try:
            response = await endpoint(request)
        except (ApiError, FetchworkerError) as exc:
            response = await self._failed(request, exc)
        await response(scope, receive, send)
