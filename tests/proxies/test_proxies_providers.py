"""What a provider's gateway is told, and that nothing else can get in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.countries import CODES, country_code
from fetchworker.proxies.parse import parse_proxies
from fetchworker.proxies.providers import Wish, credentials, fresh_token, product_of, products, read_credentials

ALL = [product for of_one in products().values() for product in of_one.values()]
each = st.sampled_from(ALL)
accounts = st.text("abcXYZ019.~!", min_size=1, max_size=20)


def written(product, wish, user="ann", password="Zq9"):
    username, secret = credentials(product, user, SecretStr(password), wish)
    return username, secret.get_secret_value()


@st.composite
def wishes(draw, product):
    token = draw(st.none() | st.builds(lambda: fresh_token(product)))
    minutes = draw(st.none() | st.integers(1, product.syntax.lifetime_max)) if token else None
    return Wish(draw(st.none() | st.sampled_from(sorted(CODES))), token, minutes)


@settings(deadline=None)
@given(st.data(), each, accounts, accounts)
def test_what_is_asked_for_is_what_a_gateway_reads(data, product, user, password):
    wish = data.draw(wishes(product))
    told = read_credentials(product, *written(product, wish, user, password))
    assert (told.username, told.password, told.wish) == (user.removeprefix(product.syntax.prefix), password, wish)


@settings(deadline=None)
@given(each, st.text(max_size=12))
def test_no_other_text_passes_for_a_country(product, text):
    if text.upper() in CODES and text.isascii():
        assert country_code(text) == text.upper()
        return
    with pytest.raises(ProxyConfigError, match="two letters"):
        written(product, Wish(country=text))


@settings(deadline=None)
@given(each, st.text(max_size=40))
def test_no_other_text_passes_for_a_token(product, text):
    if re.fullmatch(rf"[a-z0-9]{{{product.syntax.token_length}}}", text):
        return
    with pytest.raises(ProxyConfigError, match="token"):
        written(product, Wish(token=text))


@settings(deadline=None)
@given(each, st.integers().filter(lambda number: not 1 <= number <= 120))
def test_no_provider_is_asked_for_longer_than_it_gives(product, minutes):
    if 0 < minutes <= product.syntax.lifetime_max:
        return
    with pytest.raises(ProxyConfigError, match="minutes"):
        written(product, Wish(token=fresh_token(product), minutes=minutes))


def test_the_syntax_of_both_providers():
    evomi = Wish("de", "k3v9x2m1qa", 30)
    assert written(product_of("evomi", "residential"), evomi) == (
        "ann",
        "Zq9_country-DE_session-k3v9x2m1qa_lifetime-30",
    )
    decodo = Wish("DE", "k3v9x2m1qak3v9x2", 30)
    assert written(product_of("decodo", "residential"), decodo) == (
        "user-ann-country-de-session-k3v9x2m1qak3v9x2-sessionduration-30",
        "Zq9",
    )
    assert written(product_of("decodo", "datacenter"), Wish(), user="user-ann") == ("user-ann", "Zq9")


@pytest.mark.parametrize("product", ALL, ids=lambda product: f"{product.provider}-{product.name}")
def test_every_product_says_where_it_is_written(product):
    assert product.source.startswith("https://")
    assert product.seen.year >= 2026
    assert "http" in product.endpoints
    assert product.syntax.lifetime_default <= product.syntax.lifetime_max


def test_there_are_the_five_products():
    told = {(product.provider, product.name, product.tier) for product in ALL}
    assert told == {
        ("evomi", "residential", "residential"),
        ("evomi", "core_residential", "core_residential"),
        ("evomi", "datacenter", "datacenter"),
        ("decodo", "residential", "residential"),
        ("decodo", "datacenter", "datacenter"),
    }


def test_two_tokens_are_never_the_same():
    tokens = [fresh_token(ALL[0]) for _ in range(10_000)]
    assert len(set(tokens)) == len(tokens)


# ── in a list ────────────────────────────────────────────────────────────────────────────────────────────────────────

ENV = {"evomi": ("ann", SecretStr("Zq9-env")), "decodo": (None, None)}


def entry(value, accounts=ENV):
    (proxy,) = parse_proxies(value, source="here", accounts=accounts)
    return proxy


def test_an_entry_names_a_product_and_takes_the_environments_account():
    proxy = entry("evomi://residential?country=de&lifetime=90")
    assert (proxy.label, proxy.tier, proxy.country) == ("evomi:rp.evomi.com:1000", "residential", "DE")
    assert (proxy.gateway.minutes, proxy.username) == (90, "ann")
    assert proxy.password.get_secret_value() == "Zq9-env_country-DE"
    assert "Zq9" not in repr(proxy) + repr(proxy.gateway) + str(proxy) + proxy.id


def test_an_entry_brings_its_own_account_place_and_tier():
    told = {
        "provider": "decodo", "product": "datacenter", "username": "bob", "password": "p@ss:Zq9", "lifetime": 5,
        "scheme": "socks5", "tier": "cheap", "endpoint": "127.0.0.1:99", "after": "keep", "tags": ["night"],
    }  # fmt: skip
    proxy = entry(told)
    assert (proxy.scheme, proxy.address, proxy.tier, proxy.tags) == ("socks5h", "127.0.0.1:99", "cheap", {"night"})
    assert (proxy.username, proxy.password.get_secret_value()) == ("user-bob", "p@ss:Zq9")
    same = entry(
        "decodo://bob:p%40ss%3AZq9@datacenter?lifetime=5&scheme=socks5&tier=cheap&endpoint=127.0.0.1:99&after=keep"
    )
    assert same.id == proxy.id
    assert same.same_endpoint(proxy)


def test_a_new_password_leaves_the_gateways_name():
    first, second = (entry("evomi://residential", {"evomi": ("ann", SecretStr(word))}) for word in ("one", "two"))
    assert first.id == second.id
    assert not first.same_endpoint(second)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("evomi://mobil", "evomi has no such product; write one of residential, core_residential, datacenter"),
        ("decodo://residential", "set FETCHWORKER_DECODO_USERNAME and FETCHWORKER_DECODO_PASSWORD"),
        ("evomi://residential?country=uk", "did you mean GB?"),
        ("evomi://residential?country=Germany", "none of the codes of ISO 3166-1"),
        ("evomi://residential?lifetime=121", "the lifetime is not a number of minutes from 1 to 120"),
        ("evomi://residential?lifetime=soon", "the lifetime is not a number of minutes"),
        ("evomi://residential?colour=Zq9", "an option is not known; write any of country"),
        ("evomi://residential?country=DE&country=FR", "the country is given twice"),
        ("evomi://ann:Zq9_country-DE@residential", "the password carries parameters"),
        ("decodo://ann-session-1:Zq9@residential", "the username carries parameters"),
        ("evomi://core_residential?scheme=https", "evomi names no https endpoint"),
        ("evomi://ann:Zq9", "evomi has no such product"),
        ("evomi://ann:se@Zq9", "evomi has no such product"),
        ("evomi://residential?endpoint=Zq9", "the endpoint is not host:port"),
        ("evomi://residential?after=never", "after is not known; write one of rotate, keep"),
        ("evomi://residential?tier=a.b", "the tier is no word"),
        ({"provider": "evomi", "product": "residential", "country": False}, "put it in quotes"),
        ({"provider": "evomi", "product": "residential", "host": "Zq9.example"}, "host has no place beside a product"),
        ({"provider": "acme", "product": "residential"}, "the provider is not known; write one of decodo, evomi"),
        ({"host": "a.example", "port": 1, "lifetime": 5}, "lifetime is given without a product"),
    ],
)
def test_what_is_wrong_is_told_without_a_secret(value, told):
    with pytest.raises(ProxyConfigError) as caught:
        parse_proxies([value], source="here", accounts=ENV)
    assert told in caught.value.message
    assert caught.value.message.startswith("here entry 1 (")
    assert "Zq9" not in caught.value.message
