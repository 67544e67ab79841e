"""``/runs`` and ``/items``: start runs, look at them, have their rows, end them."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, get_args

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from fetchworker.runs.models import (
    EventPage,
    RejectView,
    Row,
    RowPage,
    RunPage,
    RunRequest,
    RunView,
    SessionView,
    State,
    place_of,
)
from fetchworker.service.failures import ApiError
from fetchworker.service.idempotency import key_of
from fetchworker.service.responses import JSON, Lines, failures, takes
from fetchworker.service.routes.runevents import event_stream
from fetchworker.service.routes.sites import NDJSON
from fetchworker.service.state import DEFAULT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from fetchworker.runs.service import Runs
    from fetchworker.service.state import Service

SECONDS = 60.0
#: seconds that a stream may take; a client that takes nothing is cut before
_STREAM_SECONDS = 3600.0
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._:@-]*$"
_STATES = "|".join(get_args(State))
_CURSOR = r"^[0-9a-f]{24}:[0-9]{1,18}$"
EVENTS = "text/event-stream"
RunId = Annotated[str, Path(pattern=r"^[0-9a-f]{24}$", description="the run's id")]
Name = Annotated[str | None, Query(max_length=128, pattern=_NAME)]
After = Annotated[int, Query(ge=0, le=1 << 62, description="the `next` of the page before")]
Limit = Annotated[int, Query(ge=1, le=1000)]


class ItemsView(BaseModel):
    """Rows of several runs, run by run, the oldest first."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel)

    rows: list[Row]
    next: str | None = Field(description="the `after` of the next page; null: there was no row")


class RejectsView(BaseModel):
    """Lines of data sets that are no items."""

    model_config = ConfigDict(extra="forbid")

    rejects: list[RejectView]


class SessionsView(BaseModel):
    """Stored sessions that a run has used."""

    model_config = ConfigDict(extra="forbid")

    sessions: list[SessionView]


