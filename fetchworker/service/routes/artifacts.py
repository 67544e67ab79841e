"""``/artifacts``: what calls and crawls left behind to be looked at."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from fetchworker.artifacts import KINDS, Artifact, Filters
from fetchworker.service.failures import ApiError
from fetchworker.service.responses import Lines, failures, json_response
from fetchworker.service.state import DEFAULT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fetchworker.service.state import Service

_SECONDS = 30.0
#: seconds that the bytes may take; a client that takes nothing is cut before
_DATA_SECONDS = 600.0
_ID = r"^[0-9]{20}-[0-9a-f]{8}$"
Id = Annotated[str, Path(pattern=_ID, description="the artifact's id")]
Text = Annotated[str | None, Query(max_length=256)]
#: a page that is kept must not run in the service's origin
_GUARD = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
}
_EXTENSIONS = {
    "screenshot": "png", "pdf": "pdf", "trace": "zip", "har": "har", "html": "html", "warc": "warc.gz",
    "bundle": "json",
}  # fmt: skip


class ArtifactView(BaseModel):
    """An artifact; its bytes are at ``/artifacts/{id}/data``."""

    model_config = ConfigDict(extra="forbid")

    id: str
    kind: str = Field(examples=list(KINDS))
    sha256: str
    size: int = Field(description="bytes")
    media_type: str
    created_at: str
    expires_at: str
    site: str | None
    operation: str | None
    request_id: str | None = Field(description="the x-request-id of the call it was made in")
    run_id: str | None
    job_id: str | None = Field(description="the crawl it was made in")
    session: str | None
    workspace: str | None
    url: str | None
    about: dict[str, Any]


class ArtifactsView(BaseModel):
    """Artifacts, the latest first."""

    model_config = ConfigDict(extra="forbid")

    artifacts: list[ArtifactView]
    next: str | None = Field(description="the `before` of the next page; null: there is none")


def artifacts_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/artifacts", tags=["artifacts"])

    @router.get(
        "", summary="List artifacts", operation_id="artifacts", response_model=ArtifactsView, responses=failures()
    )
    async def find(  # noqa: PLR0917  # the query
        request: Request,
        kind: Annotated[str | None, Query(pattern=f"^({'|'.join(KINDS)})$")] = None,
        site: Text = None,
        operation: Text = None,
        request_id: Text = None,
        run_id: Text = None,
        job_id: Text = None,
        session: Text = None,
        workspace: Text = None,
        sha256: Annotated[str | None, Query(pattern=r"^[0-9a-f]{64}$")] = None,
        before: Annotated[str | None, Query(pattern=_ID)] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> Response:
        """The latest first; what is given has to be the artifact's."""
        filters = Filters(
            kind, site, operation, request_id, run_id, job_id, session, _workspace(service, request, workspace), sha256
        )
        async with service.call(request, site=DEFAULT, operation="artifacts", timeout=_SECONDS):
            found = await service.artifacts.store().list(filters, before=before, limit=limit)
        after = found[-1].id if len(found) == limit else None
        return json_response({"artifacts": [one.to_json() for one in found], "next": after})

    @router.get(
        "/{artifact_id}",
        summary="Look at an artifact",
        operation_id="artifact",
        response_model=ArtifactView,
        responses=failures(),
    )
    async def look(request: Request, artifact_id: Id) -> Response:
        """What is known of it."""
        async with service.call(request, site=DEFAULT, operation="artifact", timeout=_SECONDS):
            return json_response((await _artifact(service, request, artifact_id)).to_json())

    @router.get(
        "/{artifact_id}/data",
        summary="The bytes of an artifact",
        operation_id="artifact_data",
        response_class=Response,
        responses={200: {"content": {"application/octet-stream": {}}}, **failures()},
    )
    async def data(request: Request, artifact_id: Id) -> Response:
        """As they were kept."""
        parts = _parts(service, request, artifact_id)
        artifact, first = await anext(parts)
        return _sent(artifact, first, parts)

    @router.delete(
        "/{artifact_id}",
        status_code=204,
        summary="Drop an artifact",
        operation_id="drop_artifact",
        response_class=Response,
        responses=failures(),
    )
    async def drop(request: Request, artifact_id: Id) -> Response:
        """It is gone."""
        async with service.call(request, site=DEFAULT, operation="drop_artifact", timeout=_SECONDS):
            await _artifact(service, request, artifact_id)
            await service.artifacts.store().drop(artifact_id)
        return Response(status_code=204)

    return router


def _workspace(service: Service, request: Request, asked: str | None) -> str | None:
    """The workspace whose artifacts are told: that of the key, where it has one.

    Raises:
        ApiError: another one is asked for.
    """
    own = service.workspace_of(request)
    if own is not None and asked not in (None, own):
        raise ApiError("FORBIDDEN", f"workspace: the key is for {own!r} alone", fields=["workspace"])
    return own or asked


async def _artifact(service: Service, request: Request, id_: str) -> Artifact:
    artifact = await service.artifacts.store().get(id_)
    own = service.workspace_of(request)
    if artifact is None or own not in (None, artifact.workspace):
        raise ApiError("NOT_FOUND", f"there is no artifact {id_}")
    return artifact


async def _parts(service: Service, request: Request, id_: str) -> AsyncGenerator[tuple[Artifact, bytes], None]:
    """The artifact with each part of its bytes; the first one before anything is answered."""
    async with service.call(request, site=DEFAULT, operation="artifact_data", timeout=_DATA_SECONDS):
        artifact = await _artifact(service, request, id_)
        empty = True
        async with aclosing(service.artifacts.store().open(artifact)) as parts:
            async for part in parts:
                empty = False
                yield artifact, part
        if empty:
            yield artifact, b""


def _sent(artifact: Artifact, first: bytes, parts: AsyncGenerator[tuple[Artifact, bytes], None]) -> Response:
    async def content() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            yield first
            async for _, part in parts:
                yield part

    answer = Lines(content(), artifact.media_type)
    name = f"{artifact.kind}-{artifact.id}.{_EXTENSIONS.get(artifact.kind, 'bin')}"
    headers = {"content-length": str(artifact.size), "content-disposition": f'attachment; filename="{name}"'}
    answer.headers.update({**headers, "etag": f'"{artifact.sha256}"', **_GUARD})
    return answer
