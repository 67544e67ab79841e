"""Whose bytes a transfer's are, by its request, its proxy and its end."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, DownloadTimeoutError, ResponseDataLossError
from scrapy.http.request import NO_CALLBACK

from fetchworker.download.charging import end_of, open_charge, operation_of
from fetchworker.download.wire import Wire
from fetchworker.errors import ProxyAuthError, ProxyFailedError
from fetchworker.proxies import parse_proxies
from fetchworker.sessions import Session
from fetchworker.usage import Keeper, Ledger

URL = "https://site.example/"
CALL = {"operation": "profile", "params": {}}


@pytest.mark.parametrize(
    ("request_", "operation"),
    [
        (Request(URL, meta={"fw_call": CALL}), "profile"),
        (Request(f"{URL}robots.txt", callback=NO_CALLBACK), "robots"),
        (Request(f"{URL}a.jpg", callback=NO_CALLBACK, meta={"fw_media": True}), "media"),
        (Request(URL, meta={"fw_warmup": True}), "warmup"),
        (Request(URL, meta={"fw_warmup": True}, callback=NO_CALLBACK), "robots"),
        (Request(URL), "-"),
        (Request(URL, meta={"fw_call": "odd"}), "-"),
        (Request(URL, meta={"fw_call": {}}), "-"),
    ],
)
def test_operations(request_, operation):
    assert operation_of(request_) == operation


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ProxyAuthError("407"), "proxy_auth"),
        (ProxyFailedError("no tunnel"), "proxy_failed"),
        (DownloadTimeoutError(), "timeout"),
        (ResponseDataLossError(), "data_loss"),
        (DownloadCancelledError(), "aborted"),
        (DownloadFailedError(), "failed"),
        (asyncio.CancelledError(), "cancelled"),
        (KeyError(), "failed"),
    ],
)
def test_ends(error, outcome):
    assert end_of(error) == outcome


@pytest.mark.parametrize(
    ("proxy", "told"),
    [
        (None, ("direct", "-")),
        ("http://u:secret@proxy.example:1", ("static", "-")),
        (
            {"url": "http://u:secret@proxy.example:1", "provider": "evomi", "tier": "residential"},
            ("evomi", "residential"),
        ),
    ],
)
def test_proxies_and_sessions(proxy, told):
    usage = Keeper(Ledger(), None, lambda *_: None, site="site")
    found = parse_proxies([proxy], source="test")[0] if proxy else None
    charge = open_charge(usage, "site", Request(URL, meta={"fw_session": "ann"}), found)
    session = Session.fresh("ann", "site", profile="chrome", proxy_id=None, now=0, stored=True)
    wire = Wire(session=session, client=None, charge=charge)
    charge.add(1, 2)
    charge.end("unjudged")
    wire.judge("blocked")
    wire.judge("ok")
    account = usage.told()
    ((at, used),) = usage.ledger.drain().items()
    assert (at.key.provider, at.key.tier) == told
    assert (at.key.session, at.key.outcome, used.total) == ("ann", "blocked", 3)
    sums = {"provider": told[0], "tier": told[1], "requests": 1, "bytes_up": 1, "bytes_down": 2}
    out = {"exit": f"{told[0]}:proxy.example:1" if proxy else None, "country": None, "exits": 1 if proxy else 0}
    assert account == {
        "site": "site",
        "costs": [{**sums, "operation": "-", "browser_ms": 0}],
        "sessions": [{**sums, **out, "session_id": "ann", "outcomes": {"blocked": 1}}],
    }
    assert "secret" not in str(account)
