"""``GET /{site}/{operation}`` (``POST`` where the site says so): made of the spiders' operations."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, get_args

import orjson
from fastapi import APIRouter, Request
from starlette.responses import Response  # FastAPI reads it

from fetchworker.contracts import Render
from fetchworker.service.browsing import check_browser
from fetchworker.service.calls import run_operation
from fetchworker.service.callsessions import check_name
from fetchworker.service.failures import ApiError
from fetchworker.service.leasing import Held
from fetchworker.service.queries import check_names
from fetchworker.service.responses import INCOMPLETE, Lines, failures, json_response, to_json
from fetchworker.service.siteschema import described, item_schema
from fetchworker.service.state import caller_of
from fetchworker.sessions import check_session_id
from fetchworker.spiders.kinds import fault_of, kinds_of, text_fault_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from fetchworker.items import Item
    from fetchworker.service.state import Service
    from fetchworker.spiders.base import SiteSpider
    from fetchworker.spiders.operation import Operation, Started

NDJSON = "application/x-ndjson"
#: parameters that are the service's own, beside those of the operation
OWN = ("session_id", "lease", "timeout", "render")
_OWN_KINDS = {"timeout": frozenset({int, float})}
_BOOLEANS = {"true": True, "false": False}


def sites_router(service: Service, spiders: Mapping[str, type[SiteSpider]]) -> APIRouter:
    """The routes of all sites."""
    router = APIRouter()
    for site, spider in spiders.items():
        for operation in spider.operations.values():
            _add(router, service, site, spider, operation)
    return router


def _add(router: APIRouter, service: Service, site: str, spider: type[SiteSpider], operation: Operation) -> None:
    async def route(request: Request) -> Response:
        values = await _given(request, operation)
        if request.method == "POST":
            _check_kept(request)
            return await service.idempotency.once(request, lambda: _serve(service, request, site, operation, values))
        return await _serve(service, request, site, operation, values)

    router.add_api_route(
        f"/{site}/{operation.name}",
        route,
        methods=[spider.verb],
        tags=[site],
        summary=operation.summary.rstrip("."),
        operation_id=f"{site}_{operation.name}",
        response_class=Response,
        responses={
            200: {"description": "items", "content": {"application/json": {"schema": item_schema()}, NDJSON: {}}},
            **failures(more=(501,)),
        },
        openapi_extra=described(operation, spider.verb),
    )


def _check_kept(request: Request) -> None:
    """Lines go out as they come and are not kept: nothing could be answered again."""
    if "idempotency-key" in request.headers and _wants_lines(request):
        told = f"Idempotency-Key: lines are not kept; ask for application/json, not {NDJSON}, or leave it out"
        raise ApiError("VALIDATION_ERROR", told, fields=["Idempotency-Key"])


def _wants_lines(request: Request) -> bool:
    return NDJSON in request.headers.get("accept", "")


# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _given(request: Request, operation: Operation) -> dict[str, Any]:
    """The arguments of a request: the query of a GET, the JSON object of a POST."""
    known = dict.fromkeys((*operation.params.model_fields, "url", *OWN))
    if request.method == "POST":
        check_names(request.query_params, ())
        values = _from_body(await request.body(), operation)
        check_names(values, known)
        return values
    check_names(request.query_params, known)
    values = {}
    for name, value in request.query_params.multi_items():
        if name in values:
            raise ApiError("VALIDATION_ERROR", f"{name}: given twice", fields=[name])
        values[name] = _read(name, value, _kinds(operation, name))
    return values


def _read(name: str, value: str, kinds: frozenset[Any]) -> Any:
    """A value of a query, whose numbers and booleans are written as in JSON."""
    _check(name, text_fault_of(value, kinds))
    return _BOOLEANS[value] if kinds == {bool} else value


def _check(name: str, fault: str | None) -> None:
    if fault is not None:
        raise ApiError("VALIDATION_ERROR", f"{name}: {fault}", fields=[name])


def _from_body(body: bytes, operation: Operation) -> dict[str, Any]:
    try:
        values = orjson.loads(body or b"{}")
    except orjson.JSONDecodeError:
        raise ApiError("VALIDATION_ERROR", "the body is no JSON") from None
    if not isinstance(values, dict):
        raise ApiError("VALIDATION_ERROR", "the body has to be a JSON object")
    for name, value in values.items():
        if value is not None:
            _check(name, fault_of(value, _kinds(operation, name)))
    return values


def _kinds(operation: Operation, name: str) -> frozenset[Any]:
    """The plain types that a field takes, of the service's own too."""
    return _OWN_KINDS.get(name) or kinds_of(operation, name)


# ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def _serve(
    service: Service, request: Request, site: str, operation: Operation, values: dict[str, Any]
) -> Response:
    own = {name: values.pop(name) for name in OWN if name in values}
    timeout = service.time_for(_seconds(own.get("timeout")))
    held = _held(own, caller_of(request))
    if held is not None and held.lease is None:
        values["session"] = held.name
    render = _render(own.get("render"), service)
    served, _ = await service.crawlers.get(site)
    started = served.resolver.arguments({**values, "operation": operation.name})
    assert served.runtime
    served.check_call(started.call, served.runtime.config)
    items = _items(service, request, site, started, timeout=timeout, held=held, render=render)
    if _wants_lines(request):
        return await _streamed(items)
    return await _collected(items)


def _held(own: dict[str, Any], caller: str | None) -> Held | None:
    name, lease = own.get("session_id"), own.get("lease")
    if name is None and lease is not None:
        raise ApiError("VALIDATION_ERROR", "lease: belongs to a session_id", fields=["lease"])
    if name is None:
        return None
    for told, value in (("session_id", name), ("lease", lease)):
        if not isinstance(value, str | None):
            raise ApiError("VALIDATION_ERROR", f"{told}: a text is expected", fields=[told])
    return Held(check_name(check_session_id(name)), lease, caller)


def _seconds(given: Any) -> float | None:
    if given is None:
        return None
    try:
        seconds = float(given) if isinstance(given, str | int | float) else 0.0  # a text is a number here
    except (ValueError, OverflowError):
        seconds = 0.0
    if not seconds > 0:
        raise ApiError("VALIDATION_ERROR", "timeout: a number of seconds is expected", fields=["timeout"])
    return seconds


def _render(given: Any, service: Service) -> str | None:
    if given is None:
        return None
    if given not in get_args(Render):
        told = f"render: {', '.join(get_args(Render))} is expected"
        raise ApiError("VALIDATION_ERROR", told, fields=["render"])
    if given == "always":
        check_browser(service.environment)
    return str(given)


async def _items(
    service: Service,
    request: Request,
    site: str,
    started: Started,
    *,
    timeout: float,  # noqa: ASYNC109  # the call's
    held: Held | None,
    render: str | None,
) -> AsyncGenerator[Item, None]:
    name = started.call.operation
    call = service.call(request, site=site, operation=name, timeout=timeout, session=held and held.name)
    async with call as last:
        served, engine = await service.crawlers.get(site)
        call_id = request.scope["state"]["request_id"]
        running = run_operation(
            served,
            engine,
            started,
            held,
            seconds=timeout,
            last=last,
            call_id=call_id,
            workspace=service.workspace_of(request),
            render=render,
        )
        async with aclosing(running) as items:
            async for item in items:
                yield item


async def _collected(items: AsyncGenerator[Item, None]) -> Response:
    found: list[Item] = []
    try:
        async for item in items:
            found.append(item)  # noqa: PERF401  # those before an error count
    except ApiError as exc:
        if not found:
            raise
        return json_response(found, headers={INCOMPLETE: exc.type})
    return json_response(found)


async def _streamed(items: AsyncGenerator[Item, None]) -> Response:
    """Lines as the items come; the first one is waited for: a call that fails at once says so by its status."""
    first = await anext(items, None)

    async def lines() -> AsyncGenerator[bytes, None]:
        try:
            if first is not None:
                yield to_json(first) + b"\n"
            async for item in items:
                yield to_json(item) + b"\n"
        except ApiError as exc:
            yield to_json({"error": exc.body()}) + b"\n"
        finally:
            await items.aclose()

    return Lines(lines(), NDJSON)
