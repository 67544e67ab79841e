"""A real Chromium behind the filtering proxy: whatever a page goes to, nothing inside is reached, no UDP leaves."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import signal
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest

from fetchworker.egress.chromium import chromium_arguments, chromium_environment

pytestmark = [pytest.mark.chromium, pytest.mark.slow]

FORMS = [
    "127.0.0.1", "localhost", "x.localhost", "[::1]", "0.0.0.0", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::]",
    "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "172.17.0.1", "100.64.0.1", "inside.example",
]  # fmt: skip
PAGE = """<!doctype html><link rel=icon href="data:,"><body><script>
const forms = FORMS, trap = TRAP, udp = UDP;
const ends = (thing, ...names) => new Promise(done => names.forEach(name => thing.addEventListener(name, done)));
const element = (tag, url) => {
  const made = document.createElement(tag);
  const ended = ends(made, 'load', 'error');
  made.src = url;
  document.body.append(made);
  return ended;
};
const socket = url => { try { return ends(new WebSocket(url), 'close') } catch { return 0 } };
const gathered = async () => {
  const found = [];
  const servers = ['127.0.0.1', '[::1]', 'localhost', '10.0.0.1'].map(host => ({urls: `stun:${host}:${udp}`}));
  const peer = new RTCPeerConnection({iceServers: servers});
  peer.createDataChannel('x');
  const all = new Promise(done => peer.onicecandidate = event =>
    event.candidate ? found.push(event.candidate.candidate) : done());
  await peer.setLocalDescription(await peer.createOffer());
  await Promise.race([all, new Promise(done => setTimeout(done, 5000))]);
  return found;
};
addEventListener('load', async () => {
  const talk = new WebSocket(`ws://${location.host}/socket`);
  const said = new Promise(done => { talk.onmessage = event => done(event.data); talk.onclose = () => done('') });
  const candidates = gathered();
  await Promise.all(forms.flatMap(host => {
    const url = `http://${host}:${trap}`;
    navigator.sendBeacon(url + '/beacon', 'x');
    return [
      element('img', url + '/img'), element('iframe', url + '/iframe'), element('script', url + '/script'),
      fetch(url + '/fetch', {mode: 'no-cors'}).catch(() => 0),
      fetch(url + '/post', {mode: 'no-cors', method: 'POST', body: 'x'}).catch(() => 0),
      fetch(`https://${host}:${trap}/tls`, {mode: 'no-cors'}).catch(() => 0),
      fetch(`/redirect?${url}/redirected`, {mode: 'no-cors'}).catch(() => 0),
      socket(`ws://${host}:${trap}/socket`),
    ];
  }));
  await fetch('/done', {method: 'POST', body: JSON.stringify({said: await said, candidates: await candidates})});
});
</script>"""


class Site:
    """Serves the page, redirects, one WebSocket, and takes what the page found out."""

    def __init__(self) -> None:
        self.port = 0
        self.html = b""
        self.found: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            await self.answer(head, reader, writer)
            await writer.drain()
        writer.close()

    async def answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1]
        if path == b"/socket":
            key = head.partition(b"Sec-WebSocket-Key: ")[2].partition(b"\r\n")[0]
            accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            writer.write(upgrade + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n\x81\x05hello")
            await reader.read()
        elif path.startswith(b"/redirect?"):
            writer.write(
                b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + path.partition(b"?")[2] + b"\r\n\r\n"
            )
        elif path == b"/done":
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            self.found.set_result(json.loads(await reader.readexactly(length)))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        else:
            kind = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(self.html)
            writer.write(kind + self.html)


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.packets = 0
        self.first = asyncio.Event()

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.packets += 1
        self.first.set()


@pytest.fixture
async def datagrams(stack):
    made = await asyncio.get_running_loop().create_datagram_endpoint(Datagrams, local_addr=("0.0.0.0", 0))
    stack.callback(made[0].close)
    made[1].port = made[0].get_extra_info("sockname")[1]
    return made[1]


@asynccontextmanager
async def browser(program: str, folder: Any, arguments: list[str]):
    """A Chromium that says where it is driven from."""
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    own = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-port=0"]
    process = await asyncio.create_subprocess_exec(
        program, *own, *root, f"--user-data-dir={folder}", *arguments, "about:blank",
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, start_new_session=True,
        env=chromium_environment(os.environ),
    )  # fmt: skip
    draining = None
    try:
        while b"DevTools listening on " not in (line := await process.stderr.readline()):
            assert line, "Chromium ended"
        draining = asyncio.create_task(process.stderr.read())
        yield line.partition(b" on ")[2].strip().decode()
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        if draining:
            await draining


async def visit(devtools: str, url: str, run: Any, bypass: str) -> None:
    """Open a page in a context of its own and answer what the proxy asks for, until cancelled."""
    credentials = {
        "response": "ProvideCredentials", "username": run.username, "password": run.password.get_secret_value()
    }  # fmt: skip
    async with aiohttp.ClientSession() as client, client.ws_connect(devtools) as socket:
        number = 0

        async def call(method: str, session: str | None = None, **parameters: Any) -> int:
            nonlocal number
            number += 1
            to = {"sessionId": session} if session else {}
            await socket.send_json({"id": number, "method": method, "params": parameters, **to})
            return number

        async def result(wanted: int) -> dict[str, Any]:
            while (said := await socket.receive_json()).get("id") != wanted:
                pass
            return said["result"]

        way = {"proxyServer": run.url, "proxyBypassList": bypass}  # as Playwright makes its contexts
        context = await result(await call("Target.createBrowserContext", disposeOnDetach=True, **way))
        page = await result(await call("Target.createTarget", url="about:blank", **context))
        attached = await result(await call("Target.attachToTarget", targetId=page["targetId"], flatten=True))
        session = attached["sessionId"]
        await call("Fetch.enable", session, handleAuthRequests=True)
        await call("Page.navigate", session, url=url)
        while True:
            said = await socket.receive_json()
            about = said.get("params", {})
            if said.get("method") == "Fetch.requestPaused":
                await call("Fetch.continueRequest", session, requestId=about["requestId"])
            elif said.get("method") == "Fetch.authRequired":
                assert about["authChallenge"]["source"] == "Proxy"
                await call(
                    "Fetch.continueWithAuth", session, requestId=about["requestId"], authChallengeResponse=credentials
                )


@pytest.fixture
async def site(serve, trap, datagrams) -> Site:
    made = await serve("127.0.0.1", 0, Site())
    values = {"FORMS": json.dumps(FORMS), "TRAP": str(trap.port), "UDP": str(datagrams.port)}
    html = PAGE
    for name, value in values.items():
        html = html.replace(f"= {name}", f"= {value}")
    made.html = html.encode()
    return made


@pytest.fixture
def browse(chromium, tmp_path, site):
    """A browser with some options, which visits the page with a run's credentials until the end of the block."""

    @asynccontextmanager
    async def visiting(arguments: list[str], run: Any, *, bypass: str = "<-loopback>"):
        async with browser(chromium, tmp_path, arguments) as devtools:
            visits = asyncio.create_task(visit(devtools, f"http://page.example:{site.port}/", run, bypass))
            try:
                yield visits
            finally:
                visits.cancel()
                await asyncio.gather(visits, return_exceptions=True)

    return visiting


