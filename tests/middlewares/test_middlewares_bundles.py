"""Ids of stored queries out of a site's script files: when they are needed, once, by the same identity."""

from __future__ import annotations

import asyncio

import pytest

from fetchworker.contracts import Fetch, Scripts
from fetchworker.demo.lab import as_json, text
from fetchworker.demo.model import Reply
from fetchworker.errors import OutcomeError
from fetchworker.middlewares import bundles

OLD = "1111"
FORM = {"fw_token_form": {"id": ["doc:Ask", OLD]}}
PAGE = "https://lab.example/page"


class QuerySite:
    """Takes one id for its query, which the last of its scripts tells."""

    def __init__(self) -> None:
        self.number = "2222"
        self.scripts = ["a", "b", "c", "d"]
        self.broken: set[str] = set()
        self.code = 1675002
        self.page = ""

    def __call__(self, request):
        match request.route.strip("/").split("/"):
            case ["tokens"]:
                return text("lsd: x\n", headers=[("set-cookie", "guest=1; Path=/")])
            case ["page"]:
                return text(self.page + "\n".join(f"script https://lab.example/js/{name}" for name in self.scripts))
            case ["js", name]:
                told = f"doc:Ask: {self.number}\n" if name == self.scripts[-1] else "doc:Other: 9\n"
                return Reply(500) if name in self.broken else text(told)
        if request.form().get("id") == self.number:
            return text("data\n")
        if self.code == 1357004:
            return as_json({"error": self.code, "errorSummary": "Please reload"})
        return as_json({"errors": [{"message": "a retired id", "code": self.code}], "data": None})


def addresses(page):
    return [line.partition(" ")[2] for line in page.body.decode().splitlines() if line.startswith("script ")]


def told(body):
    return dict(line.split(": ") for line in body.decode().splitlines() if line.startswith("doc:"))


@pytest.fixture
def spider(driven):
    class QuerySpider(driven):
        name = "instagram"
        warmup = Fetch("warmup", "https://lab.example/tokens", harvest=True)
        scripts = Scripts(addresses, told, "doc:", frozenset({"meta_incorrect_query"}))

    return QuerySpider


async def ask(site, session=None):
    meta = {**FORM, "fw_referer": PAGE, "fw_destination": "xhr"}
    return await site.get("/api", method="POST", body=b"a=1", meta=meta, session=session)


def read(site):
    return [path.removeprefix("/js/") for path in site.paths if path.startswith("/js/")]


@pytest.mark.parametrize("session", ["ann", None], ids=["stored", "fresh"])
async def test_the_scripts_tell_the_id_and_the_identity_stays(drive, spider, session):
    async with drive(QuerySite(), spider=spider, proxies=2) as site:
        answer = await ask(site, session)
        assert answer.body == b"data\n"
        assert read(site) == ["a", "b", "c", "d"]
        tries = site.requests if session else site.requests[1:]  # without a name each try is somebody else's
        assert len({request.peer for request in tries}) == 1
        assert not any(name.startswith("fetchworker/rotated") for name in site.stats)
        assert site.in_use() == 0


async def test_other_sessions_of_the_process_ask_with_the_new_id_at_once(drive, spider):
    async with drive(QuerySite(), spider=spider) as site:
        await asyncio.gather(*(ask(site, name) for name in ("ann", "bob", "eve")))
        assert read(site) == ["a", "b", "c", "d"]
        before = len(site.paths)
        await ask(site, "dan")
        assert site.paths[before:] == ["/api"]
        assert (await site.stored("dan")).tokens["doc:Ask"] == "2222"


async def test_an_id_that_changes_again_is_read_from_the_scripts_that_are_new(drive, spider):
    app = QuerySite()
    async with drive(app, spider=spider) as site:
        await ask(site, "ann")
        app.number, app.scripts = "3333", ["a", "b", "e"]
        assert (await ask(site, "ann")).body == b"data\n"
        assert read(site) == ["a", "b", "c", "d", "e"]


async def test_a_page_that_tells_the_id_needs_no_scripts(drive, spider):
    app = QuerySite()
    app.page = "doc:Ask: 2222\n"
    async with drive(app, spider=spider) as site:
        assert (await ask(site, "ann")).body == b"data\n"
        assert read(site) == []


async def test_a_contract_that_is_stale_for_another_reason_costs_no_scripts(drive, spider):
    app = QuerySite()
    app.code = 1357004
    async with drive(app, spider=spider) as site:
        with pytest.raises(OutcomeError, match="stale_contract"):
            await ask(site, "ann")
        assert "/page" not in site.paths


async def test_what_is_not_found_rests_and_fails_as_stale(drive, spider):
    app = QuerySite()
    app.number, app.scripts = "none of these", ["a", "b"]
    app.broken = {"b"}
    async with drive(app, spider=spider, retries=0, proxies=1) as site:
        for name in ("ann", "bob"):
            with pytest.raises(OutcomeError, match="stale_contract"):
                await ask(site, name)
        assert read(site) == ["a", "b"]
        assert site.paths.count("/page") == 1
        assert not any(name.startswith("fetchworker/rotated") for name in site.stats)


async def test_no_more_scripts_than_the_most_at_a_time(drive, spider, monkeypatch):
    monkeypatch.setattr(bundles, "MOST_SCRIPTS", 2)
    async with drive(QuerySite(), spider=spider) as site:
        with pytest.raises(OutcomeError):
            await ask(site, "ann")
        assert read(site) == ["a", "b"]