def told(view: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """What is told of runs, as JSON."""
    return Response(view.model_dump_json(by_alias=True), status, headers, JSON)


def read(model: type[BaseModel], body: bytes) -> Any:
    """The model of a request's body.

    Raises:
        ApiError: VALIDATION_ERROR, naming fields as ``runs[2].actor``.
    """
    try:
        return model.model_validate_json(body or b"{}")
    except ValidationError as exc:
        found = [(place_of(one["loc"]), one["msg"]) for one in exc.errors(include_url=False, include_input=False)]
        message = "; ".join(f"{place}: {what}" if place else what for place, what in found)
        fields = list(dict.fromkeys(place for place, _ in found if place))
        raise ApiError("VALIDATION_ERROR", message, fields=fields or None) from None


def own_workspace(service: Service, request: Request, asked: str | None) -> str | None:
    """The workspace that is asked for: that of the key, where it has one.

    Raises:
        ApiError: FORBIDDEN: another one is asked for.
    """
    own = service.workspace_of(request)
    if own is not None and asked not in (None, own):
        raise ApiError("FORBIDDEN", f"workspaceId: the key is for {own!r} alone", fields=["workspaceId"])
    return own or asked


def seen(service: Service, request: Request) -> list[str] | None:
    """The workspaces that a caller sees; None: all of them."""
    own = service.workspace_of(request)
    return None if own is None else [own]


@asynccontextmanager
async def runs_of(service: Service, request: Request, operation: str, seconds: float = SECONDS) -> AsyncIterator[Runs]:
    """The runs, for a call."""
    assert service.runs
    async with service.call(request, site=DEFAULT, operation=operation, timeout=seconds):
        yield await service.runs.get()


def runs_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(tags=["runs"])
    _starting(router, service)
    _looking(router, service)
    _beside(router, service)
    _rows(router, service)
    _acting(router, service)
    return router


def _starting(router: APIRouter, service: Service) -> None:
    @router.post(
        "/runs",
        status_code=201,
        summary="Start a run",
        operation_id="start_run",
        response_model=RunView,
        responses=failures(),
        openapi_extra=takes(RunRequest, idempotent=True),
    )
    async def start(request: Request) -> Response:
        """All of it is checked before anything is stored; then its jobs are spawned."""
        asked = read(RunRequest, await request.body())
        own_workspace(service, request, asked.workspace_id)
        key = key_of(request)
        async with runs_of(service, request, "start_run") as runs:
            caller = request.scope["state"]["caller"]
            run = await runs.start(asked, principal=caller, idempotency_key=key)
        return told(run, 201, {"location": f"/runs/{run.run_id}"})


def _looking(router: APIRouter, service: Service) -> None:
    @router.get("/runs", summary="List runs", operation_id="runs", response_model=RunPage, responses=failures())
    async def find(  # noqa: PLR0917  # the query
        request: Request,
        workspace: Name = None,
        conversation: Name = None,
        skill: Name = None,
        state: Annotated[str | None, Query(pattern=f"^({_STATES})$")] = None,
        after: Annotated[str | None, Query(pattern=r"^[0-9a-f]{24}$", description="the `next` before")] = None,
        limit: Limit = 50,
    ) -> Response:
        """The newest first, without their jobs; what is given has to be the run's."""
        own = own_workspace(service, request, workspace)
        narrow: dict[str, Any] = {"conversation": conversation, "skill": skill, "state": state, "after": after}
        async with runs_of(service, request, "runs") as runs:
            return told(await runs.list(workspaces=None if own is None else [own], limit=limit, **narrow))

    @router.get(
        "/runs/{run_id}", summary="Look at a run", operation_id="run", response_model=RunView, responses=failures()
    )
    async def look(request: Request, run_id: RunId) -> Response:
        """The run with its jobs."""
        async with runs_of(service, request, "run") as runs:
            return told(await runs.get(run_id, workspaces=seen(service, request)))

    @router.get(
        "/runs/{run_id}/events",
        summary="What happened to a run",
        operation_id="run_events",
        response_model=EventPage,
        responses={200: {"content": {EVENTS: {}}}, **failures()},
    )
    async def events(request: Request, run_id: RunId, after: After = 0, limit: Limit = 100) -> Response:
        """A page; with `Accept: text/event-stream` all of them as they come, until the run has ended."""
        if EVENTS in request.headers.get("accept", ""):
            return await event_stream(service, request, run_id, after)
        async with runs_of(service, request, "run_events") as runs:
            page = await runs.events(run_id, workspaces=seen(service, request), after=after, limit=limit)
        return told(page)


def _beside(router: APIRouter, service: Service) -> None:
    """What a run has left behind beside its rows."""

    @router.get(
        "/runs/{run_id}/log",
        summary="The log of a job",
        operation_id="run_log",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, **failures()},
    )
    async def log(
        request: Request,
        run_id: RunId,
        job: Annotated[int, Query(ge=0, le=1 << 31, description="the job's number")] = 0,
        offset: Annotated[
            int, Query(ge=-(1 << 40), le=1 << 60, description="the first byte; negative: so many before the end")
        ] = -65_536,
        limit: Annotated[int, Query(ge=1, le=4 << 20, description="bytes at most")] = 65_536,
    ) -> Response:
        """Bytes of the log of a job's latest attempt: `x-offset`, `x-next-offset` and `x-size` say which."""
        async with runs_of(service, request, "run_log") as runs:
            mine = seen(service, request)
            chunk = await runs.log(run_id, job=job, workspaces=mine, offset=offset, limit=limit)
        ends = chunk.offset + len(chunk.data)
        headers = {"x-offset": str(chunk.offset), "x-next-offset": str(ends), "x-size": str(chunk.size)}
        return Response(chunk.data, headers=headers | {"x-content-type-options": "nosniff"}, media_type="text/plain")

    @router.get(
        "/runs/{run_id}/sessions",
        summary="The stored sessions that a run has used",
        operation_id="run_sessions",
        response_model=SessionsView,
        responses=failures(),
    )
    async def sessions(request: Request, run_id: RunId, limit: Limit = 1000) -> Response:
        """Names, ways out and counts of those of its ended attempts."""
        async with runs_of(service, request, "run_sessions") as runs:
            found = await runs.sessions(run_id, workspaces=seen(service, request), limit=limit)
        return told(SessionsView(sessions=list(found)))

    @router.get(
        "/runs/{run_id}/rejects",
        summary="Lines of a run that are no items",
        operation_id="run_rejects",
        response_model=RejectsView,
        responses=failures(),
    )
    async def rejects(request: Request, run_id: RunId, limit: Limit = 100) -> Response:
        """Where each stands, and why it is none."""
        async with runs_of(service, request, "run_rejects") as runs:
            found = await runs.rejects(run_id, workspaces=seen(service, request), limit=limit)
        return told(RejectsView(rejects=list(found)))


