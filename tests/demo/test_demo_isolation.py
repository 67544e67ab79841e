"""The search for what ties identities together: each kind is found, and nothing else is."""

from __future__ import annotations

import pytest

from fetchworker.demo.isolation import IDENTITY, violations

HELLO = {
    "ciphers": [0x0A0A, 0x1301], "extensions": [0x1A1A, 0, 16, 41], "groups": [29], "signatures": [0x0403],
}  # fmt: skip


def request(identity, connection=1, *, peer="127.0.0.11", agent="Chrome", cookie=None, h2="1:65536"):
    headers = [(":path", "/"), (IDENTITY, identity), ("user-agent", agent)]
    headers += [("cookie", cookie)] if cookie else []
    return {"type": "request", "connection": connection, "peer": peer, "headers": headers, "h2": h2}


def connection(number, *, tickets=(), offered=(), **hello):
    told = {**HELLO, **hello}
    return {"type": "connection", "connection": number, "tickets": [*tickets], "offered": [*offered], "hello": told}


def test_two_who_share_nothing():
    records = [
        connection(1, tickets=["t1"]),
        connection(2, tickets=["t2"]),
        connection(3, offered=["t1"], ciphers=[0x3A3A, 0x1301], extensions=[16, 0, 0x5A5A]),
        request("ann", 1, cookie="mark1=ann; lang=en"),
        request("bob", 2, peer="127.0.0.12", cookie="mark1=bob"),
        request("ann", 3),
    ]
    assert violations(records) == []


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([connection(1), request("ann"), request("bob")], ["connection 1 served ['ann', 'bob']"]),
        (
            [connection(1, tickets=["t"]), connection(2, offered=["t"]), request("ann", 1), request("bob", 2)],
            ["connection 2 of ['bob'] offered a ticket of ['ann']"],
        ),
        ([connection(1), request("ann", cookie="a=1; mark3=bob")], ["ann sent a cookie of bob"]),
        (
            [connection(1), request("ann"), request("ann", peer="127.0.0.12")],
            ["ann had more than one exit: ['127.0.0.11', '127.0.0.12']"],
        ),
    ],
)
def test_what_ties_or_tears_is_told(records, told):
    assert violations(records) == told


@pytest.mark.parametrize(
    "other",
    [
        [connection(2), request("ann", 2, agent="Firefox")],
        [connection(2), request("ann", 2, h2="2:0")],
        [connection(2, ciphers=[0x1302]), request("ann", 2)],
        [connection(2, extensions=[0, 16, 51764]), request("ann", 2)],
        [connection(2, groups=[23]), request("ann", 2)],
    ],
)
def test_a_change_of_face_is_told(other):
    (found,) = violations([connection(1), request("ann"), *other])
    assert found.startswith("ann had more than one face")
