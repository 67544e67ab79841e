"""Each proxy is tried for real: one that works, and what can be wrong with the others."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest

from fetchworker.config import Environment
from fetchworker.demo import GatewayServer, Mode
from fetchworker.doctor.proxies import Fault, attempt, check_start, checks, default_destination, with_port
from fetchworker.errors import ConfigError
from fetchworker.proxies import parse_proxies
from fetchworker.sites import SiteConfig

PLACE = "lab.example:443"
SCHEMES = ("http", "https", "socks5")


async def tried(url: str, authority, *, destination: str = PLACE, limit: float = 20.0):
    (proxy,) = parse_proxies(url, source="here")
    return await asyncio.to_thread(attempt, proxy, destination, limit=limit, ca_file=str(authority.pem_path))


@pytest.mark.parametrize("scheme", SCHEMES)
class TestOne:
    async def test_that_works(self, start, site, authority, scheme):
        server = await start(scheme=scheme, username="us%er", password="p@:ss/wörd")
        assert (await tried(server.url, authority)).fault is None
        opened = [event for event in site.log.events if event["type"] == "proxy"]
        assert [(event["user"], event["target"]) for event in opened] == [("us%er", PLACE)]
        assert not site.log.requests, "nothing is sent to the destination"

    async def test_that_refuses_our_password(self, start, authority, scheme):
        server = await start(scheme=scheme)
        assert (await tried(server.url_for("user", "wrong"), authority)).fault is Fault.CREDENTIALS

    async def test_that_gets_no_credentials(self, start, authority, scheme):
        server = await start(scheme=scheme)
        bare = server.url.partition("://")[0] + f"://127.0.0.1:{server.port}"
        assert (await tried(bare, authority)).fault is Fault.CREDENTIALS

    async def test_that_is_dead(self, start, authority, scheme):
        server = await start(scheme=scheme, mode=Mode.DEAD)
        assert (await tried(server.url, authority)).fault is Fault.REFUSED

    async def test_that_never_answers(self, start, authority, scheme):
        server = await start(scheme=scheme, mode=Mode.BLACK_HOLE)
        assert (await tried(server.url, authority, limit=0.3)).fault is Fault.SILENT

    async def test_that_may_not_go_there(self, start, authority, scheme):
        server = await start(scheme=scheme)
        found = await tried(server.url, authority, destination="elsewhere.example:443")
        assert found.fault is Fault.DESTINATION
        check = found.check("elsewhere.example:443", alone=False)
        assert "--destination" in check.told
        assert not check.needed


async def test_a_certificate_that_nobody_vouches_for(start, authority):
    server = await start(scheme="https")
    (proxy,) = parse_proxies(server.url, source="here")
    found = await asyncio.to_thread(attempt, proxy, PLACE, limit=20)
    assert found.fault is Fault.TLS


@pytest.mark.parametrize(
    ("real", "written", "fault"),
    [("socks5", "http", Fault.OTHER), ("http", "socks5h", Fault.SILENT), ("http", "https", Fault.SILENT)],
)
async def test_a_proxy_of_another_kind(start, authority, real, written, fault):
    server = await start(scheme=real)
    url = f"{written}://user:{server.password}@127.0.0.1:{server.port}"
    found = await tried(url, authority, limit=20 if fault is Fault.OTHER else 0.3)
    assert found.fault is fault
    assert "scheme" in found.check(PLACE, alone=True).told


async def test_a_name_that_leads_nowhere(authority):
    assert (await tried("http://proxy.invalid:8080", authority)).fault is Fault.NAME


async def test_a_connection_past_the_proxy_is_never_made(authority):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        await tried("http://127.0.0.1:1", authority, destination=f"127.0.0.1:{port}")
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    ("written", "read"),
    [("a.test", "a.test:443"), ("a.test:80", "a.test:80"), ("[::1]", "[::1]:443"), ("[::1]:80", "[::1]:80")],
)
def test_a_port_is_added_where_none_is(written, read):
    assert with_port(written) == read


def test_a_host_map_has_the_only_hosts_there_are():
    assert default_destination({}) == "example.com:443"
    assert default_destination({"shop.example": "127.0.0.1:8443"}) == "shop.example:443"


class TestTheCommand:
    """The whole list, in the environment of a project."""

    @pytest.fixture
    def doctor(self, project, authority):
        async def run(*urls: str, options: tuple[str, ...] = ("--destination", PLACE)):
            project.env |= {"FETCHWORKER_PROXIES": "\n".join(urls), "FETCHWORKER_CA_FILE": str(authority.pem_path)}
            done = await asyncio.to_thread(project.scrapy, "doctor", *options)
            assert "Traceback" not in done.stderr
            return done, [json.loads(line) for line in done.stdout.splitlines() if '"check":"prox' in line]

        return run

    async def test_all_work(self, start, doctor, project):
        urls = [(await start(scheme=scheme)).url for scheme in SCHEMES]
        done, (whole,) = await doctor(*urls)
        assert done.returncode == 0, done.stdout
        assert whole["told"] == f"3 of 3 configured let us through to {PLACE}"
        assert not list((project.folder / "state").glob(".doctor*")), "nothing is left behind"

    async def test_each_fault_is_told_apart_and_no_secret_is_told(self, start, doctor):
        good, picky = await start(password="secretword1"), await start()
        dead, silent = await start(mode=Mode.DEAD), await start(mode=Mode.BLACK_HOLE)
        urls = [good.url, picky.url_for("secretuser", "secretword2"), dead.url, silent.url]
        done, (whole, *faulty) = await doctor(*urls)
        assert done.returncode == 1, "a provider that refuses us is for somebody to mend"
        assert whole["ok"]
        assert whole["told"].startswith("1 of 4")
        assert [check["told"].split(":")[0] for check in faulty] == [
            "407", "nobody listens there", "it does not answer within 10 s",
        ]  # fmt: skip
        assert [check["needed"] for check in faulty] == [True, False, False]
        for server, check in zip((picky, dead, silent), faulty, strict=True):
            assert check["check"].startswith(f"proxy static:127.0.0.1:{server.port} ")
        told = done.stdout + done.stderr
        assert not [secret for secret in ("secret", dead.password, silent.password, "user") if secret in _plain(told)]

    async def test_one_that_is_dead_among_others_is_no_reason_to_stop(self, start, doctor):
        done, (whole, dead) = await doctor((await start()).url, (await start(mode=Mode.DEAD)).url)
        assert done.returncode == 0
        assert whole["ok"]
        assert not dead["ok"]

    async def test_all_are_dead(self, start, doctor):
        done, (whole, dead) = await doctor((await start(mode=Mode.DEAD)).url)
        assert done.returncode == 1
        assert not whole["ok"]
        assert dead["needed"]

    async def test_with_a_host_map_its_first_host_is_asked_for(self, start, doctor, project, site):
        project.env["FETCHWORKER_HOST_MAP"] = json.dumps(site.host_map())
        done, (whole,) = await doctor((await start()).url, options=())
        assert done.returncode == 0
        assert whole["told"].endswith(next(iter(site.host_map())))

    @pytest.mark.parametrize("place", ["127.0.0.1:22", "a.example:22", "intranet"])
    async def test_a_destination_that_may_not_be_reached(self, start, doctor, place):
        done, (whole,) = await doctor((await start()).url, options=("--destination", place))
        assert done.returncode == 1
        assert whole["told"].startswith("--destination: ")

    @pytest.mark.parametrize(
        "place",
        ["", "a b", "user:pw@a.example", "a.example/x", "a.example?x", "a.example:", "a.example:0", "a.example:99999",
         "a.example:x", "https://a.example", "::1", "0x7f.1"],
    )  # fmt: skip
    def test_what_is_no_place_is_a_wrong_argument(self, project, place):
        done = project.scrapy("doctor", "--destination", place)
        assert (done.returncode, done.stdout) == (2, ""), "with proxies and without"
        assert done.stderr.startswith("scrapy doctor: --destination: write a host")
        assert "pw" not in done.stderr


def _plain(told: str) -> str:
    """Without the words for what was refused."""
    return told.replace("user name or password", "")


class TestStart:
    """What a crawl asks of its proxies before it begins."""

    def environment(self, *entries, **more):
        return Environment(proxies="\n".join(entries), host_map={"lab.example:443": "127.0.0.1:9"}, **more)

    async def check(self, environment, **config):
        await asyncio.to_thread(check_start, environment, SiteConfig(**config))

    async def test_refusals_are_told_by_entry_and_nothing_else_stops_it(self, start):
        wrong = await start(username="ann", password="Zq9")
        dead = await start(mode=Mode.DEAD)
        good = await start()
        environment = self.environment(wrong.url_for("ann", "Zq9-old"), dead.url, good.url)
        with pytest.raises(ConfigError) as caught:
            await self.check(environment)
        told = caught.value.message
        assert f"static:127.0.0.1:{wrong.port} (id " in told
        assert str(dead.port) not in told.partition("\n")[2]
        assert "Zq9" not in told
        await self.check(self.environment(dead.url, good.url))
        await self.check(environment, proxy="none")
        await self.check(self.environment(wrong.url_for("ann", "Zq9-old"), proxy_check=False))

    async def test_the_doctor_counts_tiers(self, site):
        async with GatewayServer(site.host_map(), product="datacenter") as gateway:
            entries = (gateway.entry(), gateway.entry(tier="best", country="DE"))
            environment = Environment(proxies="\n".join(entries), host_map=site.host_map())
            (check,) = await asyncio.to_thread(checks, environment, {}, PLACE)
        assert check.good
        assert check.told == f"2 of 2 configured let us through to {PLACE} (1 best, 1 datacenter)"
