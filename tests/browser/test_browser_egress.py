"""The egress policy holds for whatever a page does in the engine's browser; nothing goes out beside the proxy."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from scrapy import Request

from fetchworker.errors import EgressDeniedError, PageDeniedError

from .conftest import answer

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TABLE = yaml.safe_load((Path(__file__).parent.parent / "egress" / "refused.yaml").read_text())

PAGE = """<!doctype html><link rel=icon href="data:,"><body><script>
const urls = URLS, few = FEW, udp = UDP, ends = (thing, ...names) =>
  new Promise(done => names.forEach(name => thing.addEventListener(name, done)));
const element = (tag, url, name = 'src') => {
  const made = document.createElement(tag);
  const ended = Promise.race([ends(made, 'load', 'error'), new Promise(done => setTimeout(done, 3000))]);
  if (tag === 'link') made.rel = 'stylesheet';
  made[name] = url;
  document.body.append(made);
  return ended;
};
const never = () => 0;
const socket = url => { try { return ends(new WebSocket(url.replace(/^http/, 'ws')), 'close') } catch { return 0 } };
const gathered = async () => {
  const found = [], peer = new RTCPeerConnection({iceServers: [{urls: `stun:127.0.0.1:${udp}`}]});
  peer.createDataChannel('x');
  const all = new Promise(done => peer.onicecandidate = e => e.candidate ? found.push(e.candidate.candidate) : done());
  await peer.setLocalDescription(await peer.createOffer());
  await Promise.race([all, new Promise(done => setTimeout(done, 3000))]);
  return found;
};
onload = async () => {
  const candidates = gathered();
  const workers = navigator.serviceWorker ? await navigator.serviceWorker.register('/worker.js').catch(never) : 0;
  const all = urls.map(url => fetch(url + '?fetch', {mode: 'no-cors'}).catch(never));
  await Promise.all(few.flatMap(url => {
    try { navigator.sendBeacon(url + '?beacon', 'x') } catch {}
    const link = document.createElement('a');
    link.href = url + '?download'; link.download = 'x';
    return [
      element('img', url + '?img'), element('iframe', url + '?iframe'), element('script', url + '?script'),
      element('link', url + '?link', 'href'), element('object', url + '?object', 'data'),
      socket(url + '?socket'),
      fetch(url + '?post', {mode: 'no-cors', method: 'POST', body: 'x'}).catch(never),
      fetch('/redirect?' + encodeURIComponent(url), {mode: 'no-cors'}).catch(never),
    ];
  }));
  await Promise.all(all);
  new Worker('/worker.js');
  const speculation = document.createElement('script');
  speculation.type = 'speculationrules';
  speculation.textContent = JSON.stringify({prefetch: [{urls: urls.filter(url => url.startsWith('http:'))}]});
  document.body.append(speculation);
  await fetch('/done', {method: 'POST', body: JSON.stringify(await candidates)});
};
</script>"""


class Trap:
    """Counts what comes to it, by TCP and by UDP."""

    def __init__(self) -> None:
        self.hits: list[bytes] = []
        self.packets = self.port = 0

    async def __call__(self, reader: Any, writer: Any) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            self.hits.append(await reader.readline())
            writer.write(answer(b"caught"))
        writer.close()

    def connection_made(self, transport: Any) -> None: ...

    def connection_lost(self, error: Any) -> None: ...

    def error_received(self, error: Any) -> None: ...

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.packets += 1


@pytest.fixture
async def trap(stack) -> Trap:
    made = Trap()
    server = await asyncio.start_server(made, "0.0.0.0", 0)
    stack.callback(server.close)
    made.port = server.sockets[0].getsockname()[1]
    with suppress(OSError):
        stack.callback((await asyncio.start_server(made, "::1", made.port)).close)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: made, local_addr=("0.0.0.0", made.port)
    )
    stack.callback(transport.close)
    return made


async def redirect(writer, asked):
    from urllib.parse import unquote

    writer.write(answer(b"", f"Location: {unquote(asked.path.partition('?')[2])}", status="302 Found"))


def urls_of(trap: Trap) -> list[str]:
    return [url.format(port=trap.port) for urls in TABLE.values() for url in urls]


async def test_the_table_by_every_route_of_a_page(make_handler, site, trap):
    urls = [url for url in urls_of(trap) if url.isprintable()]
    few = [next(url for url in listed).format(port=trap.port) for listed in TABLE.values()]
    few += [
        f"http://{host}:{trap.port}/" for host in ("127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254")
    ]
    done = asyncio.Event()
    found: list[Any] = []

    async def take(writer, asked):
        found.append(json.loads(asked.body))
        done.set()
        writer.write(answer(b"", status="200 OK"))

    worker = "".join(f"fetch({json.dumps(url)} + '?worker', {{mode: 'no-cors'}}).catch(() => 0);" for url in urls)

    async def script(writer, asked):
        writer.write(answer(worker.encode(), kind="text/javascript"))

    site.pages |= {"/redirect": redirect, "/done": take, "/worker.js": script}
    site.pages["/"] = (
        PAGE.replace("FEW", json.dumps(few))
        .replace("URLS", json.dumps(urls))
        .replace("= UDP", f"= {trap.port}")
        .replace("udp = UDP", f"udp = {trap.port}")
        .encode()
    )
    handler = make_handler(DOWNLOAD_TIMEOUT=50)
    request = Request(site.url(), meta={"playwright": True, "playwright_include_page": True})
    response = await handler.download_request(request)
    assert response.status == 200
    async with asyncio.timeout(45):
        await done.wait()
    context = handler._shared.held.context_of(request.meta["playwright_page"])
    refused = {refusal.target.rpartition(":")[0] or refusal.target for refusal in context.run.refusals}
    assert (trap.hits, trap.packets, found) == ([], 0, [[]])
    assert refused >= {"127.0.0.1", "localhost", "10.0.0.1", "169.254.169.254"}
    await request.meta["playwright_page"].close()


async def test_the_table_as_pages_of_their_own(make_handler, trap):
    handler = make_handler()
    for url in urls_of(trap):
        try:
            request = Request(url, meta={"playwright": True, "verbatim_url": True})
        except ValueError:  # Scrapy takes it for no URL
            continue
        with pytest.raises(EgressDeniedError):
            await handler.download_request(request)
    assert handler._shared._engine is None, "nothing was started for it"
    assert trap.hits == []


async def test_redirects_forms_and_scripts_that_lead_inside(make_handler, site, trap):
    inside = f"http://127.0.0.1:{trap.port}/"
    site.pages |= {"/redirect": redirect, "/refresh": f"<meta http-equiv=refresh content='0;{inside}'>".encode()}
    handler = make_handler()
    with pytest.raises(PageDeniedError) as caught:
        await handler.download_request(Request(site.url(f"/redirect?{inside}"), meta={"playwright": True}))
    assert (caught.value.layer, caught.value.context["layer"], caught.value.context["reason"]) == (
        "target_policy", "url", "loopback",
    )  # fmt: skip
    from fetchworker.browser import PageMethod

    there = [PageMethod("wait_for_url", f"**://127.0.0.1:{trap.port}/**")]
    with suppress(Exception):  # what the page has become is ours to say: a refusal, in whichever form
        response = await handler.download_request(
            Request(site.url("/refresh"), meta={"playwright": True, "playwright_page_methods": there})
        )
        assert "caught" not in response.text
    assert trap.hits == []
