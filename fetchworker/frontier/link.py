"""How a scheduler gets to its queue: settled by the project's runtime, or by the settings of another project alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fetchworker.errors import ConfigError
from fetchworker.frontier.keys import QUEUE_KEY, SEEDS_KEY, SEEN_KEY, Namespace, namespace
from fetchworker.frontier.redisspider import seeds_key
from fetchworker.frontier.store import Terms
from fetchworker.frontier.vigil import REDIS_UNAVAILABLE, Vigil

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment
    from fetchworker.redis import Client, RedisEndpoint

_kept: WeakKeyDictionary[Crawler, Link] = WeakKeyDictionary()
#: closings of crawls under way, kept so that they are not collected
_closing: set[asyncio.Future[None]] = set()


@dataclass(frozen=True, slots=True)
class Link:
    """What a scheduler needs to know of its queue.

    Attributes:
        names: the namespace.
        terms: how the queue lends.
        vigil: waits for a Redis that is away.
        endpoint: finds out where Redis is; a server of our own is started by that, which blocks meanwhile.
        connect: gives the client, once Redis answers; raises RedisUnavailableError.
        disconnect: the client is not needed any more.
        worker: a name that this worker keeps over its restarts.
        raises: whether a Redis that is not there is an error, which gives Scrapy's own ``crawl`` its exit code; a
            runtime of ours is told by the crawl's end.
        grace: seconds that a crawl which is told to end waits for what is under way.
    """

    names: Namespace
    terms: Terms
    vigil: Vigil
    endpoint: Callable[[], RedisEndpoint]
    connect: Callable[[], Awaitable[Client]]
    disconnect: Callable[[], Awaitable[None]]
    worker: str | None = None
    grace: float = 30.0
    raises: bool = False

    def keep(self, crawler: Crawler) -> None:
        """Be the crawl's link."""
        _kept[crawler] = self
        self.vigil.keep(crawler)

    @classmethod
    def of(cls, crawler: Crawler) -> Link:
        """The crawl's link; made of its settings and the environment where nobody settled one.

        Raises:
            ConfigError: naming the setting that is wrong.
            RedisUnavailableError: there is no Redis to be had.
        """
        found = _kept.get(crawler)
        if found is None:
            found = _from_settings(crawler)
            found.keep(crawler)
        return found


def names_of(crawler: Crawler, crawl_id: str | None) -> Namespace:
    """The namespace that scrapy-redis's settings name, or its kind of spider.

    Raises:
        ConfigError: naming the setting.
    """
    return names_in(crawler.settings, crawler.spidercls.name, crawl_id, seeds=seeds_key(crawler.spider))


def names_in(settings: BaseSettings, spider: str, crawl_id: str | None, *, seeds: str | None = None) -> Namespace:
    """The same without a crawl; ``seeds``: the key of seeds that the spider names itself.

    Raises:
        ConfigError: naming the setting.
    """
    renamed = {setting: settings.get(setting) for setting in (SEEDS_KEY, QUEUE_KEY, SEEN_KEY)}
    renamed[SEEDS_KEY] = seeds or renamed[SEEDS_KEY]
    return namespace(spider, crawl_id, names={name: str(value) for name, value in renamed.items() if value})


def terms_of(environment: Environment) -> Terms:
    """How the queue lends, as the environment has it."""
    return Terms(
        lease=environment.lease,
        aging=environment.aging,
        deliveries=environment.deliveries,
        attempts=environment.attempts,
        pause=environment.attempt_delay,
        retention=environment.crawl_ttl,
    )


def end_of_patience(crawler: Crawler) -> None:
    """End a crawl whose Redis stays away."""
    engine = crawler.engine
    if engine is None or not engine.running:
        return
    closing = asyncio.ensure_future(engine.close_spider_async(reason=REDIS_UNAVAILABLE))
    _closing.add(closing)
    closing.add_done_callback(_closing.discard)


def _from_settings(crawler: Crawler) -> Link:
    from fetchworker.config import command_line, load_environment  # noqa: PLC0415  # a runtime has done this else
    from fetchworker.redis import share, unshare, wait_for_redis  # noqa: PLC0415

    settings = crawler.settings
    environment = load_environment(overrides=command_line(settings))
    endpoint = endpoint_of(settings, environment)
    clients: list[Client] = []

    async def look(limit: float) -> None:
        await wait_for_redis(endpoint, limit=limit)

    async def open_() -> Client:
        clients.append(share(endpoint))
        try:
            await look(environment.redis_patience)
        except BaseException:
            await close()
            raise
        return clients[-1]

    async def close() -> None:
        while clients:
            await unshare(clients.pop())

    def changed() -> None:
        if vigil.lost is not None:
            end_of_patience(crawler)

    vigil = Vigil(look, patience=environment.redis_patience, changed=changed)
    names = names_of(crawler, environment.crawl_id)
    return Link(
        names,
        terms_of(environment),
        vigil,
        lambda: endpoint,
        open_,
        close,
        environment.worker,
        environment.grace,
        raises=True,
    )


def endpoint_of(settings: BaseSettings, environment: Environment) -> RedisEndpoint:
    """Where Redis is: as the environment says, else scrapy-redis's settings; else our own, started. Blocks meanwhile.

    Raises:
        ConfigError: naming the setting that is wrong.
        RedisUnavailableError: none could be started.
    """
    from fetchworker.redis import resolve_redis_url  # noqa: PLC0415  # Redis's library is heavy to import

    url = environment.redis_url.get_secret_value() if environment.redis_url else _url_of(settings)
    return resolve_redis_url(url, environment.state_dir, keep_running=environment.redis_keep_running)


def _url_of(settings: BaseSettings) -> str | None:
    """The Redis that scrapy-redis's settings name."""
    if settings.get("REDIS_URL"):
        return str(settings.get("REDIS_URL"))
    if not settings.get("REDIS_HOST"):
        return None
    port = settings.get("REDIS_PORT", 6379)
    if not str(port).isdecimal():
        raise ConfigError(f"REDIS_PORT: a number is expected, not {port!r}")
    return f"redis://{settings.get('REDIS_HOST')}:{port}/{settings.getint('REDIS_DB')}"
