"""The bytes of transfers against what a relay on loopback saw of the same connections: exact, whatever happens."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.demo.lab import lab_app
from fetchworker.demo.proxy import Mode, ProxyServer
from fetchworker.demo.server import UpstreamServer
from fetchworker.download.client import ClientOptions, CurlClient, TransferError, TransferRequest
from fetchworker.download.meter import Meter, kernel_counts, read_counters
from fetchworker.download.profiles import get_profile
from fetchworker.egress import EgressPolicy
from fetchworker.egress.guard import proxy_route
from fetchworker.proxies import parse_proxies

URL = b"https://lab.example"
#: bytes of a server's and of a TLS proxy's close_notify, which answer ours when the socket is gone
GOODBYES = 60

pytestmark = pytest.mark.skipif(not kernel_counts(), reason="the kernel counts no bytes here")


class Bytes:
    def __init__(self) -> None:
        self.up = self.down = 0

    def add(self, up: int, down: int) -> None:
        assert up >= 0
        assert down >= 0
        self.up += up
        self.down += down


@pytest.fixture
async def lab():
    async with UpstreamServer(lab_app, hosts=("lab.example", "other.example")) as server:
        yield server


@pytest.fixture
def make_client(lab):
    def make(**options) -> CurlClient:
        return CurlClient(ClientOptions(egress=EgressPolicy(), ca_file=lab.ca_pem_path), **options)

    return make


def asked(path: str, proxy, *, target: str | None = None, method: str = "GET", body: bytes = b"", timeout=10, **other):
    route = proxy_route(proxy.host, proxy.port, trusted=True)
    url = path.encode() if "://" in path else URL + path.encode()
    return TransferRequest(
        method=method, url=url, headers=[], body=body, timeout=timeout, proxy=proxy, route=route, target=target, **other
    )


async def run(client: CurlClient, request: TransferRequest) -> tuple[Bytes, int | None]:
    tally = Bytes()
    try:
        await client.perform(request, len, len, tally)
    except TransferError as exc:
        return tally, exc.code
    return tally, None


@pytest.fixture(params=["http", "https", "socks5"])
async def counted(request, lab, counting):
    """A proxy of each kind, and the relay before it."""
    async with ProxyServer(lab.host_map(), scheme=request.param, authority=lab.authority) as server:
        relay = await counting(server.port)
        address = server.url.replace(f":{server.port}", f":{relay.here}")
        proxy = parse_proxies(address, source="test")[0]
        yield proxy, relay, server


def same(tallies: list[Bytes], relay) -> None:
    assert sum(t.up for t in tallies) == relay.up
    after = relay.down - sum(t.down for t in tallies)
    assert 0 <= after <= GOODBYES * relay.connections, "but what came when our side was closed"
    assert after <= relay.down * 0.01
    assert relay.up > 0
    assert relay.down > 0


@pytest.mark.parametrize("stateless", [True, False])
async def test_every_byte_through_a_proxy_handshakes_included(counted, make_client, stateless):
    proxy, relay, _ = counted
    client = make_client(stateless=stateless)
    done = [await run(client, asked(path, proxy)) for path in ("/bytes/50000", "/", "/status/404")]
    done.append(await run(client, asked("/echo", proxy, method="POST", body=b"x" * 30_000)))
    await client.close()
    await relay.quiet()
    assert [code for _, code in done] == [None] * 4
    same([tally for tally, _ in done], relay)
    assert relay.connections == (4 if stateless else 1)
    first, second = done[0][0], done[1][0]
    assert first.down > 50_000
    if not stateless:
        assert second.down < 2000, "no handshake on a connection that stands"
    assert done[3][0].up > 30_000


async def test_streams_of_one_connection_share_it_and_sum_up_exactly(counted, make_client):
    proxy, relay, _ = counted
    client = make_client()
    sizes = [1000, 200_000, 40_000, 90_000, 3]
    requests = [asked(f"/bytes/{size}", proxy, target=get_profile("chrome").curl_target) for size in sizes]
    done = await asyncio.gather(*(run(client, request) for request in requests))
    await client.close()
    await relay.quiet()
    assert [code for _, code in done] == [None] * 5
    assert relay.connections == 1
    same([tally for tally, _ in done], relay)
    for size, (tally, _) in zip(sizes, done, strict=True):
        assert tally.down >= size, "at least its own body"
    assert done[1][0].down < 230_000


async def test_failed_tries_are_counted(counted, make_client):
    proxy, relay, server = counted
    client = make_client(stateless=True)
    done = [await run(client, asked(path, proxy)) for path in ("/truncated", "/close")]
    done.append(await run(client, asked("/slow?seconds=30", proxy, timeout=0.5)))
    done.append(await run(client, asked("https://nowhere.example/", proxy)))
    await server.set_mode(Mode.REFUSE_CREDENTIALS)
    done.append(await run(client, asked("/", proxy)))
    await client.close()
    await relay.quiet()
    assert all(code is not None for _, code in done)
    assert all(tally.up for tally, _ in done)
    assert abs(sum(t.up for t, _ in done) - relay.up) <= len(done)
    assert abs(sum(t.down for t, _ in done) - relay.down) <= len(done)


async def test_a_cancelled_transfer_is_counted(counted, make_client):
    proxy, relay, _ = counted
    client = make_client()
    tally = Bytes()
    begun = asyncio.Event()
    request = asked("/drip?bytes=100&interval=5", proxy)
    task = asyncio.create_task(client.perform(request, lambda line: begun.set() or len(line), len, tally))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.close()
    await relay.quiet()
    assert tally.up > 0
    assert abs(tally.up - relay.up) <= 1
    assert abs(tally.down - relay.down) <= relay.down * 0.01


async def test_without_the_kernel_curls_own_sizes_are_taken(counted, make_client):
    proxy, relay, _ = counted
    client = make_client(stateless=True)
    client._meter = Meter(exact=False)
    tally, _ = await run(client, asked("/bytes/50000", proxy))
    await client.close()
    await relay.quiet()
    assert 50_000 < tally.down < relay.down, "head and body, and no TLS"
    assert 0 < tally.up < relay.up


async def test_a_mixture_of_everything_sums_up(lab, counting, make_client):
    async with ProxyServer(lab.host_map()) as server:
        relay = await counting(server.port)
        proxy = parse_proxies(server.url.replace(f":{server.port}", f":{relay.here}"), source="test")[0]
        clients = [make_client(stateless=True), make_client(), make_client()]
        target = get_profile("chrome").curl_target
        paths = ["/bytes/30000", "/truncated", "/close", "/redirect/1", "/gzip-bomb?mib=1", "/status/503", "/echo"]
        random, tallies = Random(7), []

        async def one(number: int) -> None:
            client, path = random.choice(clients), random.choice(paths)
            chosen = target if client is not clients[0] and number % 2 else None
            tally = Bytes()
            tallies.append(tally)
            with suppress(TransferError):
                await client.perform(asked(path, proxy, target=chosen), len, len, tally)

        for begin in range(0, 64, 8):
            await asyncio.gather(*(one(number) for number in range(begin, begin + 8)))
        for client in clients:
            await client.close()
        await relay.quiet()
        same(tallies, relay)


@given(
    st.sampled_from([1, 4, 7, 8]), st.integers(0, 1 << 50), st.integers(0, 1 << 30), st.integers(1, 1 << 50),
    st.integers(0, 1 << 20),
)  # fmt: skip
def test_the_kernel_s_figures_are_read(state, sent, unsent, received, again):
    raw = bytearray(216)
    raw[0] = state
    struct.pack_into("=Q", raw, 128, received)
    struct.pack_into("=I", raw, 144, unsent)
    struct.pack_into("=QQ", raw, 200, sent + again, again)
    assert read_counters(bytes(raw)) == (sent + unsent, received - (state == 8))
