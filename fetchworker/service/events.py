"""A call's progress and its end as server-sent events."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from fetchworker.service.failures import failure_of
from fetchworker.service.responses import Lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from starlette.responses import Response

    Progress: TypeAlias = Callable[[int, int], None]
    Run: TypeAlias = Callable[[Progress], Awaitable[Response]]

EVENTS = "text/event-stream"
#: seconds of silence after which a comment is sent: what stands between takes silence for the end
_SILENCE = 10.0
_FAILED = 400


def event_response(run: Run, *, ending: Callable[[], bool] = lambda: False) -> Lines:
    """An answer of events: ``progress`` (``page``, ``pages``), then ``result`` or ``error``.

    Args:
        ending: whether the service ends, so that a call which is cancelled has a client that is still there.
        run: carries the call out and tells its progress; its answer's body, or its failure, is the last event. It is
            cancelled when the client hangs up.
    """
    response = Lines(_events(run, ending), EVENTS)
    response.headers["cache-control"] = "no-store"
    response.headers["x-accel-buffering"] = "no"
    return response


async def _events(run: Run, ending: Callable[[], bool]) -> AsyncGenerator[bytes, None]:
    queue: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
    work = asyncio.ensure_future(run(lambda page, pages: queue.put_nowait((page, pages))))
    work.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        async with aclosing(_told(queue)) as progress:
            async for told in progress:
                yield told
        yield _end(work)
    except asyncio.CancelledError as exc:
        task = asyncio.current_task()
        if task is None or not ending():
            raise
        task.uncancel()
        yield event("error", orjson.dumps(failure_of(exc).body()))
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)


async def _told(queue: asyncio.Queue[tuple[int, int] | None]) -> AsyncGenerator[bytes, None]:
    while True:
        try:
            async with asyncio.timeout(_SILENCE):
                told = await queue.get()
        except TimeoutError:
            yield b": waiting\n\n"
            continue
        if told is None:
            return
        yield event("progress", orjson.dumps({"page": told[0], "pages": told[1]}))


def _end(work: asyncio.Future[Response]) -> bytes:
    error: Any = asyncio.CancelledError() if work.cancelled() else work.exception()
    if error is not None:
        return event("error", orjson.dumps(failure_of(error).body()))
    answer = work.result()
    return event("error" if answer.status_code >= _FAILED else "result", bytes(answer.body))


def event(name: str, data: bytes) -> bytes:
    """One event; ``data`` is JSON, which has no line breaks here (pure)."""
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
