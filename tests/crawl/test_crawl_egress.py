"""Crawls that are told to go inside: a failure that says so, and not one request."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

pytestmark = pytest.mark.slow
URL = "https://lab.example"
METADATA = "http://169.254.169.254/latest/meta-data/"


@pytest.fixture
def trap():
    """A listener on 127.0.0.1 that nobody may connect to."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        listener.setblocking(False)
        yield listener


def untouched(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return True
    return False


def told(failure: dict) -> tuple[str, str, str, int]:
    return failure["type"], failure["layer"], failure["reason"], failure["attempts"]


@pytest.mark.parametrize("way", ["preferred", "none"])
@pytest.mark.parametrize("robots", ["obey", "ignore"])
def test_an_address_inside_is_a_failure_and_no_request(fetch, lab, sites, way, robots):
    sites(proxy=way, robots=robots)
    crawl = fetch(METADATA)
    assert (crawl.items, crawl.code) == ([], 1)
    assert [told(failure) for failure in crawl.failed] == [("EGRESS_DENIED", "url", "metadata", 1)]
    assert crawl.failed[0]["url"] == METADATA
    assert crawl.failed[0]["params"] == {"url": METADATA}
    assert lab.server.log.records() == [], "neither the site nor a proxy has seen anything"
    assert "fetchworker/egress/url/metadata': 1" in crawl.log


@pytest.mark.parametrize("way", ["preferred", "none"])
def test_a_redirect_does_not_lead_inside(serve, lab, sites, trap, way):
    sites(proxy=way)
    port = trap.getsockname()[1]
    places = {
        f"http://127.0.0.1:{port}/": "loopback",
        f"http://localhost:{port}/": "special_name",
        f"http://0x7f.1:{port}/": "numeral",
        f"http://[::ffff:127.0.0.1]:{port}/": "loopback",
        METADATA: "metadata",
    }
    crawl = serve(
        *({"url": f"{URL}/redirect-to?url={place}", "session": "one"} for place in places),
        *(f"{URL}/redirect-to?url={URL}/redirect-to?url={place}" for place in places),
        {"url": f"{URL}/echo", "session": "one"},
    )
    assert [item["url"] for item in crawl.items] == [f"{URL}/echo"], "the session goes on"
    expected = [("EGRESS_DENIED", "url", reason, 1) for reason in places.values()]
    assert sorted(map(told, crawl.failed)) == sorted(expected * 2)
    assert untouched(trap)
    assert len(lab.requests) == 3 * len(places) + 1
    assert [record["target"] for record in lab.log("proxy") if "lab.example" not in record["target"]] == []


def test_hosts_that_a_site_does_not_list_are_refused_alike(fetch, lab, sites):
    sites(allowed_hosts=["lab.example"])
    crawl = fetch("https://other.example/echo")
    assert [told(failure) for failure in crawl.failed] == [("EGRESS_DENIED", "url", "other_host", 1)]
    assert lab.server.log.records() == []


def test_the_list_opens_what_it_names(fetch, lab, sites, project):
    sites(proxy="none", robots="obey")
    project.env["FETCHWORKER_HOST_MAP"] = "{}"
    address = f"127.0.0.1:{lab.server.http_port}"
    refused = fetch(f"http://{address}/echo")
    assert [told(failure) for failure in refused.failed] == [("EGRESS_DENIED", "url", "loopback", 1)]
    assert lab.requests == []
    project.env["FETCHWORKER_EGRESS_ALLOW"] = address
    assert fetch(f"http://{address}/echo").item["status"] == 200
    assert lab.paths == ["/echo"]
