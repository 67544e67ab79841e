"""uvicorn, with a drain before its end and a time limit for clients that do not come to the point."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from typing import TYPE_CHECKING, Any

import uvicorn

from fetchworker.service.patience import patient

if TYPE_CHECKING:
    from types import FrameType

    from fetchworker.service.edge import App
    from fetchworker.service.state import Service

logger = logging.getLogger(__name__)

#: how often the drain looks whether all calls have ended, seconds
_TICK = 0.05
#: seconds that answers may take to leave once all calls have ended
_LAST = 2.0
_BACKLOG = 2048
_KEEP_ALIVE = 30
#: what a shell tells of a program that SIGINT ended
_INTERRUPTED = 130
_NOT_STARTED = 1


class Server(uvicorn.Server):
    """Serves until it is told to end: then /health fails, calls end, and the listener closes.

    The first SIGTERM or SIGINT begins the drain, a second one ends at once. What ended it is raised again afterwards,
    so that the process dies of the signal, as shells and supervisors expect (143 or 130).
    """

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._drain: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[Any] | None = None) -> None:
        """Begin to listen."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        for server in self.servers:
            for one in server.sockets:
                host, port = one.getsockname()[:2]
                sys.stdout.write(f"serving at http://{f'[{host}]' if ':' in host else host}:{port}\n")
                sys.stdout.flush()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  # the base's signature
        """A signal came."""
        self._captured_signals.append(sig)
        if self._service.draining or self._loop is None:
            self.should_exit = self.force_exit = True
            return
        self._service.draining = True
        self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._drain = asyncio.ensure_future(self._drained())

    async def _drained(self) -> None:
        """Wait for the calls; new ones are taken as long as others are under way, as some do not know yet."""
        most = self._service.environment.shutdown_drain_seconds
        logger.info("told to end: calls have %g seconds", most)
        end = time.monotonic() + most
        while self._service.under_way and time.monotonic() < end:  # noqa: ASYNC110  # nothing tells
            await asyncio.sleep(_TICK)
        left = max(_LAST, end - time.monotonic())
        self.config.timeout_graceful_shutdown = int(left + 1)
        self._service.ending = True  # of those too that come until the listener is closed
        if self._service.under_way:
            logger.warning("%d calls have not ended and are cut off", self._service.under_way)
            self._cut()
        self.should_exit = True

    def _cut(self) -> None:
        """End the calls that are left; each answers so by itself."""
        for task in self.server_state.tasks:
            task.cancel()


def run(app: App, service: Service, *, host: str, port: int) -> int:
    """Serve until a signal comes; the exit code, unless the signal has ended the process."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        loop="uvloop",
        http=patient(service.environment.serve_patience),
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE,
    )
    try:
        Server(config, service).run()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except SystemExit:  # uvicorn's end of a start that failed; the log has told why
        return _NOT_STARTED
    return 0
