"""The filtering proxy judges every target: no spelling, no name and no second look-up leads to the trap."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fetchworker.egress.filter_proxy import INTRODUCTION
from fetchworker.proxies import parse_proxies

HERE = Path(__file__).parent
REFUSED = yaml.safe_load((HERE / "refused.yaml").read_text())
ALLOWED = yaml.safe_load((HERE / "allowed.yaml").read_text())
WAYS = ["direct", "http", "socks5h"]


def upstream(way: str, port: int):
    return None if way == "direct" else parse_proxies(f"{way}://127.0.0.1:{port}", source="test")[0]


def plainly_written(url: str) -> bool:
    """Whether a client can write it into a request at all."""
    return url.startswith("http://") and url.isascii() and " " not in url


async def test_a_browser_shows_its_credentials_once(filtering, asker, trap):
    """Nothing is looked up or connected for it, and without credentials it is a request like any other."""
    run = (await filtering(lead=lambda _: 1 / 0)).open_run(upstream=upstream("http", trap.port))
    known = await asker(run)
    assert (await known.ask("GET", INTRODUCTION)).status == 200
    unknown = await asker(run)
    unknown.credentials = ("nobody", "x")
    assert (await unknown.ask("GET", INTRODUCTION)).status == 407
    assert (run.sent, run.received, list(run.refusals), trap.hits) == (0, 0, [], 0)


class TestSpellings:
    @pytest.mark.parametrize("way", WAYS)
    @pytest.mark.parametrize("method", ["GET", "CONNECT"])
    async def test_what_leads_inside_is_refused_by_its_url(self, filtering, asker, trap, way, method):
        run = (await filtering()).open_run(upstream=upstream(way, trap.port))
        for reason, urls in REFUSED.items():
            for url in (url.format(port=trap.port) for url in urls):
                target = url if method == "GET" else url.partition("://")[2].partition("/")[0]
                client = await asker(run)
                answer = await client.ask(method, target)
                client.cut()
                assert answer.status in (400, 403), url
                if method == "GET" and plainly_written(url):
                    assert (answer.status, answer.reason) == (403, reason), url
        assert trap.hits == 0
        assert run.sent == run.received == 0

    @pytest.mark.parametrize("reason", [reason for reason in REFUSED if reason not in ("scheme", "userinfo", "host")])
    async def test_tunnels_are_refused_for_the_same_reasons(self, filtering, asker, trap, reason):
        run = (await filtering()).open_run()
        for url in (url.format(port=trap.port) for url in REFUSED[reason]):
            place = url.partition("://")[2].partition("/")[0]
            place = (
                place if place.rpartition(":")[2].isdigit() and "]" not in place.rpartition(":")[2] else place + ":80"
            )
            if url.isascii() and len(place.rpartition(":")[2]) <= 5:
                answer = await (await asker(run)).ask("CONNECT", place)
                assert (answer.status, answer.reason) == (403, reason), url
        assert run.refusals
        assert trap.hits == 0

    async def test_public_look_alikes_are_not_refused(self, filtering, asker, trap):
        run = (await filtering()).open_run(upstream=upstream("http", trap.port))
        urls = [url for url in ALLOWED if plainly_written(url) and "#" not in url]
        for url in urls:
            client = await asker(run)
            assert (await client.ask("GET", url)).status == 200, url
            client.cut()
        assert trap.hits == len(urls) >= 40

    @pytest.mark.parametrize(
        ("method", "target"),
        [
            ("GET", "/"), ("GET", "*"), ("GET", "www.example.com:80"), ("CONNECT", "www.example.com"),
            ("CONNECT", "www.example.com:"), ("CONNECT", "/"), ("CONNECT", "www.example.com/:443"),
            ("CONNECT", "http://www.example.com:80"), ("CONNECT", "www.example.com:443#"),
        ],
    )  # fmt: skip
    async def test_no_request_of_a_proxys_client(self, filtering, asker, trap, method, target):
        run = (await filtering()).open_run(upstream=upstream("http", trap.port))
        answer = await (await asker(run)).ask(method, target)
        assert answer.status in (400, 403)
        assert trap.hits == 0

    async def test_https_is_for_tunnels(self, filtering, asker):
        answer = await (await asker((await filtering()).open_run())).ask("GET", "https://www.example.com/")
        assert (answer.status, answer.reason) == (403, "scheme")


class TestNames:
    async def test_a_name_that_leads_inside(self, filtering, asker, trap):
        inside = [
            "127.0.0.1",
            "0.0.0.0",
            "::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "10.0.0.1",
            "fd00::1",
            "fe80::1%1",
        ]
        for address in inside:
            run = (await filtering(lead=lambda _host, address=address: [address])).open_run()
            for method, target in (("CONNECT", "inside.example:{}"), ("GET", "http://inside.example:{}/")):
                answer = await (await asker(run)).ask(method, target.format(trap.port))
                assert answer.status == 403, address
                assert address not in answer.body.decode(), "who asks is not told what is inside"
            assert {refusal.layer for refusal in run.refusals} == {"address"}
        assert trap.hits == 0

    async def test_a_name_that_is_public_first_and_leads_inside_then(self, filtering, asker, serve):
        """127.0.0.2 stands for a public address; each request looks up once and dials what was judged."""
        public = await serve("127.0.0.2")
        trap = await serve("127.0.0.1", public.port)
        answers = [["127.0.0.2"], ["127.0.0.1"], ["127.0.0.2"]]
        run = (await filtering("127.0.0.2", lead=lambda _host: answers.pop(0))).open_run()
        url = f"http://rebind.example:{public.port}/"
        got = [await (await asker(run)).ask("GET", url) for _ in range(3)]
        assert [(answer.status, answer.reason) for answer in got] == [(200, ""), (403, "loopback"), (200, "")]
        assert (public.hits, trap.hits, answers) == (2, 0, [])

    async def test_of_several_addresses_only_the_public_one_is_used(self, filtering, asker, serve):
        public = await serve("127.0.0.2")
        trap = await serve("127.0.0.1", public.port)
        run = (await filtering("127.0.0.2", lead=lambda _host: ["127.0.0.1", "127.0.0.2"])).open_run()
        assert (await (await asker(run)).ask("CONNECT", f"both.example:{public.port}")).status == 200
        assert (public.hits, trap.hits) == (1, 0)

    async def test_a_name_that_is_listed_leads_anywhere(self, filtering, asker, trap):
        run = (await filtering("wiki.corp")).open_run()
        assert (await (await asker(run)).ask("GET", f"http://wiki.corp:{trap.port}/")).body == b"hi"
        answer = await (await asker(run)).ask("GET", f"http://other.example:{trap.port}/")
        assert (answer.status, answer.reason) == (403, "loopback")

    async def test_a_run_may_have_a_policy_of_its_own(self, filtering, asker, trap):
        from fetchworker.config import destinations
        from fetchworker.egress import EgressPolicy

        proxy = await filtering()
        wide = proxy.open_run(policy=EgressPolicy(allow=destinations("127.0.0.1")))
        url = f"http://127.0.0.1:{trap.port}/"
        assert (await (await asker(wide)).ask("GET", url)).status == 200
        assert (await (await asker(proxy.open_run())).ask("GET", url)).status == 403

    async def test_a_redirect_is_the_browsers_next_request(self, filtering, asker, trap):
        """On one connection, after an answer that was allowed."""
        run = (await filtering("page.example")).open_run()
        client = await asker(run)
        assert (await client.ask("GET", f"http://page.example:{trap.port}/")).status == 200
        answer = await client.ask("GET", f"http://169.254.169.254:{trap.port}/")
        assert (answer.status, answer.reason) == (403, "metadata")
        assert trap.hits == 1
