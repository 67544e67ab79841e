"""Gateways in the manager: one exit for each identity, known again after a restart, and a circuit that opens."""

from __future__ import annotations

from random import Random

import pytest
from pydantic import SecretStr

from fetchworker.proxies import HealthPolicy, Proxy, ProxyManager, ProxyResult
from fetchworker.proxies.parse import parse_proxies

OK, BLOCKED, FAILED, REFUSED = (
    ProxyResult.OK,
    ProxyResult.BLOCKED,
    ProxyResult.TRANSPORT_FAILURE,
    ProxyResult.AUTH_FAILED,
)
ENTRY = "evomi://residential?country=DE&lifetime=60"


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def entries(*texts: str, password: str = "Zq9") -> list[Proxy]:
    return parse_proxies(list(texts), source="here", accounts={"evomi": ("ann", SecretStr(password))})


def manage(clock: Clock, *texts: str, **options) -> ProxyManager:
    return ProxyManager(entries(*(texts or (ENTRY,))), clock=clock, wall=clock, rng=Random(3), **options)


def test_each_pick_is_an_exit_of_its_own_named_without_a_secret(clock):
    manager = manage(clock)
    exits = [manager.pick("shop") for _ in range(50)]
    assert len({proxy.id for proxy in exits}) == len({proxy.url.get_secret_value() for proxy in exits}) == 50
    provider, tier, _, token, _ = exits[0].id.split(".")
    assert (provider, tier) == ("evomi", "residential")
    assert f"_session-{token}_lifetime-60" in exits[0].password.get_secret_value()
    assert "Zq9" not in "".join(proxy.id + repr(proxy) + proxy.label for proxy in exits)
    assert {(proxy.country, proxy.tier, proxy.gateway) for proxy in exits} == {("DE", "residential", None)}


def test_a_stored_session_has_its_exit_again_after_a_restart_and_with_a_new_password(clock):
    before = manage(clock).pick("shop")
    after = ProxyManager(entries(ENTRY, password="new"), clock=clock, wall=clock).get(before.id)
    assert (after.id, after.username) == (before.id, before.username)
    assert after.password.get_secret_value() == before.password.get_secret_value().replace("Zq9", "new")


@pytest.mark.parametrize("name", ["", "evomi", "a.b.c.d.e", "evomi.residential.0000000000000000.k3v9x2m1qa.6b49d200"])
def test_a_name_of_no_gateway_in_the_list_is_nobodys(clock, name):
    assert manage(clock).get(name) is None


def test_a_token_that_is_none_is_nobodys(clock):
    manager = manage(clock)
    parts = manager.pick("shop").id.split(".")
    for place, wrong in ((3, "K3v9x2m1qa_country-US"), (3, "short"), (1, "datacenter"), (0, "decodo"), (4, "soon")):
        assert manager.get(".".join([*parts[:place], wrong, *parts[place + 1 :]])) is None


def test_an_exit_whose_time_is_over_is_given_out_no_more(clock):
    manager = manage(clock)
    it = manager.pick("shop")
    clock.now += 3599
    assert manager.get(it.id) == it
    assert manager.usable(it.id, "shop")
    clock.now += 1
    assert manager.get(it.id) is None
    assert not manager.usable(it.id, "shop")
    keeping = manage(clock, ENTRY + "&after=keep")
    it = keeping.pick("shop")
    clock.now += 1e6
    assert keeping.get(it.id) == it


def test_an_exit_of_a_gateway_that_left_the_list_is_given_out_no_more(clock):
    manager = manage(clock, ENTRY, "evomi://datacenter")
    exits = {proxy.tier: proxy for proxy in (manager.pick("shop"), manager.pick("shop"))}
    manager.reload(entries(ENTRY))
    assert manager.get(exits["datacenter"].id) is None
    assert manager.get(exits["residential"].id) is not None
    assert {manager.pick("shop").tier for _ in range(5)} == {"residential"}
    manager.report(exits["datacenter"].id, "shop", BLOCKED)


def test_a_block_rests_the_exit_and_not_the_gateway(clock):
    manager = manage(clock)
    it = manager.pick("shop")
    manager.report(it.id, "shop", BLOCKED)
    assert not manager.usable(it.id, "shop")
    assert manager.usable(it.id, "news")
    assert manager.pick("shop").id != it.id
    assert manager.available("shop") == 1


def test_exits_that_fail_do_not_rest_the_gateway_until_five_in_a_row_did(clock):
    manager = manage(clock)
    for _ in range(4):
        manager.report(manager.pick("shop").id, "shop", FAILED)
        assert manager.any_usable("shop")
    manager.report(manager.pick("shop").id, "shop", OK)
    for _ in range(5):
        assert manager.alive()
        manager.report(manager.pick("shop").id, "shop", FAILED)
    assert not manager.any_usable("shop")
    assert not manager.alive()
    assert manager.next_available_in("shop") == 30


def test_refused_credentials_are_the_gateways(clock):
    manager = manage(clock)
    manager.report(manager.pick("shop").id, "shop", REFUSED)
    assert manager.pick("shop") is None
    assert manager.next_available_in("shop") is None


@pytest.mark.parametrize("proxy", [ENTRY, "http://gate.example:8000"])
def test_one_request_finds_out_whether_a_dead_one_is_back(clock, proxy):
    manager = manage(clock, proxy, policy=HealthPolicy(failure_rest=0, dead_after=2, probe=10, probe_max=40, trial=5))
    for _ in range(2):
        manager.report(manager.pick("shop").id, "shop", FAILED)
    assert manager.pick("shop") is None
    clock.now += 10
    probe = manager.pick("shop")
    assert manager.pick("shop") is None
    assert manager.snapshot()["proxies"][0]["state"] == "probed"
    manager.report(probe.id, "shop", FAILED)
    assert manager.next_available_in("shop") == 20
    clock.now += 20
    assert manager.pick("shop") is not None
    clock.now += 5  # that probe says nothing
    probe = manager.pick("shop")
    assert manager.pick("shop") is None
    manager.report(probe.id, "shop", OK)
    assert manager.pick("shop") is not None
    assert manager.pick("news") is not None
    assert manager.snapshot()["proxies"][0]["state"] == "ok"


def test_tiers_are_picked_by_name(clock):
    manager = manage(clock, ENTRY, "evomi://datacenter", "http://gate.example:8000")
    assert manager.tiers == {"residential", "datacenter"}
    assert {manager.pick("shop", tier="datacenter").tier for _ in range(5)} == {"datacenter"}
    assert manager.pick("shop", tier="core_residential") is None
    assert not manager.any_usable("shop", ["core_residential"])
    assert manager.available("shop", ["residential", "datacenter"]) == 2
    assert manager.next_available_in("shop", ["core_residential"]) is None


def test_rests_of_old_exits_are_forgotten(clock, monkeypatch):
    monkeypatch.setattr("fetchworker.proxies.sitestate.MAX_EXITS", 10)
    monkeypatch.setattr("fetchworker.proxies.exits._MANY", 10)
    manager = manage(clock)
    exits = [manager.pick("shop") for _ in range(30)]
    for proxy in exits:
        manager.report(proxy.id, "shop", BLOCKED)
    assert [manager.usable(proxy.id, "shop") for proxy in exits] == [True] * 20 + [False] * 10
    assert all(manager.get(proxy.id) == proxy for proxy in exits)
