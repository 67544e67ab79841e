from __future__ import annotations

from pathlib import Path

import pytest

from fetchworker.errors import ConfigError
from fetchworker.sites import SiteConfig, Sites, check_profiles, check_spiders


def sites(**entries: SiteConfig) -> Sites:
    return Sites(entries, path=Path("sites.yaml"))


def test_sites_and_spiders_that_match_pass():
    check_spiders(sites(instagram=SiteConfig(), fetch=SiteConfig()), ["fetch", "instagram"])


def test_both_sides_of_a_misspelling_are_told():
    with pytest.raises(ConfigError) as caught:
        check_spiders(sites(instagramm=SiteConfig(), fetch=SiteConfig()), ["instagram", "fetch"])
    assert str(caught.value).splitlines() == [
        "sites.yaml: sites.instagramm: there is no spider of this name; did you mean instagram?",
        "sites.yaml: the spider instagram has no entry under sites; did you mean instagramm?",
    ]


def test_a_spider_without_an_entry_is_told():
    with pytest.raises(ConfigError, match=r"the spider fetch has no entry under sites$"):
        check_spiders(sites(instagram=SiteConfig()), ["instagram", "fetch"])


def test_a_site_without_a_spider_is_told_with_the_known_ones():
    with pytest.raises(
        ConfigError, match=r"sites.walmart: there is no spider of this name \(known: fetch, instagram\)"
    ):
        check_spiders(sites(instagram=SiteConfig(), fetch=SiteConfig(), walmart=SiteConfig()), ["instagram", "fetch"])


def test_profiles_are_checked_against_those_that_there_are():
    known = {"chrome", "safari"}
    check_profiles(sites(a=SiteConfig(profile="safari")), known)
    with pytest.raises(ConfigError, match=r"sites.b.profile: unknown profile 'chrom'; did you mean chrome\?"):
        check_profiles(sites(a=SiteConfig(), b=SiteConfig(profile="chrom")), known)
