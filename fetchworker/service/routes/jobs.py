"""``POST /jobs/{id}/complete``: whoever ran a job says that it has ended, and signs it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from fetchworker.jobs.webhook import GOOD_FOR, HEADER, verified
from fetchworker.service.failures import ApiError
from fetchworker.service.models import read_body
from fetchworker.service.responses import failures, takes
from fetchworker.service.routes.runs import runs_of

if TYPE_CHECKING:
    from fetchworker.service.state import Service

JobId = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", description="the job's id on its node")]
_UNKNOWN = "the signature is none of who knows FETCHWORKER_CONTROL_SECRET, or is too old"


class CompleteBody(BaseModel):
    """The word of a job's end; what it says is looked up at the node anyway."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    job_id: str


class Signatures:
    """Those that have been used, for as long as they are good."""

    def __init__(self) -> None:
        self._used: dict[str, float] = {}

    def fresh(self, signature: str, now: float) -> bool:
        """Whether it has not been used before; then it has been."""
        old = [one for one, until in self._used.items() if until < now]
        for one in old:
            del self._used[one]
        if signature in self._used:
            return False
        self._used[signature] = now + 2 * GOOD_FOR
        return True


def jobs_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(prefix="/jobs", tags=["runs"])
    signatures = Signatures()

    @router.post(
        "/{job_id}/complete",
        status_code=204,
        summary="A job has ended",
        operation_id="complete_job",
        response_class=Response,
        responses=failures(),
        openapi_extra={**takes(CompleteBody), "security": [{}]},
    )
    async def complete(request: Request, job_id: JobId) -> Response:
        """Its run is looked at now. Signed as docs/scrapyd.md says; a signature is good once."""
        body = await request.body()
        _check(service, request.headers.get(HEADER, ""), body)
        if read_body(CompleteBody, body).job_id != job_id:
            raise ApiError("VALIDATION_ERROR", "job_id: another job than the path's", fields=["job_id"])
        if not signatures.fresh(request.headers[HEADER], time.time()):
            raise ApiError("CONFLICT", "this signature has been used", job_id=job_id)
        async with runs_of(service, request, "complete_job") as runs:
            await runs.complete(job_id)
        return Response(status_code=204)

    return router


def _check(service: Service, signature: str, body: bytes) -> None:
    secret = service.environment.control_secret
    if secret is None:
        raise ApiError("FORBIDDEN", "FETCHWORKER_CONTROL_SECRET is not set: nobody's word of a job is taken")
    if not verified(secret.get_secret_value(), body, signature, time.time()):
        raise ApiError("UNAUTHENTICATED", _UNKNOWN)
