"""``POST /fetch``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.items import FetchResult
from fetchworker.service.browsing import check_browser
from fetchworker.service.calls import run_fetch
from fetchworker.service.callsessions import check_name
from fetchworker.service.failures import ApiError
from fetchworker.service.models import FetchBody, read_body
from fetchworker.service.responses import failures, json_response, takes
from fetchworker.service.state import caller_of

if TYPE_CHECKING:
    from fetchworker.service.state import Service


def fetch_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(tags=["fetch"])

    @router.post(
        "/fetch",
        summary="Fetch an address the way a browser would",
        operation_id="fetch",
        response_model=FetchResult,
        responses=failures(more=(501,)),
        openapi_extra=takes(FetchBody, idempotent=True),
    )
    async def fetch(request: Request) -> Response:
        """Without ``session_id``: a fresh identity for each try. With it: cookies and exit persist under that name."""
        body: FetchBody = read_body(FetchBody, await request.body())

        async def run() -> Response:
            return json_response(await _fetch(service, request, body))

        return await service.idempotency.once(request, run)

    return router


async def _fetch(service: Service, request: Request, body: FetchBody) -> Any:
    if body.site not in service.crawlers.sites:
        known = ", ".join(service.crawlers.sites)
        raise ApiError("VALIDATION_ERROR", f"site: there is no {body.site!r}; known: {known}", fields=["site"])
    if body.render == "always":
        check_browser(service.environment)
    if body.session_id is not None:
        check_name(body.session_id)
    timeout = service.time_for(body.timeout)
    call = service.call(request, site=body.site, operation="fetch", timeout=timeout, session=body.session_id)
    async with call as last:
        served, engine = await service.crawlers.get(body.site)
        call_id = request.scope["state"]["request_id"]
        mine = service.workspace_of(request)
        return await run_fetch(
            served, engine, body, call_id=call_id, timeout=timeout, last=last, workspace=mine, caller=caller_of(request)
        )
