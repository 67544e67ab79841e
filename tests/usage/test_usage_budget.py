"""Budgets: how they are written, what is refused, and what may be used when they are used up."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.config.sizes import parse_size, show_size
from fetchworker.errors import ConfigError
from fetchworker.runtime.allowance import Allowance
from fetchworker.sites import SiteConfig, load_sites
from fetchworker.sites.budget import Budget
from fetchworker.usage import SiteSpending
from fetchworker.usage.spending import allows


@pytest.mark.parametrize(
    ("text", "size"),
    [(5, 5), ("5", 5), ("2 GiB", 2 << 30), ("500MB", 500_000_000), ("1.5 KiB", 1536), ("0.1 kb", 100), (" 7 B ", 7)],
)
def test_sizes_are_read(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "2 GiBs", "-1 MB", "1e3", True, None, 2.5, "1,5 GB", "9" * 30])
def test_what_is_no_size_is_told(text):
    with pytest.raises(ValueError, match="2 GiB"):
        parse_size(text)


@given(st.integers(0, 1 << 60))
def test_a_shown_size_is_near_what_it_shows(size):
    shown = show_size(size)
    assert len(shown) <= 10
    if size < 1 << 50:
        assert abs(parse_size(shown) - size) <= size * 0.06


@pytest.fixture
def load(tmp_path):
    def make(budget: str, more: str = ""):
        path = tmp_path / "sites.yaml"
        path.write_text(f"sites:\n  shop:\n    {more}\n    budget: {budget}\n")
        return load_sites(path)["shop"].budget

    return make


def test_a_budget_in_sites_yaml(load):
    budget = load("{bytes_per_day: 2 GiB, on_exceeded: down_tier, tiers: {residential: 500 MiB}}")
    assert budget == Budget(bytes_per_day=2 << 30, on_exceeded="down_tier", tiers={"residential": 500 << 20})
    assert load("{bytes_per_day: 1000}").on_exceeded == "stop"
    assert load("null") is None


@pytest.mark.parametrize(
    ("budget", "more", "told"),
    [
        ("{}", "", r"line \d+: sites.shop.budget.bytes_per_day: .*"),
        ("{bytes_per_day: lots}", "", "bytes_per_day: is no size; write bytes as a number, or a text such as 500 MB"),
        ("{bytes_per_day: 0}", "", "bytes_per_day: must be greater than or equal to 1"),
        ("{bytes_per_day: 1 GiB, on_exceed: stop}", "", "unknown key; did you mean on_exceeded"),
        ("{bytes_per_day: 1 GiB, on_exceeded: halt}", "", "on_exceeded"),
        ("{bytes_per_day: 1 GiB, tiers: {residential: 1 MiB}}", "", "tiers have no meaning with on_exceeded stop"),
        (
            "{bytes_per_day: 1 GiB, on_exceeded: down_tier, tiers: {residential: 2 GiB}}",
            "",
            r"tiers.residential \(2.0 GiB\) is more than bytes_per_day \(1.0 GiB\)",
        ),
        ("{bytes_per_day: 1 GiB, on_exceeded: down_tier}", "proxy: none", "no tier to go down to; write stop"),
        ("5 GiB", "", "budget"),
    ],
)
def test_contradictions_are_refused(load, budget, more, told):
    with pytest.raises(ConfigError, match=told):
        load(budget, more)


DOWN = Budget(bytes_per_day=1000, on_exceeded="down_tier", tiers={"residential": 400})
STOP = Budget(bytes_per_day=1000)


@pytest.mark.parametrize(
    ("budget", "spent", "tier", "may"),
    [
        (STOP, {"residential": 999}, "residential", True),
        (STOP, {"residential": 600, "datacenter": 400}, "datacenter", False),
        (STOP, {"-": 1000}, None, False),
        (DOWN, {"residential": 399}, "residential", True),
        (DOWN, {"residential": 400}, "residential", False),
        (DOWN, {"residential": 400}, "core_residential", True),
        (DOWN, {"datacenter": 1000}, "core_residential", False),
        (DOWN, {"datacenter": 1000}, "residential", False),
        (DOWN, {"datacenter": 5000}, "datacenter", True),
        (DOWN, {"datacenter": 5000}, None, True),
    ],
)
def test_what_may_be_used(budget, spent, tier, may):
    assert allows(budget, spent, tier) is may


@given(st.dictionaries(st.sampled_from(["residential", "datacenter", "-"]), st.integers(0, 2000)), st.integers(0, 2000))
def test_what_may_not_be_used_is_not_allowed_by_spending_more(spent, more):
    for budget in (DOWN, STOP):
        for tier in ("residential", "core_residential"):
            if not allows(budget, spent, tier):
                assert not allows(budget, {**spent, "-": spent.get("-", 0) + more}, tier)


def test_which_tiers_of_a_list_are_left():
    spent, all_tiers = Counter({"residential": 399}), {"datacenter", "residential", None}
    spending = SiteSpending("shop", DOWN, lambda: spent)

    def allowance(**entry):
        return Allowance("shop", SiteConfig(budget=DOWN, **entry), spending, wall=lambda: 86_400 * 20_000 - 90.0)

    assert allowance().of(all_tiers) is None
    spent["residential"] += 1
    assert allowance().of(all_tiers) == {"datacenter", None}
    assert allowance().back_in() == 90
    assert allowance(proxy="required").used_up({"residential"})
    assert allowance(proxy="required", proxy_tiers=("residential",)).used_up(all_tiers)
    assert not allowance(proxy="required").used_up(all_tiers)
    assert not allowance(proxy="required").used_up(set()), "no list is another fault"
    assert not allowance(proxy="preferred").used_up({"residential"})
    stops = Allowance("shop", SiteConfig(budget=STOP), spending)
    spent["residential"] += 5000
    assert stops.allows("residential"), "it ends the crawl and closes no tier"


def test_spending_of_a_site():
    spent = Counter({"residential": 300, "datacenter": 50})
    spending = SiteSpending("shop", DOWN, lambda: spent)
    assert (spending.spent("shop"), spending.spent("shop", "residential"), spending.spent("shop", "x")) == (350, 300, 0)
    assert spending.may_use("shop", "residential")
    spent["residential"] += 100
    assert not spending.may_use("shop", "residential")
    assert not spending.stopped
    assert SiteSpending("shop", None, lambda: spent).may_use("shop", "residential")
    with pytest.raises(ValueError, match="not of other"):
        spending.may_use("other", None)
