"""Does what ``sites.yaml`` names exist elsewhere in the program?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError
from fetchworker.sites.loading import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from fetchworker.sites.model import SiteConfig, Sites

_SEVERAL = 2


def check_spiders(sites: Sites, spider_names: Collection[str]) -> None:
    """Every site has a spider and every spider an entry.

    Raises:
        ConfigError: one line for each that has not, with the nearest right word.
    """
    strays = [
        f"sites.{site}: there is no spider of this name" + _hint(site, spider_names)
        for site in sites
        if site not in spider_names
    ]
    missing = [
        f"the spider {name} has no entry under sites" + _hint(name, strayed(sites, spider_names))
        for name in spider_names
        if name not in sites
    ]
    _raise(sites, strays + missing)


def check_profiles(sites: Sites, profiles: Collection[str]) -> None:
    """Every ``profile`` is one of ``profiles``.

    Raises:
        ConfigError: one line for each that is not, with the nearest right word.
    """
    wrong = [
        f"sites.{site}.profile: unknown profile {config.profile!r}" + _hint(config.profile, profiles)
        for site, config in sites.items()
        if config.profile not in profiles
    ]
    _raise(sites, wrong)


def check_lives(sites: Sites, session_ttl: float) -> None:
    """No session of a pool is forgotten while it is held, rests or is young enough.

    Args:
        sites: the sites.
        session_ttl: seconds that an unused session is kept where the site says nothing.

    Raises:
        ConfigError: one line for each key that says something longer than the session lives.
    """
    wrong = []
    for site, config in sites.items():
        own = f"sites.{site}.session_ttl" if config.session_ttl is not None else "FETCHWORKER_SESSION_TTL"
        ttl, pool = config.session_ttl or session_ttl, config.pool
        written = pool.model_fields_set if pool is not None else ()
        wrong += [
            f"sites.{site}.pool.{name}: {getattr(pool, name):g} s is longer than an unused session is kept ({own}: "
            f"{ttl:g} s); lower it, or raise {own}"
            for name in ("hold", "cooldown", "quarantine", "max_age")
            if name in written and (getattr(pool, name) or 0) > ttl
        ]
    _raise(sites, wrong)


def check_tiers(sites: Sites, tiers: Collection[str], *, known: Collection[str]) -> None:
    """Every tier is one of which there is a proxy, and tiers are asked for where proxies are used.

    Args:
        sites: the sites.
        tiers: those of which there is a proxy.
        known: all that have a name.

    Raises:
        ConfigError: one line for each contradiction.
    """
    found = ((site, fault) for site, config in sites.items() for fault in _faults(config, tiers, known))
    _raise(sites, [f"sites.{site}.{fault}" for site, fault in found])


def _faults(config: SiteConfig, tiers: Collection[str], known: Collection[str]) -> Iterator[str]:
    wanted = config.proxy_tiers
    yield from _budgeted(config, tiers, known)
    if config.tier_requests is not None and (wanted is None or len(wanted) < _SEVERAL):
        yield "tier_requests: there is no tier above the first; name several under proxy_tiers"
    if wanted is None:
        return
    if config.proxy == "none":
        yield "proxy_tiers: contradicts proxy: none; remove one of them"
    if len(set(wanted)) < len(wanted):
        yield "proxy_tiers: a tier stands there twice"
    for tier in wanted:
        if tier not in known:
            yield f"proxy_tiers: unknown tier {tier!r}" + _hint(tier, known)
        elif tier not in tiers and config.proxy != "none":
            yield f"proxy_tiers: no proxy is of the tier {tier}; add one to FETCHWORKER_PROXIES, or remove the tier"


def _budgeted(config: SiteConfig, tiers: Collection[str], known: Collection[str]) -> Iterator[str]:
    """Parts of the budget that no proxy could use."""
    for tier in config.budget.tiers if config.budget is not None else ():
        if tier not in known:
            yield f"budget.tiers: unknown tier {tier!r}" + _hint(tier, known)
        elif config.proxy_tiers is not None and tier not in config.proxy_tiers:
            yield f"budget.tiers: {tier} is none of proxy_tiers; add it there, or remove it here"
        elif tier not in tiers:
            yield f"budget.tiers: no proxy is of the tier {tier}; add one to FETCHWORKER_PROXIES, or remove the tier"


def strayed(sites: Sites, spider_names: Collection[str]) -> list[str]:
    """Entries without a spider."""
    return [site for site in sites if site not in spider_names]


def _hint(word: str, words: Collection[str]) -> str:
    near = nearest(word, words)
    return f"; {near}" if near else f" (known: {', '.join(sorted(words))})" if words else ""


def _raise(sites: Sites, faults: list[str]) -> None:
    if faults:
        raise ConfigError("\n".join(f"{sites.path}: {fault}" for fault in faults), file=str(sites.path))
