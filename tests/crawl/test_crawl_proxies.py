"""Whole crawls through providers' gateways: the check at the start, a list that changes, proxies that stay away."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from fetchworker.demo.lab import text
from fetchworker.demo.proxy import Mode

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
URL = "https://lab.example"
SECRET = "Zq9-canary"


@pytest.fixture
def gateway(make_lab, lab):
    return lab.add_gateway(password=SECRET)


def visit(peer: str, cookie: str = ""):
    """A request as the demo's server hands it to a site."""
    told = SimpleNamespace(peer=peer, path="/page/1", route="/page/1")
    told.cookies = lambda: dict([cookie.split("=")]) if cookie else {}
    return told


def requires(project, **more):
    """The site of these tests takes no step without a proxy."""
    entry = {"proxy": "required", "delay": 0, "robots": "obey", "retries": 1, "backoff": {"first": 0.05, "max": 0.2}}
    path = project.folder / "sites.yaml"
    sites = json.loads(path.read_text())["sites"]
    path.write_text(json.dumps({"sites": {name: {**entry, **more} for name in sites}}))


def budgeted(tier, **more):
    """A budget with a part of its own for a tier."""
    return {"budget": {"bytes_per_day": "2 GB", "on_exceeded": "down_tier", "tiers": {tier: "1 MB"}}, **more}


class TestStart:
    def test_refused_credentials_end_it_before_it_begins(self, fetch, project, lab, gateway):
        project.env["FETCHWORKER_PROXIES"] = gateway.entry().replace(SECRET, SECRET + "-old")
        project.env["FETCHWORKER_PROXY_CHECK"] = "true"
        requires(project)
        done = fetch(f"{URL}/echo")
        assert done.code == 2
        assert f"evomi:127.0.0.1:{gateway.port} (id " in done.log
        assert "refuse our user name or password (407)" in done.log
        assert SECRET not in done.log
        assert lab.requests == []

    def test_credentials_that_are_taken_let_it_begin(self, fetch, project, lab, gateway):
        project.env["FETCHWORKER_PROXIES"] = gateway.entry(country="DE")
        project.env["FETCHWORKER_PROXY_CHECK"] = "true"
        requires(project, accept_language="exit", proxy_tiers=["residential"])
        done = fetch(f"{URL}/echo")
        assert (done.code, len(done.items)) == (0, 1)
        assert {request.header("accept-language") for request in lab.requests} == {
            "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7"
        }
        assert all(request.peer.startswith("127.77.") for request in lab.server.log.requests)
        assert SECRET not in done.log + json.dumps(done.items)

    @pytest.mark.parametrize(
        ("entry", "told"),
        [
            ({"proxy_tiers": ["residental"]}, "unknown tier 'residental'; did you mean residential?"),
            ({"proxy_tiers": ["datacenter", "residential"]}, "no proxy is of the tier datacenter"),
            ({"proxy_tiers": ["residential"], "proxy": "none"}, "proxy_tiers: contradicts proxy: none"),
            (budgeted("residentail"), "budget.tiers: unknown tier 'residentail'; did you mean residential?"),
            (budgeted("datacenter"), "budget.tiers: no proxy is of the tier datacenter"),
            (
                budgeted("core_residential", proxy_tiers=["residential"]),
                "budget.tiers: core_residential is none of proxy_tiers",
            ),
            ({"tier_requests": 5}, "tier_requests: there is no tier above the first"),
        ],
    )
    def test_tiers_that_contradict_are_refused(self, project, gateway, entry, told):
        from fetchworker.errors import ConfigError
        from fetchworker.proxies import parse_proxies
        from fetchworker.sites import check_tiers, load_sites

        requires(project, **entry)
        (proxy,) = parse_proxies(gateway.entry(), source="here")
        known = {"datacenter", "residential", "core_residential"}
        with pytest.raises(ConfigError, match="sites") as caught:
            check_tiers(load_sites(project.folder / "sites.yaml"), {proxy.tier}, known=known)
        assert told in caught.value.message


