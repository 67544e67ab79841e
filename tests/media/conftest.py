"""A site with link pages, and the hosts of their pictures, over TLS; proxies in front of both."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
import zlib
from contextlib import AsyncExitStack
from typing import Any

import pytest

from fetchworker.demo.lab import lab_app, text
from fetchworker.demo.model import Reply
from fetchworker.demo.proxy import ProxyServer
from fetchworker.demo.server import UpstreamServer

SITE, CDN = "https://linktr.ee", "https://cdn.example"
HOSTS = ("linktr.ee", "cdn.example", "other.example", "quiet.example")


def png(number: int, size: int = 0) -> bytes:
    """A picture of one pixel that no other number has, of so many bytes at least."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixel = chunk(b"IDAT", zlib.compress(bytes([0, number % 256])))
    note = chunk(b"tEXt", b"n\0" + str(number).encode() + b"." * size)
    return b"\x89PNG\r\n\x1a\n" + head + note + pixel + chunk(b"IEND", b"")


class Hosts:
    """The pages and pictures by their address, and what was asked for."""

    def __init__(self) -> None:
        self.answers: dict[str, Reply | Any] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()
        self._thread.start()
        self._run(self._start())

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self) -> None:
        self.server = await self._stack.enter_async_context(UpstreamServer(self._answer, hosts=HOSTS))
        self.exits = [
            await self._stack.enter_async_context(
                ProxyServer(self.server.host_map(), log=self.server.log, source=f"127.0.0.{21 + n}", name=f"proxy{n}")
            )
            for n in range(2)
        ]

    def _answer(self, request: Any) -> Any:
        answer = self.answers.get(f"https://{request.host}{request.path}")
        if answer is None and request.route.startswith("/lab/"):
            request.path = request.path.removeprefix("/lab")
            return lab_app(request)
        if answer is None:
            return text("nothing here\n", 404)
        return answer(request) if callable(answer) else answer

    def close(self) -> None:
        self._run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def picture(self, url: str, content: bytes, kind: str = "image/png", status: int = 200) -> str:
        self.answers[url] = Reply(status, (("content-type", kind),), content)
        return url

    def page(self, name: str, *pictures: str, avatar: str | None = None) -> str:
        """A link page whose links have these pictures."""
        links = [{"id": n, "title": f"L{n}", "url": "https://x.example/", "modifiers": {"thumbnailUrl": url}}
                 for n, url in enumerate(pictures, 1)]  # fmt: skip
        account = {"id": 1, "username": name, "links": links, "customAvatar": avatar}
        data = json.dumps({"props": {"pageProps": {"account": account}}})
        body = f'<html><script id="__NEXT_DATA__" type="application/json">{data}</script></html>'
        headers = (("content-type", "text/html"), ("set-cookie", "visitor=7; Path=/; Domain=linktr.ee"))
        self.answers[f"{SITE}/{name}"] = Reply(200, headers, body.encode())
        return f"{SITE}/{name}"

    def asked(self, host: str = "cdn.example") -> list[Any]:
        return [r for r in self.server.log.requests if r.host == host and r.route != "/robots.txt"]

    # what ``Project.use`` asks of a demo

    @property
    def ca(self) -> str:
        return self.server.ca_pem_path

    @property
    def ready(self) -> dict[str, Any]:
        return {"host_map": self.server.host_map()}

    @property
    def proxies(self) -> list[str]:
        return [proxy.url for proxy in self.exits]


@pytest.fixture(scope="module")
def _hosts():
    made = Hosts()
    yield made
    made.close()


@pytest.fixture
def hosts(_hosts: Hosts) -> Hosts:
    _hosts.answers.clear()
    _hosts.server.log.clear()
    return _hosts


class Media:
    """Crawls of link pages with media, in the test's own project."""

    def __init__(self, project: Any, hosts: Hosts) -> None:
        self.project = project
        self.hosts = hosts
        self.folder = project.folder / "media"
        self.log = ""

    def entry(self, **values: Any) -> None:
        path = self.project.folder / "sites.yaml"
        sites = json.loads(path.read_text())["sites"]
        sites["linktree"] |= {"allowed_hosts": ["linktr.ee"], "retries": 2, **values}
        path.write_text(json.dumps({"sites": sites}))

    def crawl(self, *options: str, name: str = "one", code: int = 0, **variables: Any) -> list[dict[str, Any]]:
        self.project.env |= {"FETCHWORKER_MEDIA": "true", "FETCHWORKER_MEDIA_STORE": str(self.folder)}
        self.project.env |= {f"FETCHWORKER_{key}": str(value) for key, value in variables.items()}
        done = self.project.scrapy("crawl", "linktree", "-a", f"user={name}",
                                   "-O", str(self.project.folder / "f.jsonl"), *options)  # fmt: skip
        self.log = done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        assert "Deprecat" not in done.stderr, done.stderr
        assert done.returncode == code, done.stderr
        return self.project.lines("f.jsonl")

    def files(self, *options: str, **variables: Any) -> list[dict[str, Any]]:
        """What the one item of a crawl tells of its media."""
        (item,) = self.crawl(*options, **variables)
        return item["extra"]["media_files"]

    def kept(self) -> dict[str, bytes]:
        found = (path for path in self.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def media(project: Any, hosts: Hosts) -> Media:
    project.use(hosts, proxies=False)
    made = Media(project, hosts)
    made.entry()
    return made


@pytest.fixture
def png_of():
    """Makes pictures."""
    return png
