"""The events of a run as they come."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from fetchworker.errors import FetchworkerError
from fetchworker.service.failures import ApiError, failure_of
from fetchworker.service.responses import Lines, to_json
from fetchworker.service.state import DEFAULT

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request
    from starlette.responses import Response

    from fetchworker.service.state import Service

_EVENTS = "text/event-stream"
#: seconds between two looks, and of silence after which a comment is sent
_LOOK, _SILENCE = 0.5, 10.0
#: seconds after which the answer ends by itself: who waits longer asks again with ``Last-Event-ID``
_LONGEST = 3600.0
_PAGE = 500


async def event_stream(service: Service, request: Request, run_id: str, after: int) -> Response:
    """An answer of events, whose ids are their numbers; ``end`` (the run) is the last one.

    Args:
        service: it.
        request: the call; its ``Last-Event-ID`` tells what is known.
        run_id: of the run.
        after: the number of the last event that is known.
    """
    given = request.headers.get("last-event-id", "")
    after = max(after, int(given)) if given.isascii() and given.isdigit() and len(given) < 19 else after  # noqa: PLR2004
    parts = _events(service, request, run_id, after)
    first = await anext(parts)

    async def content() -> AsyncGenerator[bytes, None]:
        async with aclosing(parts):
            yield first
            async for part in parts:
                yield part

    answer = Lines(content(), _EVENTS)
    answer.headers.update({"cache-control": "no-store", "x-accel-buffering": "no"})
    return answer


async def _events(service: Service, request: Request, run_id: str, after: int) -> AsyncGenerator[bytes, None]:
    assert service.runs
    own = service.workspace_of(request)
    mine = None if own is None else [own]
    call = service.call(request, site=DEFAULT, operation="run_events", timeout=_LONGEST + 60, listening=True)
    async with call:
        runs = await service.runs.get()
        await runs.get(run_id, workspaces=mine)
        yield b": these are the events of the run\n\n"
        ends = time.monotonic() + _LONGEST
        told = time.monotonic()
        try:
            while time.monotonic() < ends and not service.draining:
                run = await runs.get(run_id, workspaces=mine)  # before its events: those of its end are there then
                page = await runs.events(run_id, workspaces=mine, after=after, limit=_PAGE)
                for one in page.events:
                    yield _event("event", one.model_dump_json(by_alias=True).encode(), one.seq)
                    after, told = one.seq, time.monotonic()
                if run.ended and len(page.events) < _PAGE:
                    yield _event("end", run.model_dump_json(by_alias=True).encode(), after)
                    return
                if time.monotonic() - told > _SILENCE:
                    yield b": waiting\n\n"
                    told = time.monotonic()
                await asyncio.sleep(_LOOK)
        except (ApiError, FetchworkerError) as exc:
            yield _event("error", to_json(failure_of(exc).body()), after)


def _event(name: str, data: bytes, number: int) -> bytes:
    """One event (pure)."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (number, name.encode(), data)
