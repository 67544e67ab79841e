"""What stands before the routes: ids, who calls, bodies, clients that are slow or gone. Pure ASGI."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from uuid import uuid4

import orjson

from fetchworker.service.admission import Bodies
from fetchworker.service.failures import ApiError, failure_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from fetchworker.service.state import Service

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    App = Callable[[Scope, Receive, Send], Awaitable[None]]

logger = logging.getLogger(__name__)

_ID = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
_TRACEPARENT = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?\Z")
_LOOPBACK = re.compile(rb"(localhost|127(\.[0-9]{1,3}){3}|\[::1\])(:[0-9]{1,5})?\Z", re.IGNORECASE)
#: paths that need no key: what they tell is no secret
_OPEN = frozenset({"/health", "/openapi.json", "/docs", "/swagger"})
#: bytes of an answer that are handed over at a time; who takes less in the time of patience is cut
_PART = 64 * 1024
#: as many times the longest body are taken from a client whose body is too long, so that it reads why
_LINGER = 4
#: the first part of a path → the scope that it needs; all others are sites
_SCOPES = {name: name for name in ("fetch", "sessions", "pool", "documents", "artifacts", "admin")}
_SCOPES["browser"] = "fetch"
_SCOPES |= dict.fromkeys(("runs", "items", "schedules", "webhooks", "jobs"), "runs")
#: its callers sign what they say
_SIGNED = re.compile(r"/jobs/[^/]+/complete")

#: the one path that takes files, and the bytes that a form may have beside its file
#: digits of a number of bytes; Python reads no thousands of them
_DIGITS = 18
_FILES, _FORM = "/documents", 16 * 1024
_MULTIPART = b"multipart/form-data"
#: bytes a second that a body has to come with, once its first seconds are over
_SLOWEST = 64 * 1024


class _GoneError(Exception):
    """The client hung up."""


def scope_of(path: str) -> str | None:
    """The scope that a path needs, None for those that are open."""
    if path in _OPEN or path.startswith("/assets/") or _SIGNED.fullmatch(path):
        return None
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    return _SCOPES.get(first, "sites")


def given_key(headers: dict[bytes, bytes]) -> str | None:
    """The API key of a request."""
    scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
    key = token.strip() if scheme.lower() == b"bearer" else headers.get(b"x-api-key", b"")
    return key.decode("latin-1") or None


def _check_texts(scope: Scope) -> None:
    """See that no text of an address holds NUL, which databases and file systems do not take.

    Raises:
        ApiError: VALIDATION_ERROR, naming the parameters.
    """
    if "\x00" in scope["path"]:
        raise ApiError("VALIDATION_ERROR", "the path holds a NUL", fields=["path"])
    if b"%00" not in scope["query_string"] and b"\x00" not in scope["query_string"]:
        return
    pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    if fields := [name.replace("\x00", "") for name, value in pairs if "\x00" in name + value]:
        raise ApiError("VALIDATION_ERROR", f"{', '.join(fields)}: holds a NUL", fields=list(dict.fromkeys(fields)))


class Edge:
    """Wraps the routes.

    A request's body is read here, within the limits, and the routes get it at once. From then on the connection is
    watched: when the client hangs up, its call is cancelled.
    """

    def __init__(self, app: App, service: Service) -> None:
        self._app = app
        self._service = service
        self._body_max = service.environment.serve_body_max
        self._form_max = service.environment.documents_bytes + _FORM
        self._patience = service.environment.serve_patience
        self._bodies = Bodies(max(service.environment.serve_bodies_max, self._body_max, self._form_max))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(reversed(scope["headers"]))
        call = _Call(scope, headers, send, self._patience)
        self._service.under_way += 1
        try:
            async with call.held:
                _check_texts(scope)
                await self._serve(call, headers, receive)
        except _GoneError:
            call.status = 499
        except asyncio.CancelledError as exc:
            await self._ended(call, exc)
        except TimeoutError:  # the client takes nothing of its answer
            call.status = 499
        except Exception as exc:
            failure = failure_of(exc)
            if failure.type == "INTERNAL_ERROR":
                logger.exception("%s %s: an error of our own", scope["method"], scope["path"])
            with suppress(TimeoutError):
                await call.fail(failure, rest=partial(self._rest, receive))
        finally:
            self._service.under_way -= 1
            self._bodies.give_back(call.lies)
            call.tell()

    async def _ended(self, call: _Call, error: asyncio.CancelledError) -> None:
        """Answer a call that is cut off as the service ends, wherever it is: its client is still there.

        Raises:
            CancelledError: it is cancelled for another reason.
        """
        task = asyncio.current_task()
        if task is None or not self._service.ending:
            raise error
        task.uncancel()
        with suppress(TimeoutError):
            await call.fail(failure_of(error), rest=_nothing)

    async def _serve(self, call: _Call, headers: dict[bytes, bytes], receive: Receive) -> None:
        self._check_browser(headers)
        needed = scope_of(call.scope["path"])
        if needed is not None:
            call.scope["state"]["caller"] = self._service.callers.admit(given_key(headers), needed)
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        form = kind == _MULTIPART and call.scope["path"] == _FILES
        body = await self._body(call, headers, receive, self._form_max if form else self._body_max)
        if body and not form and kind != b"application/json":
            other = " or multipart/form-data" if call.scope["path"] == _FILES else ""
            raise ApiError("UNSUPPORTED_MEDIA_TYPE", f"the body has to be application/json{other}")
        await self._watched(call, body, receive)

    def _check_browser(self, headers: dict[bytes, bytes]) -> None:
        """Where nobody is asked for a key, pages of other origins in the operator's browser are kept out."""
        if len(self._service.callers):
            return
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise ApiError("FORBIDDEN", "a page of another origin may not call a service without keys")
        if not _LOOPBACK.match(headers.get(b"host", b"localhost")):
            raise ApiError("FORBIDDEN", "without keys the service answers to localhost and 127.0.0.1 alone")

    async def _body(self, call: _Call, headers: dict[bytes, bytes], receive: Receive, most: int) -> bytes:
        declared = headers.get(b"content-length", b"0")
        if declared.isdigit() and (len(declared) > _DIGITS or int(declared) > most):
            raise _too_large(most)
        if declared == b"0" and b"transfer-encoding" not in headers:
            await receive()
            return b""
        parts, size = [], 0
        loop = asyncio.get_running_loop()
        end = loop.time() + self._patience
        try:
            async with asyncio.timeout_at(end) as deadline:
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _GoneError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _too_large(most)
                    self._count(call, len(parts[-1]))
                    deadline.reschedule(end + size / _SLOWEST)
                    if not message.get("more_body", False):
                        return b"".join(parts)
        except TimeoutError:
            told = f"the body did not come within {self._patience:g} seconds and one for each {_SLOWEST} bytes"
            raise _unread(ApiError("REQUEST_TIMEOUT", told)) from None

    def _count(self, call: _Call, size: int) -> None:
        """A part of a body has come, which lies here until its call has been answered."""
        try:
            self._bodies.take(size)
        except ApiError as exc:
            raise _unread(exc) from None
        call.lies += size

    async def _rest(self, receive: Receive) -> None:
        """Take what a refused client still sends, up to a limit.

        Many clients read the answer when they have sent everything, and a connection that is closed with bytes unread
        is reset, with the answer.
        """
        left = max(self._body_max, self._form_max) * _LINGER
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                while left > 0:
                    message = await receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))

    async def _watched(self, call: _Call, body: bytes, receive: Receive) -> None:
        """Run the routes, and end them when the client is gone."""
        given = False

        async def replay() -> Message:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": body, "more_body": False}
            await asyncio.Event().wait()  # who hangs up is seen below
            raise AssertionError

        work = asyncio.current_task()
        assert work is not None
        watch = asyncio.ensure_future(_cancel_when_gone(work, call, receive))
        try:
            await self._app(call.scope, replay, call.send)
        except asyncio.CancelledError:
            if not call.gone:
                raise
            work.uncancel()
            raise _GoneError from None
        finally:
            watch.cancel()


