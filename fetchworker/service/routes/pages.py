"""``/docs``, ``/swagger`` and their assets, which come with the package: no other host is asked for anything."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
#: a page that could load nothing from elsewhere, whatever its scripts want
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_SCALAR = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>fetchworker API</title></head>
<body><div id="app"></div>
<script src="/assets/scalar.js"></script><script src="/assets/scalar-start.js"></script></body>
</html>
"""
_SWAGGER = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>fetchworker API</title>
<link rel="stylesheet" href="/assets/swagger-ui.css"></head>
<body><div id="swagger-ui"></div>
<script src="/assets/swagger-ui-bundle.js"></script><script src="/assets/swagger-start.js"></script></body>
</html>
"""


def pages_router() -> APIRouter:
    """The routes."""
    router = APIRouter(include_in_schema=False)

    @router.get("/docs")
    async def scalar() -> Response:
        return _page(_SCALAR)

    @router.get("/swagger")
    async def swagger() -> Response:
        return _page(_SWAGGER)

    @router.get("/assets/{name}")
    async def asset(name: str) -> Response:
        return _asset(name)

    return router


def _page(html: str) -> Response:
    headers = {
        "content-security-policy": _POLICY,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }
    return HTMLResponse(html, headers=headers)


def _asset(name: str) -> Response:
    folder: Any = files("fetchworker.service") / "assets"
    known = {one.name for one in folder.iterdir()}
    kind = _TYPES.get(name.rpartition(".")[2])
    if name not in known or kind is None:
        raise HTTPException(404)
    headers = {"cache-control": "public, max-age=3600", "x-content-type-options": "nosniff"}
    return Response((folder / name).read_bytes(), headers=headers, media_type=kind)
