"""``/schedules``: runs that the clock starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from fetchworker.runs.schedulemodels import ScheduleRequest, SchedulesView, ScheduleView
from fetchworker.service.responses import failures, takes
from fetchworker.service.routes.runs import Name, own_workspace, read, runs_of, seen, told

if TYPE_CHECKING:
    from fetchworker.service.state import Service

ScheduleId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="the schedule's id")]


def schedules_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/schedules", tags=["runs"])
    _reading(router, service)
    _changing(router, service)
    return router


def _reading(router: APIRouter, service: Service) -> None:
    @router.get(
        "", summary="List schedules", operation_id="schedules", response_model=SchedulesView, responses=failures()
    )
    async def find(request: Request, workspace: Name = None) -> Response:
        """By their workspaces and names."""
        own = own_workspace(service, request, workspace)
        async with runs_of(service, request, "schedules") as runs:
            found = await runs.schedules.list(workspaces=None if own is None else [own])
        return told(SchedulesView(schedules=found))

    @router.get(
        "/{schedule_id}", summary="Look at a schedule", operation_id="schedule", response_model=ScheduleView,
        responses=failures(),
    )  # fmt: skip
    async def look(request: Request, schedule_id: ScheduleId) -> Response:
        """What it starts, and when."""
        async with runs_of(service, request, "schedule") as runs:
            return told(await runs.schedules.get(schedule_id, workspaces=seen(service, request)))


def _changing(router: APIRouter, service: Service) -> None:
    @router.post(
        "", status_code=201, summary="Keep a schedule", operation_id="add_schedule", response_model=ScheduleView,
        responses=failures(), openapi_extra=takes(ScheduleRequest),
    )  # fmt: skip
    async def add(request: Request) -> Response:
        """What it is to start is checked now, and again when it is started."""
        asked = read(ScheduleRequest, await request.body())
        own_workspace(service, request, asked.run.workspace_id)
        async with runs_of(service, request, "add_schedule") as runs:
            made = await runs.schedules.add(asked, principal=request.scope["state"]["caller"])
        return told(made, 201, {"location": f"/schedules/{made.schedule_id}"})

    @router.put(
        "/{schedule_id}", summary="Change a schedule", operation_id="change_schedule", response_model=ScheduleView,
        responses=failures(), openapi_extra=takes(ScheduleRequest),
    )  # fmt: skip
    async def change(request: Request, schedule_id: ScheduleId) -> Response:
        """All of it: what is left out is as in a new one. Runs that it has started go on."""
        asked = read(ScheduleRequest, await request.body())
        own_workspace(service, request, asked.run.workspace_id)
        async with runs_of(service, request, "change_schedule") as runs:
            return told(await runs.schedules.change(schedule_id, asked, workspaces=seen(service, request)))

    @router.delete(
        "/{schedule_id}", status_code=204, summary="Forget a schedule", operation_id="drop_schedule",
        response_class=Response, responses=failures(),
    )  # fmt: skip
    async def drop(request: Request, schedule_id: ScheduleId) -> Response:
        """Runs that it has started go on."""
        async with runs_of(service, request, "drop_schedule") as runs:
            await runs.schedules.drop(schedule_id, workspaces=seen(service, request))
        return Response(status_code=204)
