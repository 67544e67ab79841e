"""``GET /browser/actions``: what was done on pages, each with its own outcome; and what stores it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.actions import TYPES
from fetchworker.actions.outcome import Layer  # noqa: TC001  # pydantic needs it
from fetchworker.errors import StorageError, how_to_install
from fetchworker.service.failures import ApiError
from fetchworker.service.responses import failures, json_response
from fetchworker.service.state import DEFAULT, caller_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.actions import ActionOutcome
    from fetchworker.runs.store import RunStore
    from fetchworker.service.models import BrowserRunBody
    from fetchworker.service.state import Service

logger = logging.getLogger(__name__)
_SECONDS = 30.0
#: seconds that storing may take of a call
_STORING = 10.0
_CURSOR = r"^[0-9a-f]{24}:[0-9]{1,4}$"
Text = Annotated[str | None, Query(max_length=256)]


class ActionRecord(BaseModel):
    """An action that was done, or left out, on a page. Nothing of what was typed or found is kept."""

    model_config = ConfigDict(extra="forbid")

    call_id: str
    number: int
    request_id: str = Field(description="the x-request-id of the call")
    workspace_id: str | None
    principal: str | None = Field(description="the name of the key that was used")
    site: str
    session_id: str | None
    kind: str = Field(examples=list(TYPES))
    outcome: Literal["ok", "failed", "skipped"]
    layer: Layer | None = Field(description="what failed")
    artifact_id: str | None
    ms: float | None = Field(description="milliseconds; null: it was not begun")
    at: str = Field(description="when the call began")


class ActionsView(BaseModel):
    """Actions, call by call, the newest call first."""

    model_config = ConfigDict(extra="forbid")

    actions: list[ActionRecord]
    next: str | None = Field(description="the `after` of the next page; null: there is none")


def actions_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(prefix="/browser", tags=["browser"])

    @router.get(
        "/actions", summary="List what was done on pages", operation_id="browser_actions",
        response_model=ActionsView, responses=failures(more=(501,)),
    )  # fmt: skip
    async def find(  # noqa: PLR0917  # the query
        request: Request,
        request_id: Text = None,
        workspace: Text = None,
        site: Text = None,
        session_id: Text = None,
        kind: Annotated[str | None, Query(pattern=f"^({'|'.join(TYPES)})$")] = None,
        outcome: Annotated[str | None, Query(pattern="^(ok|failed|skipped)$")] = None,
        after: Annotated[str | None, Query(pattern=_CURSOR, description="the `next` of the page before")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """The newest calls first; what is given has to be the action's."""
        own = service.workspace_of(request)
        if own is not None and workspace not in (None, own):
            raise ApiError("FORBIDDEN", f"workspace: the key is for {own!r} alone", fields=["workspace"])
        narrow = {"request_id": request_id, "workspace_id": own or workspace, "site": site, "session_id": session_id}
        narrow |= {"kind": kind, "outcome": outcome}
        call, _, number = (after or "").partition(":")
        async with service.call(request, site=DEFAULT, operation="browser_actions", timeout=_SECONDS):
            from fetchworker.runs import actionlog  # noqa: PLC0415  # SQLAlchemy may be missing

            store = await _store(service)
            found = await actionlog.listed(store, narrow, after=(call, int(number)) if after else None, limit=limit)
        last = found[-1] if len(found) == limit else None
        told = [{name: getattr(row, name) for name in ActionRecord.model_fields} for row in found]
        return json_response({"actions": told, "next": f"{last.call_id}:{last.number}" if last else None})

    return router


async def _store(service: Service) -> RunStore:
    store = await service.runs.store() if service.runs is not None else None
    if store is None:
        raise ApiError("NOT_INSTALLED", f"what was done is kept in a database: {how_to_install('store')}")
    return store


async def recorded(
    service: Service, request: Request, body: BrowserRunBody, done: Sequence[ActionOutcome], *, begun: float
) -> str | None:
    """Store the actions of a call; why they are not, where they should be: what was done is told anyway."""
    if not done or service.runs is None:
        return None
    try:
        async with asyncio.timeout(_STORING):
            store = await service.runs.store()
            if store is not None:
                await _record(service, request, body, done, store, begun)
    except (StorageError, TimeoutError) as exc:
        told = exc.message if isinstance(exc, StorageError) else "the database takes too long"
        logger.warning("the actions of a call are not recorded: %s", told)
        return f"the actions are not recorded: {told}"
    return None


async def _record(  # noqa: PLR0917  # of recorded alone
    service: Service,
    request: Request,
    body: BrowserRunBody,
    done: Sequence[ActionOutcome],
    store: RunStore,
    begun: float,
) -> None:
    from fetchworker.runs import actionlog  # noqa: PLC0415  # SQLAlchemy may be missing

    call_id = request.scope["state"]["request_id"]
    whose = service.workspace_of(request), caller_of(request)
    caller = actionlog.Caller(call_id, *whose, body.site, body.session_id)
    await actionlog.record(store, caller, done, begun=begun)
