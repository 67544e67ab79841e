"""What is public and what is not, by URL and by address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.config import destinations, port_ranges
from fetchworker.egress import REASONS, Decision, EgressPolicy, denied, special
from fetchworker.errors import EgressDeniedError

HERE = Path(__file__).parent
REFUSED = [
    (url.format(port=8099), reason)
    for reason, urls in yaml.safe_load((HERE / "refused.yaml").read_text()).items()
    for url in urls
]
ALLOWED = yaml.safe_load((HERE / "allowed.yaml").read_text())
POLICY = EgressPolicy()


@pytest.mark.parametrize(("url", "reason"), REFUSED)
def test_what_leads_inside_is_refused_by_its_url(url, reason):
    assert POLICY.classify(url) == Decision(allowed=False, reason=reason, layer="url")


@pytest.mark.parametrize("url", ALLOWED)
def test_public_look_alikes_are_not_refused(url):
    assert POLICY.classify(url) == Decision(allowed=True)


def test_the_tables_are_long_enough_and_every_reason_has_its_words():
    assert len(REFUSED) >= 60
    assert len(ALLOWED) >= 20
    assert {reason for _, reason in REFUSED} | {"other_host", "not_the_proxy", "error"} == set(REASONS)


# ── addresses ────────────────────────────────────────────────────────────────────────────────────────────────────────

SPECIAL = yaml.safe_load((HERE / "special.yaml").read_text())


def addresses_in(networks: list[str]) -> st.SearchStrategy:
    return st.sampled_from(networks).flatmap(lambda text: st.ip_addresses(network=ip_network(text)))


def in_special(address: IPv4Address) -> bool:
    return any(address in ip_network(text) for text in SPECIAL["ipv4"])


special_4 = addresses_in(SPECIAL["ipv4"])
public_4 = st.ip_addresses(v=4).filter(lambda address: not in_special(address) and str(address) != "168.63.129.16")


@given(special_4 | addresses_in(SPECIAL["ipv6"]))
def test_every_special_range_is_refused_whole(address):
    shown = f"[{address}]" if address.version == 6 else str(address)
    assert not POLICY.classify_address(address, 443).allowed
    assert not POLICY.classify(f"https://{shown}/").allowed


@given(public_4)
def test_what_is_in_no_special_range_is_allowed(address):
    assert POLICY.classify_address(str(address), 443).allowed
    assert POLICY.classify(f"http://{address}/").allowed


def forms(address: IPv4Address) -> dict[str, IPv6Address]:
    """Every form of IPv6 that carries an IPv4 address."""
    number, other = int(address), int(IPv4Address("8.8.8.8"))
    numbers = {
        "mapped": 0xFFFF << 32 | number,
        "compatible": number,
        "nat64": 0x64_FF9B << 96 | number,
        "6to4": 0x2002 << 112 | number << 80,
        "teredo server": 0x2001_0000 << 96 | number << 64 | (~other & 0xFFFF_FFFF),
        "teredo client": 0x2001_0000 << 96 | other << 64 | (~number & 0xFFFF_FFFF),
        "isatap": 0x2A00_1450 << 96 | 0x5EFE << 32 | number,
        "isatap, universal": 0x2A00_1450 << 96 | 0x0200_5EFE << 32 | number,
    }
    return {form: IPv6Address(number) for form, number in numbers.items()}


@given(special_4)
def test_a_special_address_is_refused_in_every_form_of_ipv6(address):
    assert {form: special(carrier) != "" for form, carrier in forms(address).items()} == dict.fromkeys(
        forms(address), True
    )


@given(public_4)
def test_a_public_address_is_allowed_in_every_form_of_ipv6(address):
    assert [form for form, carrier in forms(address).items() if special(carrier)] == []


@given(st.ip_addresses(v=6).filter(lambda address: address not in ip_network("2000::/3")))
def test_outside_of_global_unicast_only_translation_is_allowed(address):
    endings = [ip_network(text) for text in ("::ffff:0:0/96", "::/96", "64:ff9b::/96")]
    assert special(address) or any(address in network for network in endings)


# ── URLs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def number_spellings(number: int) -> st.SearchStrategy[str]:
    """Ways to write one number that programs read alike."""
    return st.sampled_from([str(number), f"{number:#x}", f"{number:#X}", f"0{number:o}", f"0x000{number:x}"])


@given(st.data(), special_4)
def test_no_spelling_of_a_special_address_passes(data, address):
    octets = address.packed
    kept = data.draw(st.integers(0, 3))
    parts = [*octets[:kept], int.from_bytes(octets[kept:], "big")]
    host = ".".join(data.draw(number_spellings(part)) for part in parts) + data.draw(st.sampled_from(["", "."]))
    assert not POLICY.classify(f"http://{host}/").allowed


@given(st.text(max_size=40), st.sampled_from(["http://", "https://", "http:", "", "HTTP://a.test\\", "http://u@"]))
def test_anything_at_all_gets_a_decision(text, start):
    decision = POLICY.classify(start + text)
    assert decision.allowed is not bool(decision.reason)
    assert decision.allowed or str(denied(decision, start + text))


@given(st.sampled_from(["localhost", "printer.local", "db.internal", "nas.lan", "x.home.arpa"]), st.data())
def test_no_letters_that_mean_the_same_hide_a_name(name, data):
    """Full-width, circled, squared and mathematical letters are read as plain ones by somebody."""
    offsets = {"full": 0xFF41, "circled": 0x24D0, "squared": 0x1F130, "bold": 0x1D41A, "script": 0x1D4EA}
    written = "".join(
        chr(offsets[data.draw(st.sampled_from(sorted(offsets)))] + ord(char) - ord("a"))
        if char.isalpha() and data.draw(st.booleans())
        else char
        for char in name
    )
    assert not POLICY.classify(f"http://{written}/").allowed


def test_decisions_are_kept_by_origin():
    policy = EgressPolicy()
    assert policy.classify("https://www.example.com/a") is policy.classify("https://www.example.com/b?c")


# ── what the operator allows ─────────────────────────────────────────────────────────────────────────────────────────


def allowing(text: str, ports: str = "80,443,1024-65535") -> EgressPolicy:
    return EgressPolicy(allow=destinations(text), ports=port_ranges(ports))


@pytest.mark.parametrize(
    ("allow", "good", "bad"),
    [
        ("127.0.0.1", "http://127.0.0.1:22/", "http://127.0.0.2/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8081/"),
        ("10.1.0.0/16", "http://10.1.2.3/", "http://10.2.0.1/"),
        ("[::1]:80", "http://[::1]/", "http://[::1]:8080/"),
        ("fd00::/8", "http://[fd12::1]/", "http://[fc00::1]/"),
        ("127.0.0.1", "http://①②⑦.0.0.1/", "http://[::ffff:127.0.0.1]/"),
        ("localhost", "http://LOCALHOST.:9/", "http://a.localhost/"),
        ("wiki:8080", "http://wiki:8080/", "http://wiki/"),
        ("*.corp", "http://a.b.corp/", "http://corp/"),
        ("*.corp:25", "http://a.corp:25/", "http://a.corp/"),
        ("metadata.goog", "http://metadata.goog/", "http://x.metadata.goog/"),
        ("shop.example.com:25", "http://shop.example.com:25/", "http://shop.example.com:26/"),
        ("0.0.0.0/0,::/0", "http://[fe80::1]:25/", "http://2130706433/"),
    ],
)
def test_listed_places_are_reached_and_no_others(allow, good, bad):
    policy = allowing(allow)
    assert policy.classify(good).allowed
    assert not policy.classify(bad).allowed
    assert not POLICY.classify(good).allowed


def test_only_names_that_are_listed_may_lead_anywhere():
    policy = allowing("wiki,127.0.0.1,*.corp.example")
    trusted = [policy.classify(f"http://{host}/").trusted for host in ("wiki", "a.corp.example")]
    assert trusted == [True, True]
    others = [policy.classify(f"http://{host}/") for host in ("127.0.0.1", "www.example.com")]
    assert [(decision.allowed, decision.trusted) for decision in others] == [(True, False)] * 2


def test_listed_addresses_are_reached_at_their_ports():
    policy = allowing("127.0.0.1:8080,10.0.0.0/8")
    asked = [("127.0.0.1", 8080), ("127.0.0.1", 80), ("10.9.9.9", 25), ("::ffff:10.0.0.1", 80)]
    assert [policy.classify_address(*place).allowed for place in asked] == [True, False, True, False]


@pytest.mark.parametrize(
    ("ports", "good", "bad"), [("443", 443, 80), ("1-65535", 25, 6000), ("80,8000-8010", 8010, 8011)]
)
def test_ports_are_a_setting(ports, good, bad):
    policy = allowing("", ports)
    assert policy.classify(f"https://www.example.com:{good}/").allowed
    assert policy.classify(f"https://www.example.com:{bad}/").reason == "port"
    assert policy.classify_address("8.8.8.8", good).allowed
    assert policy.classify_address("8.8.8.8", bad) == Decision(allowed=False, reason="port", layer="address")


def test_the_error_tells_the_layer_and_no_secret():
    error = denied(Decision(allowed=False, reason="userinfo"), "http://ann:geheim@www.example.com/path")
    assert isinstance(error, EgressDeniedError)
    assert (error.type, error.context) == ("EGRESS_DENIED", {"layer": "url", "reason": "userinfo"})
    assert str(error).startswith("www.example.com is not fetched: ")
    assert "geheim" not in str(error)


def test_the_text_names_no_address_that_a_name_led_to():
    decision = Decision(allowed=False, reason="private", layer="address")
    error = denied(decision, "http://a.example.com/", address="10.1.2.3")
    assert error.context == {"layer": "address", "reason": "private", "address": "10.1.2.3"}
    assert "10.1.2.3" not in str(error)


def test_addresses_may_be_given_as_text_or_parsed():
    assert POLICY.classify_address("8.8.8.8", 443) == POLICY.classify_address(ip_address("8.8.8.8"), 443)
