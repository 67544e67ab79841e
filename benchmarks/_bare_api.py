"""What `POST /fetch` costs at least: FastAPI and curl_cffi alone. `python _bare_api.py PORT CA UPSTREAM_PORT`."""

from __future__ import annotations

import sys

import uvicorn
from curl_cffi import CurlOpt
from curl_cffi.requests import AsyncSession
from fastapi import FastAPI
from pydantic import BaseModel

PORT, CA, UPSTREAM = int(sys.argv[1]), sys.argv[2], sys.argv[3]
FRESH = {CurlOpt.FRESH_CONNECT: 1, CurlOpt.FORBID_REUSE: 1, CurlOpt.SSL_SESSIONID_CACHE: 0}
TO = {CurlOpt.RESOLVE: [f"bench.example:{UPSTREAM}:127.0.0.1"]}


class Body(BaseModel):
    url: str
    session_id: str | None = None


app = FastAPI()
sessions: dict[str, AsyncSession] = {}


def session_of(name: str | None) -> AsyncSession:
    """One for all that have no name, with a connection for each call; one for each name."""
    key = name or ""
    if key not in sessions:
        options = TO | (FRESH if name is None else {})
        sessions[key] = AsyncSession(impersonate="chrome", verify=CA, curl_options=options, max_clients=64)
    return sessions[key]


@app.post("/fetch")
async def fetch(body: Body) -> dict:
    response = await session_of(body.session_id).get(body.url.replace("bench.example", f"bench.example:{UPSTREAM}"))
    return {
        "url": response.url, "status": response.status_code, "headers": response.headers.multi_items(),
        "body": response.text, "session_id": body.session_id,
    }  # fmt: skip


if __name__ == "__main__":
    uvicorn.run(
        app, host="127.0.0.1", port=PORT, log_level="warning", access_log=False, loop="uvloop", http="httptools"
    )
