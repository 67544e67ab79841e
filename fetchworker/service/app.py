"""Puts the service together: routes, failures, the OpenAPI document, and what opens and closes with it."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from fetchworker.actions import TYPES
from fetchworker.errors import FetchworkerError, RedisUnavailableError, field_path
from fetchworker.runs.models import RunRequest
from fetchworker.runs.schedulemodels import ScheduleRequest
from fetchworker.service.direct import Direct, plain_routes
from fetchworker.service.edge import Edge
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.models import BrowserRunBody, DocumentBody, FetchBody, MintBody
from fetchworker.service.queries import check_query
from fetchworker.service.responses import REF, failure_response
from fetchworker.service.routes.actions import actions_router
from fetchworker.service.routes.artifacts import artifacts_router
from fetchworker.service.routes.browser import browser_router
from fetchworker.service.routes.deliveries import deliveries_router
from fetchworker.service.routes.documents import documents_router
from fetchworker.service.routes.fetch import fetch_router
from fetchworker.service.routes.health import health_router
from fetchworker.service.routes.jobs import CompleteBody, jobs_router
from fetchworker.service.routes.pages import pages_router
from fetchworker.service.routes.pool import ExtendBody, LeaseBody, QuarantineBody, ReleaseBody, pool_router
from fetchworker.service.routes.runs import runs_router
from fetchworker.service.routes.schedules import schedules_router
from fetchworker.service.routes.sessions import sessions_router
from fetchworker.service.routes.sites import sites_router
from fetchworker.service.siteschema import models

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pydantic import BaseModel

    from fetchworker.service.edge import App
    from fetchworker.service.state import Service
    from fetchworker.spiders.base import SiteSpider

logger = logging.getLogger(__name__)

_TITLE = "fetchworker"
_TOLD = "Fetches public pages the way a browser would, tells refusals from data, and gives the data of sites as items."
_STATUS_TYPES = {404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "PAYLOAD_TOO_LARGE"}


def make_app(service: Service, spiders: Mapping[str, type[SiteSpider]]) -> App:
    """The ASGI application.

    Args:
        service: its parts.
        spiders: the sites that have routes of their own; none in a stateless service.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title=_TITLE, lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False
    )
    strict = [Depends(check_query)]
    app.include_router(health_router(service))
    app.include_router(pages_router())
    fetch = fetch_router(service)
    app.include_router(fetch, dependencies=strict)
    app.include_router(sessions_router(service), dependencies=strict)
    app.include_router(documents_router(service), dependencies=strict)
    app.include_router(artifacts_router(service), dependencies=strict)
    app.include_router(browser_router(service), dependencies=strict)
    if not service.stateless:
        app.include_router(pool_router(service), dependencies=strict)
        app.include_router(actions_router(service), dependencies=strict)
        app.include_router(runs_router(service), dependencies=strict)
        app.include_router(jobs_router(service), dependencies=strict)
        app.include_router(deliveries_router(service), dependencies=strict)
        app.include_router(schedules_router(service), dependencies=strict)
    app.include_router(sites_router(service, spiders))
    for kind in (ApiError, FetchworkerError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _failed)
    _document(app, spiders)
    return Edge(Direct(app, plain_routes([fetch]), _failed), service)


async def _failed(_: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        kind = _STATUS_TYPES.get(error.status_code, "INTERNAL_ERROR")
        return failure_response(ApiError(kind, str(error.detail), headers=dict(error.headers or {})))
    if isinstance(error, RequestValidationError):
        return failure_response(_invalid(error))
    if isinstance(error, RedisUnavailableError):
        logger.warning("a call failed: %s", error)
    return failure_response(failure_of(error))


def _invalid(error: RequestValidationError) -> ApiError:
    found = [(field_path(one["loc"][1:]), one["msg"]) for one in error.errors()]
    message = "; ".join(f"{name}: {what}" for name, what in found)
    return ApiError("VALIDATION_ERROR", message, fields=[name for name, _ in found])


def _document(app: FastAPI, spiders: Mapping[str, type[SiteSpider]]) -> None:
    made: dict[str, Any] = {}

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        if not made:
            made.update(_openapi(app, spiders))
        return JSONResponse(made)


def _openapi(app: FastAPI, spiders: Mapping[str, type[SiteSpider]]) -> dict[str, Any]:
    document = get_openapi(title=_TITLE, version=version(_TITLE), description=_TOLD, routes=app.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    operations = (operation for spider in spiders.values() for operation in spider.operations.values())
    for name, schema in {**models(operations), **_bodies()}.items():
        schemas[name] = schema
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"key": []}, {}]
    return document


def _bodies() -> dict[str, Any]:
    found: dict[str, Any] = {}
    own = (BrowserRunBody, DocumentBody, FetchBody, MintBody, ExtendBody, LeaseBody, QuarantineBody, ReleaseBody)
    runs = (RunRequest, ScheduleRequest, CompleteBody)
    all_models: tuple[type[BaseModel], ...] = (*TYPES.values(), *own, *runs)
    for model in all_models:
        schema = model.model_json_schema(ref_template=REF)
        found |= {**schema.pop("$defs", {}), model.__name__: schema}
    actions = [{"$ref": REF.format(model=model.__name__)} for model in TYPES.values()]
    found[BrowserRunBody.__name__]["properties"]["actions"]["items"] = {"oneOf": actions}
    return found
