"""Which proxy is next, what rests, reload, the breaker, and what the manager tells."""

from __future__ import annotations

import json
import logging
from random import Random

import pytest
from pydantic import SecretStr

from fetchworker.errors import ConfigError, ProxyConfigError
from fetchworker.proxies import Breaker, HealthPolicy, Proxy, ProxyManager, ProxyResult
from fetchworker.proxies import manager as manager_module

OK, BLOCKED, FAILED, REFUSED = (
    ProxyResult.OK,
    ProxyResult.BLOCKED,
    ProxyResult.TRANSPORT_FAILURE,
    ProxyResult.AUTH_FAILED,
)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pool(count: int, password: str = "Zq9-canary") -> list[Proxy]:
    return [
        Proxy("http", f"gate{n}.example", 8000, f"Uk4-session-{n}", SecretStr(password), country="DE")
        for n in range(count)
    ]


def manage(count: int, clock: Clock, **options: object) -> ProxyManager:
    return ProxyManager(pool(count), clock=clock, rng=Random(7), **options)


def picks(manager: ProxyManager, site: str, count: int) -> list[str]:
    return [manager.pick(site).id for _ in range(count)]


def test_each_proxy_has_its_turn(clock):
    manager = manage(5, clock)
    first = picks(manager, "shop", 5)
    assert len(set(first)) == 5
    assert picks(manager, "shop", 5) == first


def test_turns_of_one_site_do_not_depend_on_another(clock):
    manager = manage(2, clock)
    seen = {"shop": [], "news": []}
    for _ in range(3):
        for site, ids in seen.items():
            ids.append(manager.pick(site).id)
    assert all(ids[0] != ids[1] and ids[0] == ids[2] for ids in seen.values())


def test_processes_do_not_all_begin_with_the_same_proxy():
    firsts = {ProxyManager(pool(20), rng=Random(seed)).pick("shop").id for seed in range(20)}
    assert len(firsts) > 5


def test_get_and_len(clock):
    manager = manage(3, clock)
    one = manager.pick("shop")
    assert manager.get(one.id) == one
    assert manager.get("nobody") is None
    assert len(manager) == 3


def test_excluded_proxies_keep_their_turn(clock):
    manager = manage(3, clock)
    a, b, c = picks(manager, "shop", 3)
    assert manager.pick("shop", exclude={a, b}).id == c
    assert manager.pick("shop", exclude=[a, b, c]) is None
    assert picks(manager, "shop", 3) == [a, b, c]


def test_a_blocked_proxy_rests_for_that_site_alone(clock):
    manager = manage(2, clock, cooldown=60)
    a, b = picks(manager, "shop", 2)
    manager.report(a, "shop", BLOCKED)
    assert picks(manager, "shop", 2) == [b, b]
    assert {*picks(manager, "news", 2)} == {a, b}
    assert (manager.available("shop"), manager.available("news")) == (1, 2)
    assert (manager.usable(a, "shop"), manager.usable(a, "news")) == (False, True)
    clock.now += 59.9
    assert manager.pick("shop").id == b
    clock.now += 0.1
    assert manager.pick("shop").id == a  # longest unused


def test_none_left_and_how_long_until_one_is(clock):
    manager = manage(2, clock, cooldown=60)
    a, b = picks(manager, "shop", 2)
    manager.report(a, "shop", BLOCKED)
    assert manager.next_available_in("shop") == 0
    clock.now += 10
    manager.report(b, "shop", ProxyResult.RATE_LIMITED, retry_after=120)
    assert manager.pick("shop") is None
    assert manager.available("shop") == 0
    assert manager.next_available_in("shop") == 50
    assert manager.next_available_in("news") == 0


def test_without_proxies_waiting_does_not_help(clock):
    manager = ProxyManager([], clock=clock)
    assert manager.pick("shop") is None
    assert manager.available("shop") == 0
    assert manager.next_available_in("shop") is None
    assert not manager.usable("nobody", "shop")


def test_transport_failures_rest_it_for_all_sites_until_it_is_dead(clock, caplog):
    manager = manage(1, clock, policy=HealthPolicy(failure_rest=5, dead_after=5, probe=600))
    it = manager.pick("shop")
    for failures, rest in enumerate([5, 10, 20, 40, 600], start=1):
        assert manager.pick("news") is not None
        manager.report(it.id, "shop", FAILED)
        assert manager.pick("news") is None
        assert manager.next_available_in("news") == rest
        state = manager.snapshot()["proxies"][0]
        assert (state["failures_in_a_row"], state["back_in"]) == (failures, rest)
        assert state["state"] == ("dead" if failures == 5 else "resting")
        clock.now += rest
    assert [record.message.split()[0] for record in caplog.records] == ["proxy_dead"]
    manager.report(it.id, "shop", OK)
    assert manager.snapshot()["proxies"][0]["state"] == "ok"


