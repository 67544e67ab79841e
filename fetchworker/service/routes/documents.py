"""``POST /documents``: invoices and receipts, sent as a file or named by their address."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.service.calls import run_download
from fetchworker.service.events import EVENTS, event_response
from fetchworker.service.models import DocumentBody, DocumentOptions
from fetchworker.service.responses import failures, json_response, takes
from fetchworker.service.state import DEFAULT
from fetchworker.service.uploads import FILE, FORM, asked_of

if TYPE_CHECKING:
    from fetchworker.service.events import Progress
    from fetchworker.service.state import Service
    from fetchworker.service.uploads import Asked

_TOLD = (
    "A list of the documents in the file, each as `scrapy document --json` tells it. With `Accept: text/event-stream` "
    "pages are told as they are read: events `progress` (`page`, `pages`), then `result` with the list, or `error` "
    "with a failure."
)


class FieldView(BaseModel):
    """A value, the chance that it is right, and where it stands."""

    model_config = ConfigDict(extra="forbid")

    value: str | None
    confidence: float = Field(ge=0, le=1)
    page: int | None
    box: list[float] | None = Field(min_length=4, max_length=4, description="left, top, right, bottom in pixels")
    lines: list[int]


class ReadingView(BaseModel):
    """What one document says."""

    model_config = ConfigDict(extra="forbid")

    file: str | None = Field(description="the file's name, or its address")
    kind: Literal["invoice", "receipt", "other"]
    kind_confidence: float
    fields: dict[str, FieldView]
    line_items: list[dict[str, FieldView]]
    engine: str
    error: None
    pages_read: int
    pages_total: int
    note: str | None = Field(
        default=None,
        description="rows that were left out, or why a language model that was to be asked had no part in it",
    )


def documents_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(tags=["documents"])

    @router.post(
        "/documents",
        summary="Read an invoice or a receipt",
        description=_TOLD,
        operation_id="documents",
        response_model=list[ReadingView],
        responses={200: {"content": {EVENTS: {"schema": {"type": "string"}}}}, **failures(more=(501,))},
        openapi_extra=_takes(),
    )
    async def documents(request: Request) -> Response:
        asked = await asked_of(request)
        timeout = _time(service, asked.options.timeout)
        await service.documents.get()  # whether there is one is told by the status
        digest = await asyncio.to_thread(asked.digest)

        async def run(progress: Progress) -> Response:
            return await service.idempotency.once(
                request, lambda: _answer(service, request, asked, timeout, progress), stands_for=digest
            )

        if EVENTS in request.headers.get("accept", ""):
            return event_response(run, ending=lambda: service.ending)
        return await run(lambda _page, _pages: None)

    return router


def _time(service: Service, asked: float | None) -> float:
    """Seconds of a call; unless it says so itself it gets at least those that a document, and a model, may take."""
    if asked is not None:
        return service.time_for(asked)
    environment = service.environment
    needed = environment.documents_seconds + (environment.documents_llm_timeout if environment.documents_llm_url else 0)
    return min(max(environment.serve_timeout, needed), environment.serve_timeout_max)


async def _answer(
    service: Service,
    request: Request,
    asked: Asked,
    timeout: float,  # noqa: ASYNC109  # the whole call's
    progress: Progress,
) -> Response:
    async with service.call(request, site=DEFAULT, operation="documents", timeout=timeout) as last:
        reader = await service.documents.get()
        content = asked.content
        if content is None:
            served, engine = await service.crawlers.get(DEFAULT)
            call_id, most = request.scope["state"]["request_id"], reader.settings.caps.bytes
            content = await run_download(
                served, engine, str(asked.name), call_id=call_id, timeout=timeout, max_bytes=most, last=last
            )
        found = await reader.examine(content, kind=asked.options.kind, progress=progress)
        # thousands of rows take a while
        return json_response(await asyncio.to_thread(lambda: [one.to_json(asked.name) for one in found]))


def _takes() -> dict[str, Any]:
    """Both kinds of bodies for the OpenAPI document."""
    told = takes(DocumentBody, idempotent=True)
    options = DocumentOptions.model_json_schema()["properties"]
    file = {"type": "string", "format": "binary", "description": "a PDF, a picture or an electronic invoice"}
    schema = {
        "type": "object",
        "required": [FILE],
        "additionalProperties": False,
        "properties": {FILE: file, **options},
    }
    told["requestBody"]["content"][FORM] = {"schema": schema}
    return told
