"""The pool of a site in sites.yaml: what may be written, and what contradicts itself."""

from __future__ import annotations

import pytest

from fetchworker.errors import ConfigError
from fetchworker.runtime import terms_of
from fetchworker.sites import SiteConfig, load_sites


@pytest.mark.parametrize(
    ("pool", "told"),
    [
        ("{min_idle: 200}", "min_idle (200) is greater than max_total (100); raise max_total or lower min_idle"),
        ("{min_idle: 5, max_idle: 4}", "min_idle (5) is greater than max_idle (4)"),
        ("{max_idle: 9, max_total: 4}", "max_idle (9) is greater than max_total (4)"),
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
