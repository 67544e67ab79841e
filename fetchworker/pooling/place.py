"""The way from a command to the stored sessions of a site."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.queueing.place import opened as opened_queues
from fetchworker.runtime import terms_of
from fetchworker.sessions import RedisSessionStore
from fetchworker.sessions.poolredis import RedisPool
from fetchworker.sites import SiteConfig, load_sites

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.settings import BaseSettings

    from fetchworker.sessions import SessionStore
    from fetchworker.sites import Sites


@dataclass(frozen=True, slots=True)
class Home:
    """Where the sessions of a site are."""

    site: str
    store: SessionStore
    pool: RedisPool


@dataclass(frozen=True, slots=True)
class Place:
    """Where the sessions of all sites are."""

    _pool_of: dict[str, Home]

    def home(self, site: str) -> Home:
        """The sessions of a site."""
        return self._pool_of[site]


@asynccontextmanager
async def opened(settings: BaseSettings, sites: list[str]) -> AsyncIterator[Place]:
    """The sessions of these sites, found as crawls find them.

    Raises:
        ConfigError: the environment or sites.yaml is wrong.
        RedisUnavailableError: there is no Redis, or it does not do what it is asked.
    """
    async with opened_queues(settings) as place:
        entries: Sites = load_sites(place.environment.sites_file)
        homes: dict[str, Home] = {}
        for site in sites:
            config = entries.get(site) or SiteConfig()
            ttl = config.session_ttl or place.environment.session_ttl
            store = RedisSessionStore(place.redis, ttl=ttl)
            homes[site] = Home(site, store, RedisPool(place.redis, site, terms_of(config)))
        yield Place(homes)
