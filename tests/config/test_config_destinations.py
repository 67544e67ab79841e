from __future__ import annotations

from ipaddress import ip_network

import pytest

from fetchworker.config import Destination, destinations, load_environment, port_ranges
from fetchworker.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("wiki", ("wiki", None, None)),
        ("WIKI.Corp.Example.", ("wiki.corp.example", None, None)),
        ("*.corp.example:8080", ("*.corp.example", None, 8080)),
        ("127.0.0.1", (None, ip_network("127.0.0.1/32"), None)),
        ("127.0.0.1:8080", (None, ip_network("127.0.0.1/32"), 8080)),
        ("10.0.0.0/8", (None, ip_network("10.0.0.0/8"), None)),
        ("10.0.0.0/8:443", (None, ip_network("10.0.0.0/8"), 443)),
        ("::1", (None, ip_network("::1/128"), None)),
        ("[::1]", (None, ip_network("::1/128"), None)),
        ("[::1]:80", (None, ip_network("::1/128"), 80)),
        ("fd00::/8", (None, ip_network("fd00::/8"), None)),
    ],
)
def test_a_destination(text, read):
    assert destinations(text) == (Destination(*read),)


def test_a_list_has_commas_or_blanks():
    assert len(destinations(" a.example, b.example\n10.0.0.0/8\t::1,")) == 4
    assert destinations("  ") == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("10.0.0.1/8", "write 10.0.0.0/8"),
        ("a.example:0", "no port from 1 to 65535"),
        ("a.example:65536", "no port from 1 to 65535"),
        ("[::1]:", "no port from 1 to 65535"),
        ("[::1]x", "'[::1]x' is no host"),
        ("a..example", "'a..example' is no host"),
        ("*", "'*' is no host"),
        ("a.*.example", "is no host"),
        ("127.1", "'127.1' is no host"),
        ("bücher.example", "is no host"),
        ("http://ann:geheim@wiki/", "an entry is no host"),
        ("ann:geheim@wiki", "an entry"),
    ],
)
def test_what_is_none(text, told):
    with pytest.raises(ConfigError) as caught:
        load_environment({"FETCHWORKER_EGRESS_ALLOW": f"good.example,{text}"})
    assert str(caught.value).startswith("FETCHWORKER_EGRESS_ALLOW: ")
    assert told in str(caught.value)
    assert "geheim" not in str(caught.value)


def test_ports():
    assert port_ranges("80, 443 1024-65535") == ((80, 80), (443, 443), (1024, 65_535))
    for wrong in ("0", "http", "90-80", "1-65536", "-80", "80-", ""):
        with pytest.raises(ValueError, match="is no port"):
            port_ranges(wrong)


def test_the_environment_knows_all_that_is_let_through():
    environment = load_environment(
        {
            "FETCHWORKER_EGRESS_ALLOW": "wiki",
            "FETCHWORKER_EGRESS_PORTS": "443",
            "FETCHWORKER_HOST_MAP": '{"shop.example:443": "127.0.0.1:8443", "[::1]": "10.0.0.1:80"}',
        }
    )
    assert environment.egress_ports == ((443, 443),)
    assert environment.destinations() == destinations("wiki shop.example:443 127.0.0.1:8443 [::1] 10.0.0.1:80")


def test_a_host_map_names_hosts_that_there_can_be():
    with pytest.raises(ConfigError, match=r"FETCHWORKER_HOST_MAP: 'a\.\.example' is no host"):
        load_environment({"FETCHWORKER_HOST_MAP": '{"a..example": "127.0.0.1:80"}'})
