"""``sites.yaml``: what each site needs, read once at the start and checked to the last key."""

from fetchworker.sites.checks import check_lives, check_profiles, check_spiders, check_tiers
from fetchworker.sites.loading import load_sites
from fetchworker.sites.model import Backoff, SiteConfig, Sites

__all__ = [
    "Backoff",
    "SiteConfig",
    "Sites",
    "check_lives",
    "check_profiles",
    "check_spiders",
    "check_tiers",
    "load_sites",
]
