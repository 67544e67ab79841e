"""``GET /health``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response  # noqa: TC002  # FastAPI reads it

from fetchworker.service.responses import json_response

if TYPE_CHECKING:
    from fetchworker.service.state import Service


class Degraded(BaseModel):
    """A part that does less than it should, and what that means."""

    part: str
    told: str


class Health(BaseModel):
    """How the service is."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["ready", "draining"]
    mode: Literal["full", "stateless"]
    degraded: list[Degraded]
    in_flight: int
    waiting: int
    sites: list[str]


def health_router(service: Service) -> APIRouter:
    """The route."""
    router = APIRouter(tags=["service"])

    @router.get(
        "/health",
        summary="Whether the service takes calls",
        operation_id="health",
        response_model=Health,
        responses={503: {"model": Health, "description": "the service is about to end: send calls elsewhere"}},
    )
    async def health() -> Response:
        """200 when it is ready; 503 from the moment on at which it was told to end."""
        return json_response(_health(service), 503 if service.draining else 200)

    return router


def _health(service: Service) -> dict[str, object]:
    return {
        "status": "draining" if service.draining else "ready",
        "mode": "stateless" if service.stateless else "full",
        "degraded": [{"part": part, "told": told} for part, told in service.degraded()],
        "in_flight": service.admission.taken,
        "waiting": service.admission.waiting,
        "sites": service.crawlers.sites,
    }
