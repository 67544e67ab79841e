"""``/webhooks/deliveries``: callbacks of runs, and another try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.runs.models import DeliveryPage, DeliveryView
from fetchworker.service.responses import failures
from fetchworker.service.routes.runs import Limit, Name, own_workspace, runs_of, seen, told

if TYPE_CHECKING:
    from fetchworker.service.state import Service

_ID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
DeliveryId = Annotated[str, Path(pattern=f"^{_ID}$", description="the delivery's id")]


def deliveries_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/webhooks/deliveries", tags=["runs"])

    @router.get(
        "", summary="List callbacks", operation_id="deliveries", response_model=DeliveryPage, responses=failures()
    )
    async def find(  # noqa: PLR0917  # the query
        request: Request,
        workspace: Name = None,
        run: Annotated[str | None, Query(pattern=r"^[0-9a-f]{24}$", description="the run's id")] = None,
        state: Annotated[str | None, Query(pattern="^(pending|delivered|dead)$")] = None,
        after: Annotated[str | None, Query(pattern=f"^[0-9a-f]{{24}}:{_ID}$", description="the `next` before")] = None,
        limit: Limit = 50,
    ) -> Response:
        """Those of the newest runs first, with their latest tries."""
        from fetchworker.runs import deliveries  # noqa: PLC0415  # SQLAlchemy may be missing

        own = own_workspace(service, request, workspace)
        async with runs_of(service, request, "deliveries") as runs:
            mine = None if own is None else [own]
            page = await deliveries.listed(
                runs.store, workspaces=mine, run_id=run, state=state, after=after, limit=limit
            )
        return told(page)

    @router.post(
        "/{delivery_id}/replay",
        summary="Deliver a callback again",
        operation_id="replay_delivery",
        response_model=DeliveryView,
        responses=failures(),
    )
    async def replay(request: Request, delivery_id: DeliveryId) -> Response:
        """It is pending again, with its id and all its tries before it, whatever had become of it."""
        from fetchworker.runs import deliveries  # noqa: PLC0415  # as above

        async with runs_of(service, request, "replay_delivery") as runs:
            return told(await deliveries.replayed(runs.store, delivery_id, workspaces=seen(service, request)))

    return router
