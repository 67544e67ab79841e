"""The chaos run's upstream in a process of its own: ``_chaos_upstream.py PAGES FAULTS SEED LEASE``.

Says its port, then ``<path> <worker>`` for each page that it answers well, ``! <fault>`` for each try that it spoils.
Plain HTTP/1.1: a connection that is dropped takes no other request with it.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING

from _chaos_tree import Tree

from fetchworker.demo.log import Log
from fetchworker.demo.model import HangUp, Reply
from fetchworker.demo.server import UpstreamServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.demo.model import RequestInfo

TREE = Tree(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
LEASE = float(sys.argv[4])
HTML = ("content-type", "text/html; charset=utf-8")
FILLING = "<p>" + "A quiet river bends between low hills. " * 20 + "</p>"
attempts: Counter[str] = Counter()


def say(*words: object) -> None:
    print(*words, flush=True)


def body(path: str) -> bytes:
    _, kind, number = path.split("/")
    links = TREE.links(int(number)) if kind == "page" else []
    listed = "".join(f'<a href="/page/{link}">{link}</a>' for link in links)
    if kind == "page" and TREE.has_leaf(int(number)):
        listed += f'<a rel="leaf" href="/leaf/{number}">{number}</a>'
    return f"<!DOCTYPE html><html><title>{path}</title><body>{listed}{FILLING}</body></html>".encode()


async def torn(whole: bytes) -> AsyncIterator[bytes]:
    yield whole[: len(whole) // 2]
    raise HangUp


async def app(request: RequestInfo) -> Reply:
    path, attempt = request.route, attempts[request.route]
    attempts[path] += 1
    fault = TREE.fault(path, attempt)
    if fault:
        say("!", fault)
    match fault:
        case "unavailable":
            return Reply(503, (HTML,), b"<html>busy</html>")
        case "reset":
            raise HangUp
        case "truncated":
            whole = body(path)
            return Reply(200, (HTML, ("content-length", str(len(whole)))), torn(whole))
    say(path, request.header("x-worker"))
    if fault == "slow":
        await asyncio.sleep(TREE.delay(path, attempt, LEASE))
    return Reply(200, (HTML,), body(path))


async def main() -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with UpstreamServer(app, log=Log(keep=False), watch_tickets=False) as server:
        say(json.dumps({"port": server.http_port}))
        await stop.wait()


asyncio.run(main())
