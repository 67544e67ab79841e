"""Exits of a country: which entries give them, and how they are known again."""

from __future__ import annotations

import pytest

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies import ProxyManager, country_wanted, in_country, parse_proxies
from fetchworker.proxies.gateway import ExitId
from fetchworker.sessions.poolkeys import check_jar, country_jar, country_of, jar_of, new_id

LIST = [
    {"url": "http://ann:pw@se.example:80", "country": "se", "tier": "datacenter"},
    {"url": "http://ann:pw@none.example:80"},
    "evomi://ann:Zq9@residential",
    "evomi://ann:Zq9@residential?country=FR",
]


@pytest.fixture
def manager():
    return ProxyManager(parse_proxies(LIST, source="here"))


def picked(manager, country, **more):
    return [manager.pick("shop", country=country, **more) for _ in range(6)]


def test_only_exits_of_the_country_are_picked(manager):
    assert {(proxy.provider, proxy.country) for proxy in picked(manager, "SE")} == {("static", "SE"), ("evomi", "SE")}
    assert {(proxy.provider, proxy.country) for proxy in picked(manager, "FR")} == {("evomi", "FR")}
    assert {proxy.country for proxy in picked(manager, "SE", tier="datacenter")} == {"SE"}
    assert picked(manager, "FR", tier="datacenter")[0] is None
    assert manager.serves("DE")
    assert not manager.serves("DE", ("datacenter",))
    assert manager.any_usable("shop", ("datacenter",), country="SE")
    assert manager.next_available_in("shop", ("datacenter",), country="DE") is None


def test_who_asks_for_none_may_have_any(manager):
    assert {proxy.country for proxy in picked(manager, None)} >= {None, "SE", "FR"}


def test_a_gateway_is_told_the_country_and_its_exits_are_made_again(manager):
    ids = {proxy.id for proxy in picked(manager, "DE")}
    assert all(country_wanted(one) == "DE" for one in ids)
    other = ProxyManager(parse_proxies(LIST, source="here"))  # another process, with the same list
    for one in ids:
        assert other.get(one).password.get_secret_value().startswith("Zq9_country-DE_session-")
        assert str(ExitId.read(one)) == one
        assert other.usable(one, "shop")


def test_an_id_for_another_country_than_the_entrys_is_nobodys(manager):
    swedish = next(proxy for proxy in manager if proxy.country == "SE")
    bound = next(entry.id for entry in manager if entry.country == "FR")
    french = next(one for one in picked(manager, "FR") if ExitId.read(one.id).gateway == bound)
    assert manager.get(in_country(swedish.id, "SE")) is swedish
    assert manager.get(in_country(swedish.id, "DE")) is None
    for wrong in ("DE", "XX", "_session-x"):
        assert manager.get(f"{french.id.partition('@')[0]}@{wrong}") is None


def test_a_rest_is_that_of_the_entry_whatever_it_was_chosen_for(manager):
    swedish = next(proxy for proxy in manager if proxy.country == "SE")
    manager.report(swedish.id, "shop", "blocked")
    assert manager.rests_for(in_country(swedish.id, "SE"), "shop") > 0
    assert {proxy.provider for proxy in picked(manager, "SE")} == {"evomi"}


def test_the_country_of_an_entry_is_a_code():
    with pytest.raises(ProxyConfigError, match="did you mean GB"):
        parse_proxies([{"host": "a.example", "port": 80, "country": "UK"}], source="here")


@pytest.mark.parametrize("jar", ["main", "checkout_of_long_names_x", "a"])
def test_a_jar_of_a_country_tells_it(jar):
    assert country_jar(jar, None) == jar
    name = new_id(check_jar(country_jar(jar, "DE")))
    assert country_of(name) == "DE"
    assert country_of(new_id(jar)) is None
    assert jar_of(name) != jar_of(new_id(country_jar(jar, "FR")))
    assert country_of("somebody_in_de") is None
