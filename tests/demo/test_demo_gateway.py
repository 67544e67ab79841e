"""The demo's provider: one exit for each token, as long as it lasts."""

from __future__ import annotations

import asyncio

import pytest

from fetchworker.demo import DemoProcess, GatewayServer, Mode
from fetchworker.demo.lab import lab_app
from fetchworker.demo.server import UpstreamServer
from fetchworker.doctor.proxies import Fault, attempt
from fetchworker.proxies import ProxyManager, parse_proxies


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def site():
    async with UpstreamServer(lab_app, hosts=("lab.example",)) as server:
        yield server


async def fault_of(proxy):
    return (await asyncio.to_thread(attempt, proxy, "lab.example:443")).fault


@pytest.mark.parametrize("scheme", ["http", "socks5"])
@pytest.mark.parametrize("provider", ["evomi", "decodo"])
async def test_a_token_has_one_exit_until_its_time_is_over(site, provider, scheme):
    clock = Clock()
    async with GatewayServer(site.host_map(), provider=provider, scheme=scheme, clock=clock) as gateway:
        (entry,) = parse_proxies(gateway.entry(country="FR", lifetime="10", after="keep"), source="here")
        manager = ProxyManager([entry])
        ann, bob = manager.pick("shop"), manager.pick("shop")
        for proxy in (ann, bob, ann, entry):
            assert await fault_of(proxy) is None
        tokens = [proxy.id.split(".")[3] for proxy in (ann, bob)]
        assert [len(gateway.exits[token]) for token in tokens] == [1, 1]
        assert len({address for addresses in gateway.exits.values() for address in addresses}) == 3
        assert gateway.countries == {"FR"}
        clock.now += 600
        await fault_of(ann)
        assert len(gateway.exits[tokens[0]]) == 2
        gateway.expire(tokens[1])
        await fault_of(bob)
        assert len(set(gateway.exits[tokens[1]])) == 2


@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        (Mode.REFUSE_CREDENTIALS, Fault.CREDENTIALS),
        (Mode.FORBID, Fault.DESTINATION),
        (Mode.UNREACHABLE, Fault.DESTINATION),
        (Mode.DEAD, Fault.REFUSED),
    ],
)
async def test_what_it_can_do_to_everybody(site, mode, fault):
    async with GatewayServer(site.host_map(), mode=mode) as gateway:
        (entry,) = parse_proxies(gateway.entry(), source="here")
        assert await fault_of(entry) is fault


async def test_another_account_is_refused(site):
    async with GatewayServer(site.host_map(), password="right") as gateway:
        for wrong in ("wrong", "right_country", "Right"):
            (entry,) = parse_proxies(gateway.entry().replace(":right@", f":{wrong}@"), source="here")
            assert await fault_of(entry) is Fault.CREDENTIALS
        assert gateway.exits == {}


def test_the_demo_serves_as_a_providers_gateways(tmp_path):
    with DemoProcess(tmp_path, "--provider", "decodo:residential", "--proxies", "1", "--behaviour", "calm") as process:
        (entry,) = parse_proxies(process.proxies, source="here")
        assert (entry.provider, entry.tier, entry.username) == ("decodo", "residential", "user-demo1")
        exit_ = ProxyManager([entry]).pick("instagram")
        assert attempt(exit_, "www.instagram.com:443").fault is None
        (opened,) = process.log("proxy")
        assert opened["user"].startswith(exit_.id.split(".")[3] + "/")
        assert opened["source"].startswith("127.61.")