def test_a_list_that_changes_is_followed_and_a_bad_one_is_not(serve, project, lab, gateway):
    path = project.folder / "proxies.txt"
    second = lab.add_gateway(provider="decodo", network=78)
    path.write_text(gateway.entry() + "\n")
    project.env |= {"FETCHWORKER_PROXIES": f"@{path}", "FETCHWORKER_PROXIES_RELOAD": "0.05"}
    requires(project, concurrency=1, delay=0.4)

    def replace(content):
        new = path.with_suffix(".new")
        new.write_text(content)
        new.replace(path)

    def app(request):
        number = len(lab.requests)
        if number == 1:
            replace("# a comment\nhttp://ada:" + SECRET + "@host\n")
        elif number == 3:
            replace(second.entry() + "\n")
        return text("here\n")

    lab.app = app
    # a request has its exit before its turn has come: one at a time
    done = serve(*(f"{URL}/{number}" for number in range(8)), options=("-s", "CONCURRENT_REQUESTS=1"))
    assert (done.code, len(done.items), done.failed) == (0, 8, [])
    networks = [request.peer.split(".")[1] for request in lab.requests]
    assert networks[:3] == ["77"] * 3
    assert networks[-1] == "78"
    assert networks == sorted(networks), "one that left the list is given out no more"
    assert done.log.count("proxies_reload_failed") == 1
    assert "line 2" in done.log
    assert SECRET not in done.log


def test_without_an_exit_the_queue_keeps_its_work(serve, project, lab, gateway, queue):
    project.env["FETCHWORKER_PROXIES"] = gateway.entry()
    requires(project)
    lab.run(gateway.set_mode(Mode.DEAD))
    first = serve(*(f"{URL}/echo?{number}" for number in range(6)))
    assert first.code == 1
    assert (first.items, first.failed, lab.requests) == ([], [], [])
    assert first.log.count("no_egress site=fetch: none of 1 proxies can be used") == 1
    assert "'finish_reason': 'no_egress'" in first.log or '"finish_reason": "no_egress"' in first.log
    lab.run(gateway.set_mode(Mode.OK))
    second = serve()
    assert (second.code, len(second.items), second.failed) == (0, 6, [])


def test_what_waits_for_an_exit_stays_leased(serve, project, lab, gateway, queue):
    """Refused, paused for longer than a lease, and back: each request is made once."""
    project.env |= {
        "FETCHWORKER_PROXIES": gateway.entry(),
        "FETCHWORKER_LEASE": "1",
        "FETCHWORKER_NO_EGRESS_PATIENCE": "60",
    }
    requires(project, robots="ignore")
    lab.run(gateway.set_mode(Mode.FORBID))
    refused = threading.Event()

    def mend():
        # the ninth refusal is that of a probe, several waits after the pause began
        while len(lab.log("proxy")) < 9:
            refused.wait(0.05)
        gateway.mode = Mode.OK

    mending = threading.Thread(target=mend)
    mending.start()
    done = serve(*(f"{URL}/echo?{number}" for number in range(6)))
    mending.join()
    assert (done.code, len(done.items), done.failed) == (0, 6, [])
    assert sorted(lab.paths) == [f"/echo?{number}" for number in range(6)]
    assert done.log.count("no_egress site=fetch: none of 1") == done.log.count("egress_back site=fetch") == 1


def test_the_checker_sees_a_cookie_by_another_exit(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from exits import Custodian

    site = Custodian()
    first = site(visit("127.60.0.1"))
    cookie = dict(first.headers)["set-cookie"].partition(";")[0]
    site(visit("127.60.0.1", cookie))
    assert site.violations == []
    site(visit("127.60.0.2", cookie))
    site(visit("127.60.0.1", "who=forged"))
    assert site.violations == [("v1", "127.60.0.1", "127.60.0.2"), ("forged", "nowhere", "127.60.0.1")]


def test_every_cookie_comes_by_its_own_exit():
    command = [sys.executable, str(ROOT / "benchmarks" / "exits.py"), "--requests", "120"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    found = json.loads(done.stdout.splitlines()[-1])
    assert (done.returncode, found["violations"], found["lost"]) == (0, 0, 0), (found, done.stderr)
    assert found["requests"] >= 100
    assert found["retries"] > 5
    assert found["rotated"] > 0
    assert {"page", "picture", "end"} == set(found["seen"])
