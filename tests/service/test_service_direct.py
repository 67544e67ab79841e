"""Plain routes are run past FastAPI's layers; everything else is FastAPI's, and answers are the same."""

from __future__ import annotations

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import PlainTextResponse, Response

from fetchworker.errors import ArgumentError
from fetchworker.service.direct import Direct, plain_routes
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.queries import check_query
from fetchworker.service.responses import failure_response

router = APIRouter()


def through(request: Request) -> str:
    return "FastAPI" if "route" in request.scope else "direct"


@router.post("/plain")
async def plain(request: Request) -> Response:
    body = await request.body()
    if body == b"wrong":
        raise ArgumentError("a colour is expected", fields=["colour"])
    if body == b"busy":
        raise ApiError("OVERLOADED", "come again", headers={"retry-after": "3"})
    if body == b"broken":
        raise ZeroDivisionError
    return PlainTextResponse(f"{through(request)} {body.decode()}")


@router.get("/named/{name}")
async def named(request: Request, name: str) -> Response:
    return PlainTextResponse(f"{through(request)} {name}")


@router.get("/asked")
async def asked(request: Request, colour: str = "red") -> Response:
    return PlainTextResponse(f"{through(request)} {colour}")


@pytest.fixture
async def client():
    async def failed(_, error):
        return failure_response(failure_of(error))

    app = FastAPI()
    app.include_router(router, dependencies=[Depends(check_query)])
    app.add_exception_handler(ApiError, failed)
    direct = Direct(app, plain_routes([router]), failed)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(direct), base_url="http://here") as made:
        yield made


def test_plain_are_those_that_take_the_request_alone():
    assert plain_routes([router]) == {("POST", "/plain"): plain}


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("POST", "/plain", "direct red"),
        ("GET", "/named/ada", "FastAPI ada"),
        ("GET", "/asked?colour=blue", "FastAPI blue"),
    ],
)
async def test_which_way_a_call_goes(client, method, path, found):
    answer = await client.request(method, path, content=b"red" if method == "POST" else None)
    assert (answer.status_code, answer.text) == (200, found)


async def test_what_is_not_quite_plain_is_fastapis(client):
    strange = await client.post("/plain?colour=red", content=b"red")
    assert (strange.status_code, strange.json()["context"]["fields"]) == (400, ["colour"])
    assert (await client.get("/plain")).status_code == 405
    assert (await client.post("/plain/")).status_code in (307, 404)


@pytest.mark.parametrize(
    ("body", "status", "kind"), [(b"wrong", 400, "VALIDATION_ERROR"), (b"busy", 429, "OVERLOADED")]
)
async def test_failures_are_answered(client, body, status, kind):
    answer = await client.post("/plain", content=body)
    assert (answer.status_code, answer.json()["type"]) == (status, kind)
    assert (answer.headers.get("retry-after") == "3") == (status == 429)


async def test_an_error_of_our_own_is_for_the_layers_above(client):
    with pytest.raises(ZeroDivisionError):
        await client.post("/plain", content=b"broken")
