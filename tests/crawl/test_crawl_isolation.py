"""Identities share nothing that a site could see: no connection and no TLS ticket, whatever happens on the way."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from curl_cffi.requests import AsyncSession

from fetchworker.demo.lab import lab_app, text
from fetchworker.demo.log import shared_between_identities

pytestmark = pytest.mark.slow
NAMES = ("ann", "bob", "cyd")


class Doorkeeper:
    """Knows members by a header on all their requests, gives guests a name by a cookie, refuses each of them once."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.guests = 0
        self.refused: Counter[str] = Counter()

    def __call__(self, request: Any) -> Any:
        name = request.header("x-member") or request.cookies().get("who")
        new = name is None
        if name is None:
            self.guests += 1
            name = f"guest{self.guests}"
        # a block changes the identity behind a name, and with it the exit
        self.names[id(request)] = f"{name} by {request.peer}"
        reply = self.answer(request, name)
        if new:
            reply.headers = [*reply.headers, ("set-cookie", f"who={name}; Path=/")]
        return reply

    def answer(self, request: Any, name: str) -> Any:
        if request.route == "/blocked-once" and self.refused[name] < 1:
            self.refused[name] += 1
            return text("no\n", 403)
        return text("come in\n") if request.route == "/blocked-once" else lab_app(request)

    def records(self, log: Any) -> list[dict[str, Any]]:
        connections = [connection.record() for connection in log.connections]
        return connections + [{**request.record(), "who": self.names[id(request)]} for request in log.requests]


def who(record: dict[str, Any]) -> str:
    return record["who"]


@pytest.fixture
def house(make_lab):
    # connections that end after three requests make clients come back with their tickets
    lab = make_lab(goaway_after=3)
    lab.app = Doorkeeper()
    return lab


def seeds() -> list[dict[str, Any]]:
    paths = [
        "/cookies/chain",
        "/cookies/needed",
        "/blocked-once",
        "/redirect/3",
        "/redirect-to?url=https://other.example/echo",
        *(f"/echo?{number}" for number in range(4)),
    ]
    made: list[dict[str, Any]] = []
    for path in paths:
        url = f"https://lab.example{path}"
        made += [{"url": url, "session": name, "headers": {"X-Member": name}} for name in NAMES]
        made.append({"url": f"{url}{'&' if '?' in path else '?'}stateless"})
    return made


def test_sessions_and_stateless_tries_share_nothing(serve, project, house, sites):
    project.use(house)
    sites(retries=6, proxy="required")
    crawl = serve(*seeds())
    # a stateless try comes as somebody else each time: never with a cookie of the last try, always a stranger
    failed = [failure["url"].rpartition("/")[2] for failure in crawl.failed]
    assert {"needed?stateless", "blocked-once?stateless"} <= set(failed)
    # a member may be somebody else by then too: an exit that rests is left
    assert set(failed) <= {"needed?stateless", "blocked-once?stateless", "needed"}
    assert len(crawl.items) == len(seeds()) - len(failed)

    records = house.app.records(house.server.log)
    assert shared_between_identities(records, who) == []
    told = Counter(record["who"].split()[0] for record in records if record["type"] == "request")
    assert all(told[name] > 12 for name in NAMES)
    assert sum(name.startswith("guest") for name in told) > 10
    connections = {record["connection"]: record for record in records if record["type"] == "connection"}
    assert any(connection["offered"] for connection in connections.values()), "tickets were in play"
    for record in records:
        if record["type"] == "request" and record["who"].startswith("guest"):
            connection = connections[record["connection"]]
            assert connection["offered"] == []
            assert not connection["resumed"]


async def test_the_check_finds_what_a_shared_client_ties_together(house):
    url = f"https://localhost:{house.server.port}/echo"
    async with AsyncSession(impersonate="chrome", verify=house.ca) as client:
        for number in range(8):
            await client.get(url, headers={"X-Member": NAMES[number % 2]})
    findings = shared_between_identities(house.app.records(house.server.log), who)
    assert any("served" in finding for finding in findings), "two identities on one connection"


async def test_the_check_finds_a_ticket_that_went_from_hand_to_hand(house):
    url = f"https://localhost:{house.server.port}/echo"
    async with AsyncSession(impersonate="chrome", verify=house.ca) as client:
        for number in range(6):  # three requests each: then the server ends the connection
            await client.get(url, headers={"X-Member": NAMES[number // 3]})
    findings = shared_between_identities(house.app.records(house.server.log), who)
    assert [finding for finding in findings if "ticket" in finding], findings
