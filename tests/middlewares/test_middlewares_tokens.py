"""Warm-ups of several visits, and tokens that a site computes rather than gives."""

from __future__ import annotations

from fetchworker.contracts import Fetch
from fetchworker.demo.lab import as_json, text

URL = "https://lab.example"


async def test_the_visits_of_an_address_are_made_in_their_order_by_one_identity(drive, driven):
    class Visiting(driven):
        @classmethod
        def visits(cls, url):
            asked = [Fetch("one", f"{URL}/one"), Fetch("two", f"{URL}/two", destination="xhr", referer=f"{URL}/one")]
            return asked if url.startswith(f"{URL}/api") else ()

    def app(request):
        if request.route == "/one":
            return text("no token here\n", headers=[("set-cookie", "guest=7; Path=/")])
        if request.route == "/two":
            return text(f"token: for {request.cookies().get('guest')}\n")
        return text(f"{request.header('x-token')}\n")

    async with drive(app, spider=Visiting) as site:
        answer = await site.get("/api", meta={"fw_token_headers": {"X-Token": ["token", None]}}, session="ann")
        assert answer.body == b"for 7\n"
        assert site.paths == ["/one", "/two", "/api"]
        assert site.requests[1].header("referer") == f"{URL}/one"
        plain = await site.get("/plain", meta={"fw_token_headers": {"X-Token": ["other", "its default"]}})
        assert plain.body == b"its default\n"
        assert site.paths[3:] == ["/plain"]


async def test_computed_tokens_belong_to_the_identity_and_need_no_visit(drive, driven):
    class Computing(driven):
        warmup = None
        compute_tokens = staticmethod(lambda identity, now: {"who": identity[:8], "now": str(now)})

    def app(request):
        return as_json({"who": request.header("x-who"), "now": int(request.header("x-now"))})

    meta = {"fw_token_headers": {"X-Who": ["who", None], "X-Now": ["now", None]}}
    async with drive(app, spider=Computing) as site:
        first, second = [await site.get("/api", meta=dict(meta), session="ann") for _ in range(2)]
        other = await site.get("/api", meta=dict(meta), session="ben")
        assert first.json()["who"] == second.json()["who"] != other.json()["who"]
        assert site.paths == ["/api"] * 3
        assert (await site.stored("ann")).tokens == {}, "they are made anew each time"