def _rows(router: APIRouter, service: Service) -> None:
    @router.get(
        "/runs/{run_id}/items",
        summary="The rows of a run",
        operation_id="run_items",
        response_model=RowPage,
        responses={200: {"content": {NDJSON: {}}}, **failures()},
    )
    async def items(request: Request, run_id: RunId, after: After = 0, limit: Limit = 100) -> Response:
        """A page; with `Accept: application/x-ndjson` all items that are there, one a line."""
        if NDJSON in request.headers.get("accept", ""):
            return await _streamed(_lines(service, request, run_id, after))
        async with runs_of(service, request, "run_items") as runs:
            page = await runs.items_json(run_id, workspaces=seen(service, request), after=after, limit=limit)
        return Response(page, media_type=JSON)

    @router.get(
        "/items", summary="Rows across runs", operation_id="items", response_model=ItemsView, responses=failures()
    )
    async def across(  # noqa: PLR0917  # the query
        request: Request,
        workspace: Name = None,
        conversation: Name = None,
        skill: Name = None,
        kind: Annotated[str | None, Query(max_length=128)] = None,
        after: Annotated[str | None, Query(pattern=_CURSOR, description="the `next` of the page before")] = None,
        limit: Limit = 100,
    ) -> Response:
        """Of all runs of a workspace; what is given beside it has to be the row's."""
        own = own_workspace(service, request, workspace)
        if own is None:
            raise ApiError("VALIDATION_ERROR", "workspace: say whose items are meant", fields=["workspace"])
        run, _, seq = (after or "").partition(":")
        narrow = {"conversation": conversation, "skill": skill, "kind": kind}
        async with runs_of(service, request, "items") as runs:
            page = await runs.items_across_json(own, narrow, after=(run, int(seq)) if after else None, limit=limit)
        return Response(page, media_type=JSON)


def _acting(router: APIRouter, service: Service) -> None:
    @router.post(
        "/runs/{run_id}/abort", summary="End a run", operation_id="abort_run", response_model=RunView,
        responses=failures(),
    )  # fmt: skip
    async def abort(request: Request, run_id: RunId) -> Response:
        """Its jobs are told to end; it is `aborted` when their processes are gone."""
        async with runs_of(service, request, "abort_run") as runs:
            return told(await runs.abort(run_id, workspaces=seen(service, request)))

    @router.post(
        "/runs/{run_id}/resume", summary="Go on with a run", operation_id="resume_run", response_model=RunView,
        responses=failures(),
    )  # fmt: skip
    async def resume(request: Request, run_id: RunId) -> Response:
        """The jobs of an ended run that did not succeed are begun anew."""
        async with runs_of(service, request, "resume_run") as runs:
            return told(await runs.resume(run_id, workspaces=seen(service, request)))


async def _lines(service: Service, request: Request, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    async with runs_of(service, request, "run_items", _STREAM_SECONDS) as runs:
        async for part in runs.stream(run_id, workspaces=seen(service, request), after=after):
            yield part


async def _streamed(parts: AsyncGenerator[bytes, None]) -> Response:
    """The first part is waited for: a call that fails at once says so by its status; a later failure cuts it."""
    first = await anext(parts, b"")

    async def content() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            if first:
                yield first
            async for part in parts:
                yield part

    return Lines(content(), NDJSON)
