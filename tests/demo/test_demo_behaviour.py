from __future__ import annotations

from inspect import isawaitable
from typing import Any

import pytest

from fetchworker.demo import CALM, DEMO, Behaviour, BehaviourConfig, Log, Reply, RequestInfo


def app(_request: RequestInfo) -> Reply:
    return Reply(200, (), b"through")


class Site:
    def __init__(self, config: BehaviourConfig) -> None:
        self.log = Log()
        self.behaviour = Behaviour(app, config, self.log)

    async def ask(self, exit_: str = "127.0.0.11", mid: str | None = None, path: str = "/nasa/") -> Reply:
        connection = self.log.new_connection((exit_, 1), secure=True)
        headers = [("cookie", f"mid={mid}")] if mid else []
        answer = self.behaviour(RequestInfo(connection, 1, "GET", "www.instagram.com", path, headers))
        return await answer if isawaitable(answer) else answer

    async def statuses(self, times: int, **options: Any) -> list[int]:
        return [(await self.ask(**options)).status for _ in range(times)]


async def test_calm_lets_everybody_through() -> None:
    site = Site(CALM)
    assert await site.statuses(30, mid="a") == [200] * 30
    assert site.behaviour.counts == {"passed": 30}
    assert site.log.events == []


@pytest.mark.parametrize(("exits", "expected"), [(-1, [403, 403, 403]), (2, [403, 403, 200]), (0, [200, 200, 200])])
async def test_first_try_of_fresh_exits(exits: int, expected: list[int]) -> None:
    site = Site(BehaviourConfig(block_exits=exits))
    names = [f"127.0.0.{n}" for n in range(11, 14)]
    assert [(await site.ask(name)).status for name in names] == expected
    assert [(await site.ask(name)).status for name in names] == [200] * 3


async def test_the_block_page_looks_like_a_vendors() -> None:
    reply = await Site(BehaviourConfig(block_exits=-1)).ask()
    assert dict(reply.headers)["server"] == "AkamaiGHost"
    assert b"<TITLE>Access Denied</TITLE>" in bytes(reply.body)  # type: ignore[arg-type]
    assert b"Reference&#32;&#35;18" in bytes(reply.body)  # type: ignore[arg-type]


async def test_login_wall_after_some_hits_of_an_identity() -> None:
    site = Site(BehaviourConfig(wall_after=2))
    assert await site.statuses(4, mid="a") == [200, 200, 302, 302]
    assert await site.statuses(1, mid="b") == [200]
    assert await site.statuses(1, mid="a", exit_="127.0.0.12") == [200]
    assert await site.statuses(5) == [200] * 5
    reply = await site.ask(mid="a", path="/api/graphql?x=1")
    location = dict(reply.headers)["location"]
    assert location == "https://www.instagram.com/accounts/login/?next=%2Fapi%2Fgraphql%3Fx%3D1"
    assert (await site.ask(mid="a", path="/accounts/login/?next=%2F")).status == 200


async def test_one_of_each() -> None:
    config = BehaviourConfig(at_rate_limit=2, retry_after=7, at_slow=3, slow_seconds=0, at_bad_gateway=4)
    site = Site(config)
    replies = [await site.ask() for _ in range(6)]
    assert [reply.status for reply in replies] == [200, 429, 200, 502, 200, 200]
    assert dict(replies[1].headers)["retry-after"] == "7"
    assert site.behaviour.counts == {"passed": 6, "rate_limit": 1, "slow": 1, "bad_gateway": 1}
    assert [event["what"] for event in site.log.events] == ["rate_limit", "slow", "bad_gateway"]


async def test_the_demo_has_all_of_them_and_can_be_reset() -> None:
    site = Site(DEMO)
    site.behaviour.config = BehaviourConfig(**{**{n: getattr(DEMO, n) for n in DEMO.__slots__}, "slow_seconds": 0})
    first = [await site.statuses(12, mid=mid) for mid in ("a", "b")]
    assert site.behaviour.counts.keys() == {"block", "login_wall", "rate_limit", "slow", "bad_gateway", "passed"}
    site.behaviour.reset()
    assert [await site.statuses(12, mid=mid) for mid in ("a", "b")] == first