def test_refused_credentials_leave_it_out_until_reload_and_are_logged_once(clock, caplog):
    manager = manage(2, clock)
    a, b = picks(manager, "shop", 2)
    for _ in range(3):
        manager.report(a, "shop", REFUSED)
    clock.now += 1e6
    assert picks(manager, "shop", 2) == [b, b]
    assert picks(manager, "news", 2) == [b, b]
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.message.startswith("proxy_auth_failed proxy=static:gate")
    assert not manager.suspect_rule("shop")
    manager.report(b, "shop", REFUSED)
    assert manager.next_available_in("shop") is None
    manager.reload(pool(2))
    assert {*picks(manager, "shop", 2)} == {a, b}


def test_reports_may_name_the_result_as_text_but_no_other(clock):
    manager = manage(1, clock)
    it = manager.pick("shop")
    manager.report(it.id, "shop", "blocked")
    assert manager.pick("shop") is None
    with pytest.raises(ValueError, match="fine"):
        manager.report(it.id, "shop", "fine")


def test_report_of_a_proxy_that_left_the_list_is_ignored(clock):
    manager = manage(2, clock)
    before = manager.snapshot()
    manager.report("0123456789abcdef", "shop", BLOCKED)
    assert manager.snapshot() == before


def test_reload_keeps_rests_and_turns_of_those_that_stay(clock):
    manager = manage(4, clock)
    a, b, c, d = picks(manager, "shop", 4)
    manager.report(a, "shop", BLOCKED)
    manager.report(b, "shop", FAILED)
    gone = manager.get(d)
    newcomer = Proxy("http", "new.example", 8000)
    manager.reload([*(proxy for proxy in pool(4) if proxy != gone), newcomer])
    assert manager.get(d) is None
    assert picks(manager, "shop", 3) == [newcomer.id, c, newcomer.id]
    assert {*picks(manager, "news", 3)} == {a, c, newcomer.id}
    manager.report(d, "shop", OK)
    assert manager.pick("shop", exclude=[c, newcomer.id]) is None


def test_a_changed_password_is_a_fresh_proxy(clock):
    manager = manage(1, clock)
    it = manager.pick("shop")
    manager.report(it.id, "shop", REFUSED)
    manager.report(it.id, "shop", BLOCKED)
    manager.reload(pool(1, password="Zq9-new"))
    assert manager.pick("shop").id != it.id


def test_state_is_not_kept_for_another_endpoint_of_the_same_id(clock):
    """16 bits of the id stand for the password, so once in 65,536 changes the id stays."""
    seen: dict[str, Proxy] = {}
    for n in range(5000):
        (new,) = pool(1, password=f"Zq9-{n}")
        old = seen.setdefault(new.id, new)
        if old is not new:
            break
    assert old.password != new.password
    manager = ProxyManager([old], clock=clock)
    manager.report(old.id, "shop", BLOCKED)
    manager.reload([new])
    assert manager.pick("shop") is new


def test_a_rule_that_finds_blocks_everywhere_is_suspect(clock, caplog):
    manager = manage(10, clock, breaker=Breaker(share=0.8, least=5, window=600))
    ids = picks(manager, "shop", 10)
    manager.report(ids[9], "shop", OK)
    for count, proxy_id in enumerate(ids[:9], start=1):
        assert not manager.suspect_rule("shop")
        manager.report(proxy_id, "shop", BLOCKED)
        if count / (count + 1) > 0.8:
            break
    assert count == 5
    assert manager.suspect_rule("shop")
    manager.report(ids[8], "shop", BLOCKED)
    assert not manager.suspect_rule("news")
    (record,) = caplog.records  # once
    assert record.levelno == logging.ERROR
    assert record.message.startswith("proxy_rule_suspect site=shop blocked=5 tried=6")
    assert manager.snapshot()["sites"]["shop"]["suspect_rule"] is True
    clock.now += 601
    assert not manager.suspect_rule("shop")


def test_few_blocks_or_many_proxies_that_pass_are_no_suspicion(clock):
    manager = manage(20, clock)
    ids = picks(manager, "shop", 20)
    for proxy_id in ids[:4]:
        manager.report(proxy_id, "shop", BLOCKED)
    assert not manager.suspect_rule("shop")
    for proxy_id in ids[4:8]:
        manager.report(proxy_id, "shop", OK)
    for proxy_id in ids[8:16]:
        manager.report(proxy_id, "shop", BLOCKED)
    assert not manager.suspect_rule("shop")