async def _nothing() -> None:
    return


def _unread(failure: ApiError) -> ApiError:
    """A failure by which the connection ends, with a part of the request unread."""
    failure.unread = True
    failure.headers["connection"] = "close"
    return failure


def _too_large(most: int) -> ApiError:
    told = f"a body may have {most} bytes"
    return _unread(ApiError("PAYLOAD_TOO_LARGE", told, limit=most, reason="body"))


async def _cancel_when_gone(work: asyncio.Task[Any], call: _Call, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    if not call.done:  # else it is told of the end of the answer
        call.gone = True
        work.cancel()


class _Call:
    """One request on its way: its ids, its answer, its line in the log."""

    def __init__(self, scope: Scope, headers: dict[bytes, bytes], send: Send, patience: float) -> None:
        self.scope = scope
        self.status = 0
        self.lies = 0  # bytes of its body that lie here
        self.gone = self.done = False
        self._send = send
        self._patience = patience
        self._started = time.monotonic()
        given = headers.get(b"x-request-id", b"")
        self.request_id = given.decode() if _ID.match(given) else uuid4().hex
        self.trace_id = _trace_id(headers)
        scope.setdefault("state", {})
        #: what the call has until its answer is taken
        self.held = AsyncExitStack()
        own = {"request_id": self.request_id, "trace_id": self.trace_id, "caller": None, "held": self.held}
        scope["state"] |= own

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; a client that does not take it is given up.

        Raises:
            TimeoutError: it has taken too little.
        """
        if message["type"] == "http.response.start":
            self.status = message["status"]
            ours = [(b"x-request-id", self.request_id.encode()), (b"x-trace-id", self.trace_id.encode())]
            await self._pass({**message, "headers": [*message.get("headers", ()), *ours]})
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        last = max(len(body) - 1, 0) // _PART * _PART
        for start in range(0, last, _PART):
            await self._pass({"type": message["type"], "body": body[start : start + _PART], "more_body": True})
        self.done = self.done or not more
        await self._pass({"type": message["type"], "body": body[last:], "more_body": more})

    async def _pass(self, message: Message) -> None:
        async with asyncio.timeout(self._patience):
            await self._send(message)  # waits until the client has taken most of what came before

    async def fail(self, failure: ApiError, *, rest: Callable[[], Awaitable[None]]) -> None:
        """Answer with a failure, unless an answer has begun.

        Args:
            failure: it.
            rest: takes what the client still sends, where that has been left unread.
        """
        if self.status:
            return
        body = orjson.dumps(failure.body())
        headers = [(name.encode(), value.encode()) for name, value in failure.headers.items()]
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await self.send({"type": "http.response.start", "status": failure.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": True})
        if failure.unread:
            await rest()
        await self.send({"type": "http.response.body", "body": b""})

    def tell(self) -> None:
        """The line in the log; a probe's is for those who look closely."""
        level = logging.DEBUG if self.scope["path"] == "/health" else logging.INFO
        if logger.isEnabledFor(level):
            elapsed = (time.monotonic() - self._started) * 1000
            told = (self.scope["method"], self.scope["path"], self.status, elapsed)
            extra = {"fw_caller": self.scope["state"]["caller"], "fw_request_id": self.request_id}
            logger.log(level, "%s %s: %d in %.1f ms", *told, extra=extra)


def _trace_id(headers: dict[bytes, bytes]) -> str:
    parent = _TRACEPARENT.match(headers.get(b"traceparent", b""))
    if parent:
        return parent[1].decode()
    given = headers.get(b"x-trace-id", b"")
    return given.decode() if _ID.match(given) else uuid4().hex
