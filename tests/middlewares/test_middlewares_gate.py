"""A gate is passed by the request that its script would make; credentials go where they belong."""

from __future__ import annotations

import asyncio
import re

import pytest

from fetchworker.contracts import Fetch, Params, Parsed
from fetchworker.demo.lab import redirect, text
from fetchworker.download.wire import WIRE
from fetchworker.errors import ConfigError, OutcomeError
from fetchworker.spiders.base import SiteSpider, operation

TOKEN = "EAABcanary4711kanarienvogel"
SECRET = {"fw_secret_headers": {"Authorization": ["meta_access_token", "Bearer ", "https://lab.example"]}}
SCRIPT = "<html><script>fetch('/__rd_verify_abc?challenge=2', {method: 'POST'})</script></html>"


def gate(page):
    match = re.search(rb"/__rd_verify_[^']+", page.body)
    return Fetch("gate", f"https://lab.example{match[0].decode()}", "POST", "xhr") if match else None


class GatedSpider(SiteSpider):
    name = "meta"
    gate = staticmethod(gate)

    @operation(parse=lambda page, call: Parsed([]), params=Params, default_for=("name",))
    def nothing(self, call):
        yield Fetch("nothing", "https://lab.example")

    def __init__(self, **arguments):
        super().__init__(operation="nothing")

    async def start(self):
        self.ended = asyncio.Event()
        await self.ended.wait()
        return
        yield


class GatedSite:
    """Lets those in who have knocked; ``jammed``: knocking does not help, ``refuse``: it is answered with 403."""

    def __init__(self, *, jammed: bool = False, refuse: bool = False) -> None:
        self.jammed, self.refuse = jammed, refuse

    def __call__(self, request):
        if request.route.startswith("/__rd_verify_"):
            headers = [] if self.jammed else [("set-cookie", "rd_challenge=1; Path=/")]
            return text("no\n", 403) if self.refuse else text("", 200, headers)
        return text("inside\n") if request.cookies().get("rd_challenge") == "1" else text(SCRIPT, 403)


@pytest.mark.parametrize("session", ["ann", None])
async def test_a_gate_is_passed_with_the_same_identity(drive, session):
    async with drive(GatedSite(), proxies=2, spider=GatedSpider) as site:
        answer = await site.get("/ads", session=session)
        assert answer.body == b"inside\n"
        knock = site.requests[1]
        assert [(request.method, request.path) for request in site.requests] == [
            ("GET", "/ads"), ("POST", "/__rd_verify_abc?challenge=2"), ("GET", "/ads"),
        ]  # fmt: skip
        assert knock.header("referer") == "https://lab.example/ads"
        assert len({request.peer for request in site.requests}) == 1
        assert "fetchworker/rotated/meta" not in site.stats
        assert site.stats["fetchworker/gate/meta"] == 1
        if session:
            assert (await site.get("/more", session=session)).body == b"inside\n"
            assert len(site.requests) == 4, "who is in stays in"


@pytest.mark.parametrize("app", [GatedSite(jammed=True), GatedSite(refuse=True)])
async def test_a_gate_that_stays_shut_is_a_challenge(drive, app):
    async with drive(app, proxies=2, retries=1, spider=GatedSpider) as site:
        with pytest.raises(OutcomeError) as caught:
            await site.get("/ads", session="ann")
        assert caught.value.outcome == "challenge"
        assert site.stats["fetchworker/gate/meta"] == 2, "each identity tries once"


async def test_a_credential_is_on_the_wire_alone(drive, monkeypatch):
    monkeypatch.setenv("FETCHWORKER_META_ACCESS_TOKEN", TOKEN)

    seen = []

    def app(request):
        if request.route == "/away":
            return redirect("https://other.example/there")
        seen.append(request.header("authorization"))
        return text("data\n")

    async with drive(app, spider=GatedSpider) as site:
        answer = await site.get("/api", meta=SECRET)
        assert seen == [f"Bearer {TOKEN}"]
        assert TOKEN not in str(answer.request.headers) + str(answer.request.meta) + repr(answer.meta[WIRE])
        assert b"Authorization" not in answer.request.headers
        await site.get("/away", meta=SECRET)
        assert seen[1:] == [None], "another host gets none"


async def test_a_credential_that_is_missing_stops_the_request(drive):
    async with drive(lambda request: text("data\n"), spider=GatedSpider) as site:
        with pytest.raises(ConfigError, match="FETCHWORKER_META_ACCESS_TOKEN is not set"):
            await site.get("/api", meta=SECRET)
        assert site.requests == []
