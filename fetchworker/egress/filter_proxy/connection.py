"""A client's connection: requests one after the other, each with credentials, each judged."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

import h11

from fetchworker.egress.filter_proxy.exchange import exchange, tunnel
from fetchworker.egress.filter_proxy.head import onward_request, read_credentials, read_target
from fetchworker.egress.filter_proxy.outside import Ways, authorization_for, way_out
from fetchworker.egress.filter_proxy.reasons import INTRODUCTION, ClientGoneError, FilterError
from fetchworker.egress.filter_proxy.run import Refusal
from fetchworker.egress.filter_proxy.wire import CHUNK

if TYPE_CHECKING:
    from collections.abc import Callable

    from fetchworker.egress.filter_proxy.run import Run
    from fetchworker.egress.filter_proxy.server import Limits
    from fetchworker.egress.filter_proxy.wire import Wire

_INTRODUCTION = INTRODUCTION.encode()
_TOLD = 400  # bytes of a target that a refusal remembers
_LINGER = 1.0  # seconds in which a client may take the last answer


class Connection:
    """Serves one client; ``find`` gives the run of a user name and a password, or None."""

    def __init__(self, client: Wire, *, find: Callable[[str, str], Run | None], ways: Ways, limits: Limits) -> None:
        self._client, self._find, self._ways, self._limits = client, find, ways, limits

    async def serve(self) -> None:
        """Answer until either side has enough; the connection is gone then."""
        client = self._client
        try:
            while await self._one():
                client.http.start_next_cycle()
            await self._linger()
        except (ClientGoneError, OSError, h11.ProtocolError):
            pass  # nobody is there to be answered, or the answer had begun: the cut says it
        finally:
            client.writer.transport.abort()

    async def _one(self) -> bool:
        """One request; whether another may follow."""
        request: h11.Request | None = None
        try:
            request = await self._request()
            return request is not None and await self._answer(request)
        except FilterError as exc:
            return await self._say(exc, head_only=request is not None and request.method == b"HEAD")

    async def _request(self) -> h11.Request | None:
        try:
            async with asyncio.timeout(self._limits.head_seconds):
                event = await self._client.next_event()
        except TimeoutError:
            raise FilterError("head_timeout") from None
        except h11.RemoteProtocolError as exc:
            raise FilterError("bad_request", status=exc.error_status_hint) from None
        return event if isinstance(event, h11.Request) else None

    async def _answer(self, request: h11.Request) -> bool:
        run = self._find(*read_credentials(request.headers))
        task = asyncio.current_task()
        assert task is not None
        if run is None:
            raise FilterError("credentials")
        if request.target == _INTRODUCTION:
            raise FilterError("introduced")
        try:
            with run.connection(task):
                return await self._pass(run, request)
        except FilterError as exc:
            run.refusals.append(Refusal(_told(request), exc.reason, exc.layer))
            raise

    async def _pass(self, run: Run, request: h11.Request) -> bool:
        target, decision = read_target(request.method, request.target, run.policy)
        if target.path is None and not isinstance(self._client.http.next_event(), h11.EndOfMessage):
            raise FilterError("bad_request")  # a CONNECT with a body
        async with way_out(self._ways, run, target, decision) as outside:
            if target.path is None:
                established = h11.Response(status_code=200, headers=[], reason=b"Connection established")
                await self._client.send(established)
                await tunnel(self._client, outside, seconds=self._limits.idle_seconds)
                return False
            by_proxy = run.upstream is not None and run.upstream.scheme != "socks5h"
            authorization = authorization_for(run.upstream) if by_proxy else None
            onward = onward_request(request, target, by_proxy=by_proxy, authorization=authorization)
            seconds = self._limits.answer_seconds
            try:
                await exchange(onward, self._client, outside, by_proxy=by_proxy, seconds=seconds)
            except h11.RemoteProtocolError:
                raise FilterError("bad_request") from None  # the client's body
        return self._is_done()

    def _is_done(self) -> bool:
        return self._client.http.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}

    async def _say(self, error: FilterError, *, head_only: bool) -> bool:
        client = self._client
        if client.answered:
            raise ClientGoneError
        body = f"{error.reason}: {error.text}\n".encode()
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("X-Fetchworker-Reason", error.reason),
        ]
        if error.status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            headers.append(("Proxy-Authenticate", 'Basic realm="fetchworker"'))
        if not self._has_whole_request():
            headers.append(("Connection", "close"))
        await client.send(h11.Response(status_code=error.status, headers=headers, reason=error.status.phrase.encode()))
        if not head_only:
            await client.send(h11.Data(data=body))
        await client.send(h11.EndOfMessage())
        return self._is_done()

    def _has_whole_request(self) -> bool:
        http = self._client.http
        if http.their_state is not h11.SEND_BODY:
            return http.their_state is h11.DONE
        with suppress(h11.RemoteProtocolError):
            return isinstance(http.next_event(), h11.EndOfMessage)  # there is no body
        return False

    async def _linger(self) -> None:
        """Let the client take what was said: a connection with unread bytes would be reset under it."""
        writer, reader = self._client.writer, self._client.reader
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER):
                if writer.can_write_eof() and not writer.is_closing():  # uvloop raises for what has closed meanwhile
                    writer.write_eof()
                while await reader.read(CHUNK):
                    pass


def _told(request: h11.Request) -> str:
    """Where a request wanted to go, without user, path and query: they may hold secrets."""
    text = request.target[:_TOLD].decode("latin-1")
    return re.split(r"[/?#]", text.partition("://")[2] or text)[0].rpartition("@")[2]