@pytest.fixture
async def proxy(filtering):
    return await filtering("page.example")


async def test_nothing_inside_is_reached(proxy, browse, site, trap, datagrams):
    run = proxy.open_run()
    async with browse(chromium_arguments(proxy.url), run) as visits:
        await asyncio.wait((visits, site.found), return_when=asyncio.FIRST_COMPLETED, timeout=45)
        assert site.found.done(), visits.result() if visits.done() else list(run.refusals)
        found = site.found.result()
    await run.close()
    assert (trap.hits, datagrams.packets) == (0, 0)
    assert found == {"said": "hello", "candidates": []}, "a WebSocket goes through, WebRTC finds no way"
    refused = {refusal.target.rpartition(":")[0] for refusal in run.refusals}
    assert refused >= {
        "127.0.0.1", "localhost", "x.localhost", "[::1]", "0.0.0.0", "[::]", "[::ffff:7f00:1]", "169.254.169.254",
        "10.0.0.1", "192.168.1.1", "172.17.0.1", "100.64.0.1", "inside.example",
    }, "all came to the proxy, odd spellings as what they mean"  # fmt: skip
    makers = {host for host in refused if "google" in host}
    assert makers <= {"www.google.com"}, "what the browser does beside its contexts has no credentials"
    assert run.received > len(site.html)


async def test_without_the_options_it_is(proxy, browse, trap, datagrams):
    """The page and the traps are good for something: a browser that is only told of the proxy goes past it."""
    async with browse([f"--proxy-server={proxy.url}"], proxy.open_run(), bypass=""), asyncio.timeout(45):
        await trap.first.wait()
        await datagrams.first.wait()
    assert trap.hits > 0
    assert datagrams.packets > 0
