"""What the site's refusals are taken for: the demo's own pages, and answers as they come."""

from __future__ import annotations

import pytest

from fetchworker.contracts import Page
from fetchworker.demo import Log, RequestInfo
from fetchworker.demo.facebook import CLOSED_PHOTO, Facebook
from fetchworker.outcomes import Outcome, classify

HOME = "https://www.facebook.com"


def get(app, url, *, peer="127.0.0.11", cookies="", method="GET", body=b"", headers=()):
    host, _, path = url.removeprefix("https://").partition("/")
    sent = [(":method", method), *(([("cookie", cookies)]) if cookies else []), *headers]
    connection = Log().new_connection((peer, 1), secure=True)
    return app(RequestInfo(connection, 1, method, host, f"/{path}", sent, body))


def judged(url, reply):
    headers: dict[str, list[str]] = {}
    for name, value in reply.headers:
        headers.setdefault(name, []).append(value)
    return classify(Page(url, reply.status, headers, reply.body), site="facebook", request_url=url).outcome


@pytest.mark.parametrize(
    "path",
    [
        "mossandmortar",
        "profile.php?id=100000000000102",
        "groups/kilnfriends/",
        "events/8300000000000101/",
        "mossandmortar/events",
        "mossandmortar/posts/8100000000000103",
        "photo/?fbid=8600000000000103",
        "watch/?v=8400000000000101",
        "reel/8400000000000102/",
        "login/",
    ],
)
def test_served_pages_are_ok(path):
    assert judged(f"{HOME}/{path}", get(Facebook(), f"{HOME}/{path}")) is Outcome.OK


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        (f"{HOME}/nobody.of.this.name", Outcome.NOT_FOUND),
        (f"{HOME}/events/5/", Outcome.NOT_FOUND),
        (f"{HOME}/groups/nobodys", Outcome.NOT_FOUND),
        (f"{HOME}/photo/?fbid={CLOSED_PHOTO}", Outcome.RATE_LIMITED),
        ("https://m.facebook.com/mossandmortar", Outcome.LOGIN_WALL),
    ],
)
def test_what_is_not_served(url, outcome):
    assert judged(url, get(Facebook(), url)) is outcome


def test_refusals_of_addresses_and_identities():
    app = Facebook(block_exits=True, wall_after=1)
    url = f"{HOME}/mossandmortar"
    assert judged(url, get(app, url)) is Outcome.RATE_LIMITED
    assert judged(url, get(app, url, cookies="datr=a")) is Outcome.OK
    assert judged(url, get(app, url, cookies="datr=a")) is Outcome.LOGIN_WALL


def test_stale_ids_and_tokens_are_nobodys_fault():
    app, url = Facebook(), f"{HOME}/api/graphql/"
    headers = [("x-fb-lsd", app.lsd("a"))]
    good = f"lsd={app.lsd('a')}&doc_id={app.doc_id('CometPhotoRootContentQuery')}&variables="
    for body in (b"lsd=x", f"lsd={app.lsd('a')}&doc_id=1".encode(), good.encode()):
        reply = get(app, url, method="POST", body=body, headers=headers, cookies="datr=a")
        assert judged(url, reply) is Outcome.STALE_CONTRACT
    missing = (good + "%7B%22nodeID%22%3A%225%22%7D").encode()
    assert (
        judged(url, get(app, url, method="POST", body=missing, headers=headers, cookies="datr=a")) is Outcome.NOT_FOUND
    )
