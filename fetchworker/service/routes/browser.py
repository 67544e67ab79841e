"""``POST /browser/runs``: actions in a browser."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.actions import parse_actions
from fetchworker.actions.outcome import Layer  # noqa: TC001  # pydantic needs it
from fetchworker.service.browsing import OPERATION, BrowserRun, check_browser
from fetchworker.service.callsessions import check_name
from fetchworker.service.failures import ApiError
from fetchworker.service.models import BrowserRunBody, read_body
from fetchworker.service.responses import failures, json_response, takes
from fetchworker.service.routes.actions import recorded
from fetchworker.service.state import caller_of

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from fetchworker.service.state import Service


class ActionView(BaseModel):
    """What has become of one action."""

    model_config = ConfigDict(extra="forbid")

    index: int
    type: str
    name: str | None = None
    outcome: Literal["ok", "failed", "skipped"]
    ms: float | None = Field(description="milliseconds; null: it was not begun")
    layer: Layer | None = None
    error: str | None = None
    value: Any = None
    artifact: str | None = Field(default=None, description="the id of what was kept")


class BrowserRunView(BaseModel):
    """What has come of a run."""

    model_config = ConfigDict(extra="forbid")

    outcome: Literal["ok", "failed"]
    layer: Layer | None = Field(description="of the first action that failed")
    page: dict[str, Any] = Field(description="the page's last address, its status, and how it was judged")
    actions: list[ActionView]
    extracted: dict[str, Any]
    artifacts: dict[str, str] = Field(description="kept of the whole run: kind → id")
    problems: list[str] = Field(description="what could not be kept, and why")
    request_id: str
    elapsed_ms: float


def browser_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(prefix="/browser", tags=["browser"])

    @router.post(
        "/runs",
        summary="Run actions in a browser",
        operation_id="browser_run",
        response_model=BrowserRunView,
        responses=failures(more=(501,)),
        openapi_extra=takes(BrowserRunBody, idempotent=True),
    )
    async def browser_run(request: Request) -> Response:
        """A page is loaded as by ``/fetch``, in a browser, and the actions are done there, one after the other."""
        body: BrowserRunBody = read_body(BrowserRunBody, await request.body())
        parse_actions(body.actions)

        async def run() -> Response:
            return json_response(await _run(service, request, body))

        return await service.idempotency.once(request, run)

    return router


async def _run(service: Service, request: Request, body: BrowserRunBody) -> Any:
    if body.site not in service.crawlers.sites:
        known = ", ".join(service.crawlers.sites)
        raise ApiError("VALIDATION_ERROR", f"site: there is no {body.site!r}; known: {known}", fields=["site"])
    if body.session_id is not None:
        check_name(body.session_id)
    check_browser(service.environment)
    timeout = service.time_for(body.timeout)
    call = service.call(request, site=body.site, operation=OPERATION, timeout=timeout, session=body.session_id)
    async with call as last:
        served, engine = await service.crawlers.get(body.site)
        made = BrowserRun(
            served, body, service.artifacts.store(), call_id=request.scope["state"]["request_id"],
            workspace=service.workspace_of(request), caller=caller_of(request),
        )  # fmt: skip
        return await _recorded(service, request, body, made, made.run(engine, timeout=timeout, last=last))


async def _recorded(
    service: Service, request: Request, body: BrowserRunBody, made: BrowserRun, run: Coroutine[Any, Any, Any]
) -> Any:
    """Carry it out, and store what was done, however it ended; what cannot be stored is told."""
    begun = time.time()
    try:
        result = await run
    except BaseException:
        await asyncio.shield(recorded(service, request, body, made.actions, begun=begun))
        raise
    problem = await asyncio.shield(recorded(service, request, body, made.actions, begun=begun))
    if problem is not None:
        result["problems"].append(problem)
    return result
