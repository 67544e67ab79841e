"""Answers as bytes, and what the OpenAPI document says of requests and failures."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response

from fetchworker.service.failures import STATUSES, ApiError, Failure

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable

    from starlette.types import Receive, Scope, Send

JSON = "application/json"
#: header of a list that a failure has ended early, with its type
INCOMPLETE = "x-incomplete"
#: where models of the OpenAPI document are
REF = "#/components/schemas/{model}"
#: statuses that any route may answer
_ANY = (400, 401, 403, 408, 413, 415, 429, 431, 500)
_CALLS = (404, 409, 502, 503, 504)


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Items and plain values as JSON."""
    return Response(to_json(value), status, headers, JSON)


def to_json(value: Any) -> bytes:
    """The bytes of an item, a list of items, or a plain value."""
    return orjson.dumps(value, default=_dumped)


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.__dict__
    raise TypeError


class Lines(Response):
    """An answer that goes out part by part, in the task that makes it: its deadline is that task's."""

    def __init__(self, parts: AsyncGenerator[bytes, None], media_type: str) -> None:
        super().__init__(media_type=media_type)
        del self.headers["content-length"]
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # ASGI's signature
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with aclosing(self._parts) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def failure_response(failure: ApiError) -> Response:
    """The answer to a call that failed."""
    return json_response(failure.body(), failure.status, failure.headers)


def failures(*, calls: bool = True, more: Iterable[int] = ()) -> dict[int | str, dict[str, Any]]:
    """The failures of a route for the OpenAPI document."""
    statuses = sorted({*_ANY, *(_CALLS if calls else ()), *more})
    told = {status: ", ".join(kind for kind, of in STATUSES.items() if of == status) for status in statuses}
    return {status: {"model": Failure, "description": kinds} for status, kinds in told.items()}


def takes(model: type[BaseModel] | None, *, idempotent: bool = False) -> dict[str, Any]:
    """The body and the headers of a route for the OpenAPI document."""
    told: dict[str, Any] = {}
    if model is not None:
        schema = {"$ref": REF.format(model=model.__name__)}
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if idempotent:
        told["parameters"] = [IDEMPOTENCY]
    return told


IDEMPOTENCY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a call with the same key and body is answered as the first one was, and not carried out again",
    "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
}