def test_nothing_told_holds_credentials(clock, caplog):
    caplog.set_level(logging.DEBUG)
    manager = manage(6, clock)
    for proxy_id in picks(manager, "shop", 6):
        for result in (OK, BLOCKED, FAILED, REFUSED):
            manager.report(proxy_id, "shop", result)
    manager.reload(pool(3))
    told = json.dumps(manager.snapshot()) + caplog.text + repr(manager) + repr(manager.pick("shop"))
    assert "Zq9" not in told
    assert "Uk4" not in told
    assert "static:gate1.example:8000" in told


@pytest.mark.parametrize("options", [{"cooldown": -1}, {"cooldown": 90, "cooldown_max": 60}, {"cooldown_max": 1}])
def test_contradictory_cooldowns_are_refused(options):
    with pytest.raises(ConfigError, match="cooldown"):
        ProxyManager([], **options)


def test_the_state_of_sites_is_bounded(clock, monkeypatch):
    monkeypatch.setattr(manager_module, "MAX_SITES", 3)
    manager = manage(2, clock)
    a, _ = picks(manager, "kept", 2)
    manager.report(a, "kept", BLOCKED)
    for n in range(20):
        manager.pick(f"site{n}")
        assert not manager.usable(a, "kept")  # a rest is not forgotten for want of room
    assert list(manager.snapshot()["sites"]) == ["kept", "site18", "site19"]
    for n in range(20):
        manager.report(a, f"rest{n}", BLOCKED)
    assert len(manager.snapshot()["sites"]) == 3


def write(path, text):
    """Replace a file as editors do: another inode."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


def test_a_changed_file_is_read_again(tmp_path, clock, caplog):
    path = tmp_path / "proxies.txt"
    write(path, "a.example:1\nb.example:2\n")
    manager = ProxyManager.from_source(f"@{path}", source="FETCHWORKER_PROXIES", clock=clock, rng=Random(7))
    assert len(manager) == 2
    assert not manager.reload_if_changed()
    write(path, "b.example:2\nc.example:3\nd.example:4\n")
    assert manager.reload_if_changed()
    assert not manager.reload_if_changed()
    assert len(manager) == 3
    assert {manager.pick("shop").host for _ in range(3)} == {"b.example", "c.example", "d.example"}


@pytest.mark.parametrize("spoiled", ["http://ada:Zq9@host\n", "", "# none\n"])
def test_a_spoiled_file_leaves_the_old_list_and_is_logged_once(tmp_path, caplog, spoiled):
    path = tmp_path / "proxies.txt"
    write(path, "a.example:1\n")
    manager = ProxyManager.from_source(f"@{path}", source="FETCHWORKER_PROXIES")
    write(path, spoiled)
    assert not manager.reload_if_changed()
    assert not manager.reload_if_changed()
    assert len(manager) == 1
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert str(path) in record.message
    assert "Zq9" not in record.message
    path.unlink()
    assert not manager.reload_if_changed()
    write(path, "b.example:2\n")
    assert manager.reload_if_changed()
    assert manager.pick("shop").host == "b.example"


def test_what_is_no_file_is_not_watched():
    manager = ProxyManager.from_source("a.example:1", source="FETCHWORKER_PROXIES")
    assert not manager.reload_if_changed()
    with pytest.raises(ProxyConfigError, match="FETCHWORKER_PROXIES entry 1"):
        ProxyManager.from_source("a.example", source="FETCHWORKER_PROXIES")


def die(manager, clock, proxy_id):
    for _ in range(5):
        clock.now += 100
        manager.report(proxy_id, "shop", FAILED)


def test_a_failed_proxy_can_be_tried_before_its_time(clock):
    manager = manage(3, clock)
    first, second, third = picks(manager, "shop", 3)
    assert not manager.hasten("shop"), "none has failed"
    for each in (first, second):
        die(manager, clock, each)
    manager.report(third, "shop", REFUSED)
    assert manager.failing()
    assert (manager.pick("shop"), manager.alive()) == (None, False)
    assert manager.hasten("shop")
    assert manager.pick("shop").id == first, "it would have been the next"
    assert manager.pick("shop") is None, "it is for one request alone"
    manager.report(first, "shop", FAILED)
    assert manager.hasten("shop")
    assert manager.pick("shop").id == second
    manager.report(second, "shop", OK)
    assert manager.pick("shop").id == second
    assert not manager.failing()


def test_trying_before_the_time_does_not_prolong_the_rests(clock):
    manager = manage(1, clock)
    (only,) = picks(manager, "shop", 1)
    die(manager, clock, only)
    for _ in range(9):
        assert manager.hasten("shop")
        assert manager.pick("shop").id == only
        manager.report(only, "shop", FAILED)
    assert manager.next_available_in("shop") == 1200


def test_what_the_site_has_blocked_is_not_tried_before_its_time(clock):
    manager = manage(1, clock)
    (only,) = picks(manager, "shop", 1)
    manager.report(only, "shop", FAILED)
    manager.report(only, "shop", BLOCKED)
    assert not manager.hasten("shop")
