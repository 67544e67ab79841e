"""Routes that misbehave on purpose, for tests of a download path.

==================================  =====================================================================
``/``                               200, a short text
``/status/<code>``                  that status, with a short body
``/headers``                        JSON: the request's headers in order, alpn, HTTP/2 fingerprint, peer
``/echo``                           JSON: method, path, headers, body as base64
``/cookies``                        JSON: the cookies of the request, and how many Cookie headers carried them
``/cookies/set?<name>=<value>…``    sets them (Path=/), then 302 to ``/cookies``
``/cookies/raw?line=…[&next=…]``    Set-Cookie lines word for word (``line`` may repeat), 302 to ``next`` if given
``/cookies/chain``                  four hops that set, change, delete and host-bind cookies, ending at ``/cookies``
``/cookies/needed``                 503 that sets a cookie, 200 for a request that has it
``/redirect/<n>``                   n times 302, then ``/echo``
``/redirect-to?url=[&status=]``     one redirect to anywhere
``/slow?seconds=``                  headers come late
``/drip?bytes=&interval=``          headers at once, then a byte each ``interval`` seconds
``/bytes/<n>``                      n bytes, the same each time
``/endless``                        a body without end
``/gzip-bomb?mib=``                 so many MiB of zeros, gzip-encoded
``/truncated``                      declares 1000 bytes, sends 100 and hangs up
``/repeat-headers``                 three Set-Cookie (one with a comma), and a value that is not UTF-8
``/429?retry_after=``               429 with that Retry-After, word for word
``/close``                          the connection is dropped without an answer
``/h1-required``                    HTTP/2 streams are reset with HTTP_1_1_REQUIRED, HTTP/1.1 gets 200
``/empty``                          200 with a JSON content type and no body
``/challenge/<name>``               403 until a script has computed a cookie (:mod:`fetchworker.demo.challenge`)
``/app/<name>``                     a page that its script fills in
==================================  =====================================================================
"""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fetchworker.demo import challenge
from fetchworker.demo.model import HangUp, Headers, Reply, RequestInfo, ResetStream

_TEXT = ("content-type", "text/plain; charset=utf-8")
_MIB = 1 << 20
_HTTP_1_1_REQUIRED = 0xD
_PATTERN = bytes(range(256)) * 256

Handler = Callable[[RequestInfo, str], Reply | Awaitable[Reply]]


def lab_app(request: RequestInfo) -> Reply | Awaitable[Reply]:
    """Answer the routes that the module lists; others get 404."""
    name, _, rest = request.route.lstrip("/").partition("/")
    handler = _ROUTES.get(name)
    return handler(request, rest) if handler is not None else text(f"no route {request.route}\n", 404)


def text(body: str, status: int = 200, headers: Headers = ()) -> Reply:
    """A plain text answer."""
    return Reply(status, (_TEXT, *headers), body.encode())


def as_json(value: Any, status: int = 200, headers: Headers = ()) -> Reply:
    """A JSON answer."""
    return Reply(status, (("content-type", "application/json"), *headers), json.dumps(value).encode())


def redirect(location: str, status: int = 302, headers: Headers = ()) -> Reply:
    """A redirect with an empty body."""
    return Reply(status, (("location", location), *headers))


def _root(_request: RequestInfo, _rest: str) -> Reply:
    return text("demo\n")


def _status(_request: RequestInfo, rest: str) -> Reply:
    return text(f"status {rest}\n", int(rest))


def _headers(request: RequestInfo, _rest: str) -> Reply:
    return as_json({
        "headers": request.headers, "alpn": request.connection.alpn, "h2": request.h2_fingerprint(),
        "priority": request.priority, "peer": request.peer, "authority": request.authority,
    })  # fmt: skip


def _echo(request: RequestInfo, _rest: str) -> Reply:
    return as_json({
        "method": request.method, "path": request.path, "headers": request.headers,
        "body_base64": base64.b64encode(request.body).decode(),
    })  # fmt: skip


def _cookies(request: RequestInfo, rest: str) -> Reply:
    route = rest.partition("/")[0]
    if route == "set":
        return redirect("/cookies", headers=[("set-cookie", f"{k}={v}; Path=/") for k, v in request.query().items()])
    if route == "raw":
        return _raw_cookies(request)
    if route == "chain":
        return _cookie_chain(rest)
    if route == "needed":
        return _needed_cookie(request)
    lines = [value for name, value in request.headers if name.lower() == "cookie"]
    return as_json({"cookies": request.cookies(), "lines": lines})


def _raw_cookies(request: RequestInfo) -> Reply:
    query = parse_qsl(urlsplit(request.path).query, encoding="latin-1")
    lines = [("set-cookie", value) for name, value in query if name == "line"]
    following = request.query().get("next")
    return redirect(following, headers=lines) if following else text("set\n", headers=lines)


