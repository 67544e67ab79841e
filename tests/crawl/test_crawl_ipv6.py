"""Proxies at an IPv6 address, in a crawl: an entry of the list, a connection, credentials, its label."""

from __future__ import annotations

import os
import socket

import pytest

pytestmark = pytest.mark.slow
URL = "https://lab.example"


@pytest.fixture(autouse=True)
def _ipv6():
    try:
        with socket.socket(socket.AF_INET6) as place:
            place.bind(("::1", 0))
    except OSError as exc:
        if os.environ.get("TESTS_REQUIRE_ALL"):
            pytest.fail(f"IPv6 is required here: {exc}")
        pytest.skip(f"no IPv6 at the loopback: {exc}")


@pytest.fixture(params=["http", "https", "socks5"])
def exit_(request, make_lab, project):
    """A site behind one proxy at [::1]."""
    lab = make_lab(proxies=0)
    proxy = lab.add_proxy(
        scheme=request.param, address="::1", source="127.0.0.31", username="us%er", password="p@:ss/w"
    )
    project.use(lab)
    return lab, proxy


def test_requests_go_by_it_with_its_credentials(serve, sites, exit_):
    lab, _ = exit_
    sites(proxy="required")
    crawl = serve({"url": f"{URL}/headers", "session": "ann"}, f"{URL}/headers", "http://lab.example/headers")
    assert len(crawl.items) == 3, (crawl.failed, crawl.log)
    assert {request.peer for request in lab.requests} == {"127.0.0.31"}
    tunnels = lab.log("proxy")
    assert {(tunnel["user"], tunnel["status"]) for tunnel in tunnels} == {("us%er", 200)}
    assert {tunnel["target"] for tunnel in tunnels} == {"lab.example:443", "lab.example:80"}
    assert "p@:ss/w" not in crawl.log


def test_wrong_credentials_are_told_by_its_label(serve, sites, exit_, project):
    lab, proxy = exit_
    sites(proxy="required")
    project.env["FETCHWORKER_PROXIES"] = proxy.url_for("us%er", "wrong-password-1")
    crawl = serve(f"{URL}/headers")
    assert (crawl.items, lab.requests) == ([], [])
    assert f"[::1]:{proxy.port}" in crawl.log
    assert "wrong-password-1" not in crawl.log


def test_the_doctor_goes_by_it(exit_, project):
    lab, _ = exit_
    done = project.scrapy("doctor", "--text")
    assert "1 of 1 configured let us through" in done.stdout, done.stdout
    assert [tunnel["status"] for tunnel in lab.log("proxy")] == [200]
