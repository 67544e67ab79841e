"""The whole way out, with real sockets: no spelling, no name, no redirect and no proxy leads to the trap."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

import pytest
import yaml
from scrapy import Request

from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import EgressDeniedError
from fetchworker.proxies import parse_proxies
from fetchworker.sessions import Session

REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())
URLS = [url for urls in REFUSED.values() for url in urls]


def request(url: str, *, proxy: str | None = None, client: str | None = None, **meta) -> Request:
    """A request as the middlewares hand it over, by a configured proxy if one is named."""
    session = Session.fresh("", "nobody", profile="chrome", proxy_id=None, now=0, stored=False)
    chosen = parse_proxies(proxy, source="test")[0] if proxy else None
    return Request(url, meta={WIRE: Wire(session=session, client=client, proxy=chosen), "verbatim_url": True, **meta})


async def refusal(handler, wanted: Request) -> dict[str, str]:
    with pytest.raises(EgressDeniedError) as caught:
        await handler.download_request(wanted)
    return caught.value.context


async def body(handler, wanted: Request) -> bytes:
    return (await handler.download_request(wanted)).body


class TestSpellings:
    @pytest.mark.parametrize("way", ["direct", "http", "socks5h"])
    async def test_none_reaches_the_trap_or_the_proxy(self, make_handler, trap, names, way):
        handler = make_handler()
        proxy = None if way == "direct" else f"{way}://127.0.0.1:{trap.port}"
        for reason, urls in REFUSED.items():
            for url in urls:
                try:
                    wanted = request(url.format(port=trap.port), proxy=proxy)
                except ValueError:  # Scrapy takes it for no URL
                    continue
                assert await refusal(handler, wanted) == {"layer": "url", "reason": reason}, url
        assert trap.hits == 0

    async def test_the_proxy_would_have_done_it(self, make_handler, trap, names):
        handler = make_handler(EGRESS_ALLOW="localhost")
        proxy = f"http://127.0.0.1:{trap.port}"
        assert await body(handler, request("http://localhost/", proxy=proxy)) == b"hi"
        assert trap.heads[0].startswith(b"GET http://localhost/ HTTP/1.1\r\n")

    async def test_spellings_that_scrapy_mends_are_judged_as_they_go_out(self, make_handler, trap, names):
        """Scrapy's own reading of a URL changes some of them before anybody else sees them."""
        handler = make_handler()
        for url in URLS:
            try:
                wanted = Request(url.format(port=trap.port))
            except ValueError:
                continue
            assert (await refusal(handler, wanted))["reason"]
        assert trap.hits == 0


class TestNames:
    async def test_a_name_that_leads_inside(self, make_handler, trap, names):
        handler = make_handler()
        for address in ("127.0.0.1", "0.0.0.0", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "10.0.0.1", "fd00::1"):
            names.answers["inside.example"] = [[address]]
            told = await refusal(handler, request(f"http://inside.example:{trap.port}/"))
            assert (told["layer"], told["address"]) == ("address", str(ip_address(address)))
        assert trap.hits == 0

    @pytest.mark.parametrize("client", [None, "a"])
    async def test_a_name_that_is_public_first_and_leads_inside_then(self, make_handler, serve, names, client):
        """127.0.0.2 stands for a public address; the second look-up of the same name says 127.0.0.1."""
        public = await serve("127.0.0.2")
        trap = await serve("127.0.0.1", public.port)
        handler = make_handler(EGRESS_ALLOW="127.0.0.2")
        names.answers["rebind.example"] = [["127.0.0.2"], ["127.0.0.1"]]
        url = f"http://rebind.example:{public.port}/"
        assert await body(handler, request(url, client=client)) == b"hi"
        told = await refusal(handler, request(url, client=client))
        assert told == {"layer": "address", "reason": "loopback", "address": "127.0.0.1"}
        assert (public.hits, trap.hits) == (1, 0)
        assert names.asked["rebind.example 1"] == 2

    async def test_of_several_addresses_only_the_public_one_is_used(self, make_handler, serve, names):
        public = await serve("127.0.0.2")
        trap = await serve("127.0.0.1", public.port)
        handler = make_handler(EGRESS_ALLOW="127.0.0.2")
        names.answers["both.example"] = [["127.0.0.1", "127.0.0.2"]]
        assert await body(handler, request(f"http://both.example:{public.port}/")) == b"hi"
        assert (public.hits, trap.hits) == (1, 0)

    async def test_a_name_that_is_listed_leads_anywhere(self, make_handler, trap, names):
        handler = make_handler(EGRESS_ALLOW="wiki.corp")
        assert await body(handler, request(f"http://wiki.corp:{trap.port}/", client="a")) == b"hi"
        told = await refusal(handler, request(f"http://other.example:{trap.port}/", client="a"))
        assert told["layer"] == "address", "and the next one on the same handle does not"
        assert trap.hits == 1

    async def test_the_targets_of_the_host_map_are_the_operators(self, make_handler, trap):
        handler = make_handler(HOST_MAP=f'{{"shop.example:80": "127.0.0.1:{trap.port}"}}')
        assert await body(handler, request("http://shop.example/")) == b"hi"
        assert trap.hits == 1


class TestProxies:
    async def test_a_configured_proxy_may_be_inside(self, make_handler, trap, names):
        handler = make_handler()
        for host in ("127.0.0.1", "gate.example"):
            answer = await body(handler, request("http://www.example.com/", proxy=f"http://{host}:{trap.port}"))
            assert answer == b"hi"
        assert trap.hits == 2
        assert {asked.split()[0] for asked in names.asked} == {"gate.example"}, "the proxy looks up the others"

    @pytest.mark.parametrize("scheme", ["http", "https", "socks5h"])
    async def test_a_proxy_that_nobody_configured_is_a_place_like_any_other(self, make_handler, trap, names, scheme):
        handler = make_handler()
        for host, reason in (("127.0.0.1", "loopback"), ("localhost", "special_name"), ("[::1]", "loopback")):
            wanted = Request("http://www.example.com/", meta={"proxy": f"{scheme}://{host}:{trap.port}"})
            assert await refusal(handler, wanted) == {"layer": "proxy", "reason": reason}
        named = Request("http://www.example.com/", meta={"proxy": f"{scheme}://gate.example:{trap.port}"})
        assert await refusal(handler, named) == {"layer": "proxy", "reason": "loopback", "address": "127.0.0.1"}
        assert trap.hits == 0

    async def test_one_of_ours_may_be_named_by_its_address(self, make_handler, trap):
        handler = make_handler(PROXIES=f"http://ann:word@127.0.0.1:{trap.port}")
        wanted = Request("http://www.example.com/", meta={"proxy": f"http://127.0.0.1:{trap.port}"})
        assert await body(handler, wanted) == b"hi"

    async def test_a_handle_that_went_by_a_proxy_is_no_way_to_its_host(self, make_handler, trap, names):
        handler = make_handler()
        proxy = f"http://127.0.0.1:{trap.port}"
        assert await body(handler, request("http://www.example.com/", proxy=proxy, client="a")) == b"hi"
        told = await refusal(handler, request(f"http://www.example.com:{trap.port}/", client="a"))
        assert told["layer"] == "address"
        assert trap.hits == 1
