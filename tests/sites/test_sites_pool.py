"""The pool of a site in sites.yaml: what may be written, and what contradicts itself."""

from __future__ import annotations

import pytest

from fetchworker.errors import ConfigError
from fetchworker.runtime import terms_of
from fetchworker.sites import SiteConfig, check_lives, load_sites


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        ("{min_idle: 200}", "min_idle (200) is greater than max_total (100); raise max_total or lower min_idle"),
        ("{min_idle: 5, max_idle: 4}", "min_idle (5) is greater than max_idle (4)"),
        ("{max_idle: 9, max_total: 4}", "max_idle (9) is greater than max_total (4)"),
        ("{max_age: 60, cooldown: 60}", "no session would be used twice; lower cooldown or raise max_age"),
        ("{max_age: 60, quarantine: 60}", "would never come back from it; write quarantine: 0, or raise max_age"),
        ("{max_total: 0}", "pool.max_total: must be greater than or equal to 1, not 0; write how many sessions"),
        ("{prefer: older}", "pool.prefer: must be 'oldest', 'best' or 'lru', not 'older'; did you mean oldest?"),
        ("{max_totl: 5}", "pool.max_totl: unknown key; did you mean max_total?"),
        ("{max_uses: 1.5}", "pool.max_uses: must be"),
        ("7", "pool: must be"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path, pool, told):
    path = tmp_path / "sites.yaml"
    path.write_text(f"sites:\n  shop:\n    pool: {pool}\n")
    with pytest.raises(ConfigError) as error:
        load_sites(path)
    assert "line 3: sites.shop.pool" in error.value.message
    assert told in error.value.message


def test_there_is_no_pool_unless_one_is_written(tmp_path):
    path = tmp_path / "sites.yaml"
    path.write_text("defaults: {pool: {max_total: 7}}\nsites: {a: {}, b: {pool: null}, c: {pool: {max_idle: 3}}}\n")
    sites = load_sites(path)
    assert (sites["a"].pool.max_total, sites["b"].pool) == (7, None)
    assert (sites["c"].pool.max_total, sites["c"].pool.max_idle) == (7, 3)
    assert SiteConfig().pool is None


def terms(**values):
    return terms_of(SiteConfig.model_validate(values))


def test_what_nobody_wrote_gives_way_to_what_is_written():
    assert terms(pool={"max_total": 5}).max_idle == 5
    assert terms(pool={"min_idle": 40}).max_idle == 40
    assert terms(pool={}).max_idle == 20


def test_the_rest_between_two_uses_follows_from_a_ceiling_that_is_each_visitors():
    assert terms(pool={}, per_minute=12).cooldown == 0
    assert terms(pool={}, per_minute=12, pace="identity").cooldown == 5
    assert terms(pool={"cooldown": 2.0}, per_minute=12, pace="identity").cooldown == 2


def load(tmp_path, entry):
    path = tmp_path / "sites.yaml"
    path.write_text(f"sites: {{a: {entry}}}\n")
    return load_sites(path)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{session_ttl: 100, pool: {hold: 101}}", "sites.a.pool.hold: 101 s is longer"),
        ("{session_ttl: 100, pool: {quarantine: 200}}", "(sites.a.session_ttl: 100 s)"),
        ("{session_ttl: 100, pool: {cooldown: 200}}", "sites.a.pool.cooldown: 200 s"),
        ("{pool: {max_age: 2000}}", "(FETCHWORKER_SESSION_TTL: 1000 s); lower it, or raise FETCHWORKER_SESSION_TTL"),
    ],
)
def test_nothing_lasts_longer_than_a_session_is_kept(tmp_path, entry, told):
    with pytest.raises(ConfigError) as error:
        check_lives(load(tmp_path, entry), 1000)
    assert told in error.value.message


@pytest.mark.parametrize("entry", ["{session_ttl: 100, pool: {hold: 100}}", "{session_ttl: 100, pool: {}}", "{}"])
def test_what_nobody_wrote_gives_way_to_the_life_of_a_session(tmp_path, entry):
    check_lives(load(tmp_path, entry), 1000)


def test_the_language_of_an_exit_needs_exits(tmp_path):
    with pytest.raises(ConfigError, match="accept_language exit with proxy none"):
        load(tmp_path, "{accept_language: exit, proxy: none}")


def test_a_concurrency_that_may_never_count_is_told(tmp_path):
    (warning,) = load(tmp_path, "{pool: {max_total: 2, max_idle: 2, concurrency: 3}}").warnings
    assert "pool.concurrency is greater than pool.max_total" in warning