_CHAIN: dict[str, tuple[str, list[str]]] = {
    "chain": ("/cookies/chain/2", ["first=1; Path=/", "second=1; Path=/", "gone=1; Path=/"]),
    "chain/2": ("/cookies/chain/3", ["first=2; Path=/", "deep=1; Path=/cookies/chain"]),
    "chain/3": ("/cookies/chain/4", ["gone=; Path=/; Max-Age=0"]),
    "chain/4": ("/cookies", ["second=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "last=1; Path=/; Secure"]),
}


def _cookie_chain(rest: str) -> Reply:
    following, lines = _CHAIN.get(rest, ("/cookies", []))
    return redirect(following, headers=[("set-cookie", line) for line in lines])


def _needed_cookie(request: RequestInfo) -> Reply:
    if request.cookies().get("needed") == "1":
        return text("here you are\n")
    return text("try again\n", 503, [("set-cookie", "needed=1; Path=/")])


def _redirect(_request: RequestInfo, rest: str) -> Reply:
    left = int(rest or "1")
    return redirect(f"/redirect/{left - 1}" if left > 1 else "/echo")


def _redirect_to(request: RequestInfo, _rest: str) -> Reply:
    query = request.query()
    return redirect(query["url"], int(query.get("status", "302")))


async def _slow(request: RequestInfo, _rest: str) -> Reply:
    await asyncio.sleep(float(request.query().get("seconds", "1")))
    return text("late\n")


def _drip(request: RequestInfo, _rest: str) -> Reply:
    query = request.query()
    size, interval = int(query.get("bytes", "10")), float(query.get("interval", "0.1"))

    async def body() -> AsyncIterator[bytes]:
        for _ in range(size):
            yield b"."
            await asyncio.sleep(interval)

    return Reply(200, (_TEXT,), body())


def _bytes(_request: RequestInfo, rest: str) -> Reply:
    size = int(rest)
    body = (_PATTERN * (size // len(_PATTERN) + 1))[:size]
    return Reply(200, (("content-type", "application/octet-stream"),), body)


def _endless(_request: RequestInfo, _rest: str) -> Reply:
    async def body() -> AsyncIterator[bytes]:
        while True:
            yield _PATTERN
            await asyncio.sleep(0)

    return Reply(200, (("content-type", "application/octet-stream"),), body())


def _gzip_bomb(request: RequestInfo, _rest: str) -> Reply:
    headers = (_TEXT, ("content-encoding", "gzip"))
    return Reply(200, headers, _zeros(int(request.query().get("mib", "64"))))


async def _zeros(mib: int) -> AsyncIterator[bytes]:
    """``mib`` MiB of zeros as gzip: one MiB packed once, the same block sent over and over."""
    zeros = bytes(_MIB)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
    yield b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    crc = 0
    for _ in range(mib):
        crc = zlib.crc32(zeros, crc)
        yield block
        await asyncio.sleep(0)
    yield packer.flush() + crc.to_bytes(4, "little") + (mib * _MIB % (1 << 32)).to_bytes(4, "little")


def _truncated(_request: RequestInfo, _rest: str) -> Reply:
    async def body() -> AsyncIterator[bytes]:
        yield b"x" * 100
        raise HangUp

    return Reply(200, (_TEXT, ("content-length", "1000")), body())


def _repeat_headers(_request: RequestInfo, _rest: str) -> Reply:
    return text(
        "repeated\n",
        headers=[
            ("set-cookie", "one=1; Path=/; Expires=Wed, 21 Oct 2037 07:28:00 GMT"),
            ("set-cookie", "two=2; Path=/; HttpOnly"),
            ("set-cookie", "three=3; Path=/; Secure; SameSite=None"),
            ("x-repeated", "a"),
            ("x-repeated", "b"),
            ("x-latin", b"caf\xe9"),
        ],
    )


def _too_many(request: RequestInfo, _rest: str) -> Reply:
    after = request.query().get("retry_after")
    return text("slow down\n", 429, [("retry-after", after)] if after is not None else [])


def _close(_request: RequestInfo, _rest: str) -> Reply:
    raise HangUp


def _h1_required(request: RequestInfo, _rest: str) -> Reply:
    if request.connection.alpn == "h2":
        raise ResetStream(_HTTP_1_1_REQUIRED)
    return text("http/1.1\n")


def _empty(_request: RequestInfo, _rest: str) -> Reply:
    return Reply(200, (("content-type", "application/json"),))


_ROUTES: dict[str, Handler] = {
    "": _root, "status": _status, "headers": _headers, "echo": _echo, "cookies": _cookies, "redirect": _redirect,
    "redirect-to": _redirect_to, "slow": _slow, "drip": _drip, "bytes": _bytes, "endless": _endless,
    "gzip-bomb": _gzip_bomb, "truncated": _truncated, "repeat-headers": _repeat_headers, "429": _too_many,
    "close": _close, "h1-required": _h1_required, "empty": _empty, "challenge": challenge.challenge,
    "app": challenge.app,
}  # fmt: skip
