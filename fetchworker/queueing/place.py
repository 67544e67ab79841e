"""The way from a command to the queues of the project's spiders."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError
from redis.exceptions import RedisError
from scrapy.spiderloader import get_spider_loader

from fetchworker.config import command_line, load_environment
from fetchworker.config.environment import Name
from fetchworker.errors import ArgumentError, RedisUnavailableError
from fetchworker.frontier.link import endpoint_of, names_in, terms_of
from fetchworker.frontier.redisspider import seeds_key
from fetchworker.frontier.report import private_ids
from fetchworker.frontier.store import Frontier
from fetchworker.redis import connect, wait_for_redis
from fetchworker.telemetry.redaction import redact

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.frontier.keys import Namespace
    from fetchworker.redis import Client

#: seconds that a command waits for a Redis that does not answer
PATIENCE = 5.0
#: none of these names a key of seeds
_OURS = ["fetchworker.spiders"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the queues are."""

    redis: Client
    settings: BaseSettings
    environment: Environment

    def names(self, site: str, crawl_id: str | None = None) -> Namespace:
        """The namespace of a site, or of one of its crawls."""
        if self.settings.getlist("SPIDER_MODULES") == _OURS:
            return names_in(self.settings, site, crawl_id)
        spider = get_spider_loader(self.settings).load(site)  # which may name a key itself
        return names_in(self.settings, site, crawl_id, seeds=seeds_key(spider))

    def frontier(self, names: Namespace) -> Frontier:
        """The queue of a namespace."""
        return Frontier(self.redis, names, terms=terms_of(self.environment))

    async def namespaces(self, site: str) -> list[Namespace]:
        """The shared namespace of a site and its private ones."""
        return [self.names(site, id_) for id_ in (None, *await private_ids(self.redis, site))]


@asynccontextmanager
async def opened(settings: BaseSettings) -> AsyncIterator[Place]:
    """The queues of the project, found as crawls find them.

    Raises:
        ConfigError: the environment is wrong.
        RedisUnavailableError: there is no Redis, or it does not do what it is asked.
    """
    environment = load_environment(overrides=command_line(settings))
    endpoint = await asyncio.to_thread(endpoint_of, settings, environment)
    await wait_for_redis(endpoint, limit=min(PATIENCE, environment.redis_patience))
    redis = connect(endpoint, retries=0)  # nothing is pushed twice
    try:
        yield Place(redis, settings, environment)
    except RedisError as exc:
        raise RedisUnavailableError(f"Redis at {endpoint.label}: {redact(str(exc)) or type(exc).__name__}") from exc
    finally:
        await redis.aclose()


def check_sites(settings: BaseSettings, sites: Sequence[str]) -> None:
    """See that there are spiders of these names.

    Raises:
        ArgumentError: naming the one that there is not, and the nearest.
    """
    known = get_spider_loader(settings).list()
    for site in sites:
        if site not in known:
            close = get_close_matches(site, known, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            raise ArgumentError(f"no site {site!r}{hint}; known: {', '.join(known)}")


def check_crawl(crawl_id: str | None) -> None:
    """See that this may be the id of a crawl.

    Raises:
        ArgumentError: it may not.
    """
    try:
        TypeAdapter(Name | None).validate_python(crawl_id)
    except ValidationError:
        raise ArgumentError(f"--crawl: the id of a crawl is expected, not {crawl_id!r:.80}") from None
