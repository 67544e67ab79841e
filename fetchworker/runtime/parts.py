"""From the configuration to the parts of a crawl: what a start checks, and what is opened when it is first needed."""

from __future__ import annotations

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ConfigError
from fetchworker.exports.probe import check_folder
from fetchworker.limiter import Ceiling, Limiter, MemoryLimits, Starts
from fetchworker.pace import Turns
from fetchworker.proxies import ProxyManager
from fetchworker.telemetry.redaction import register_secret
from fetchworker.usage import Keeper, Ledger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from scrapy.settings import BaseSettings

    from fetchworker.artifacts import ArtifactStore
    from fetchworker.config import Environment
    from fetchworker.db import Place
    from fetchworker.documents import ReaderSettings
    from fetchworker.limiter import Limits
    from fetchworker.media import Store
    from fetchworker.pace import SharedPace
    from fetchworker.proxies import Proxy
    from fetchworker.redis import Client, RedisEndpoint
    from fetchworker.sites import SiteConfig, Sites

_OWN_SPIDERS = "fetchworker.spiders"


def check_state_dir(environment: Environment) -> None:
    """See that the state folder can be written before a crawl fails to keep its records there.

    Raises:
        ConfigError: it cannot.
    """
    folder = environment.state_dir
    try:
        check_folder(folder)
    except OSError as exc:
        why = exc.strerror or exc
        raise ConfigError(
            f"FETCHWORKER_STATE_DIR: {folder} cannot be written ({why}); make it writable, or name another folder"
        ) from exc


def load_configuration(settings: BaseSettings) -> tuple[Environment, Sites]:
    """The environment and the sites, checked against each other and against the spiders and profiles there are.

    Raises:
        ConfigError: naming what is wrong, where, and what to write.
    """
    from scrapy.spiderloader import get_spider_loader  # noqa: PLC0415  # only a start needs it

    from fetchworker.config import command_line, load_environment  # noqa: PLC0415  # heavy to import
    from fetchworker.proxies.providers import products  # noqa: PLC0415  # as the next
    from fetchworker.sites import check_lives, check_spiders, check_tiers, load_sites  # noqa: PLC0415  # YAML is heavy to import

    environment = load_environment(overrides=command_line(settings))
    sites = load_sites(environment.sites_file)
    if _OWN_SPIDERS in settings.getlist("SPIDER_MODULES"):
        check_spiders(sites, get_spider_loader(settings).list())
    tiers = proxy_manager(environment).tiers
    sold = {product.tier for of_one in products().values() for product in of_one.values()}
    check_tiers(sites, tiers, known={*tiers, *sold})
    check_lives(sites, environment.session_ttl)
    if environment.stores:
        database(environment)
    if environment.media:
        media_store(environment)
    if environment.documents:
        document_settings(environment)
    _check_language_model(environment)
    check_artifacts(environment)
    return environment, sites


def database(environment: Environment) -> Place:
    """The database that is configured, or else a file in the state folder.

    Raises:
        ConfigError: the URL is wrong, or what it needs is not installed.
    """
    from fetchworker.db import default_url, place_of  # noqa: PLC0415  # not every crawl stores

    return place_of(environment.database_url or default_url(environment.state_dir))


def media_store(environment: Environment) -> Store:
    """Where media are kept: as configured, or else a folder in the state folder.

    Raises:
        ConfigError: it cannot be written, or what it needs is not installed.
    """
    from fetchworker.media import open_store  # noqa: PLC0415  # not every crawl fetches media

    named = environment.media_store
    return open_store(named.get_secret_value() if named else str(environment.state_dir / "media"))


def artifact_store(environment: Environment) -> ArtifactStore:
    """Where artifacts are kept.

    Raises:
        ConfigError: it cannot be written, or what it needs is not installed.
    """
    from fetchworker.artifacts import ArtifactStore  # noqa: PLC0415  # few crawls keep any

    return ArtifactStore.of(environment)


def check_artifacts(environment: Environment) -> None:
    """See that artifacts can be kept, where some are asked for.

    Raises:
        ConfigError: they cannot.
    """
    if environment.artifacts_warc:
        from fetchworker.artifacts.warc import check_installed  # noqa: PLC0415  # as above

        check_installed()
    if environment.artifacts_warc or environment.artifacts_failures or environment.artifacts_store:
        artifact_store(environment)


def check_artifacts_written(environment: Environment) -> None:
    """See by a trial that artifacts can be written, where some are asked for; blocks.

    Raises:
        ConfigError: they cannot.
    """
    if environment.artifacts_warc or environment.artifacts_failures or environment.artifacts_store:
        artifact_store(environment).check()


def document_settings(environment: Environment) -> ReaderSettings:
    """How documents are read.

    Raises:
        ConfigError: what it takes is not installed.
    """
    from fetchworker.documents import ReaderSettings, check_installed  # noqa: PLC0415  # not every crawl reads them

    check_installed()
    return ReaderSettings.of(environment)


def _check_language_model(environment: Environment) -> None:
    if not any(name.startswith("documents_llm_") for name in environment.model_fields_set):
        return
    from fetchworker.documents.modelsettings import ModelSettings  # noqa: PLC0415  # hardly anybody names one

    ModelSettings.of(environment)


def proxy_manager(environment: Environment) -> ProxyManager:
    """The manager of the configured proxies.

    Raises:
        ProxyConfigError: naming the bad entry.
    """
    from fetchworker.config import PREFIX  # noqa: PLC0415  # heavy to import

    value: Any = environment.proxies_file
    source = f"{PREFIX}PROXIES" if value is None else f"{PREFIX}PROXIES_FILE"
    if value is None and environment.proxies is not None:
        value = environment.proxies.get_secret_value()
    manager = ProxyManager.from_source(
        value, source=source, accounts=environment.accounts(), cooldown=environment.proxy_cooldown
    )
    hide_passwords(manager)
    return manager


def hide_passwords(proxies: Iterable[Proxy]) -> None:
    """Have the log hide the proxies' passwords; of a gateway's, the account's, to which parameters are added."""
    for proxy in proxies:
        register_secret(proxy.gateway.password if proxy.gateway else proxy.password)


def redis_endpoint(environment: Environment) -> RedisEndpoint:
    """Where Redis is; a server of our own is started when nothing is configured. Blocks while it starts.

    Raises:
        RedisUnavailableError: none could be started.
    """
    from fetchworker.redis import resolve_redis_url  # noqa: PLC0415  # Redis's library is heavy to import

    url = environment.redis_url.get_secret_value() if environment.redis_url else None
    return resolve_redis_url(url, environment.state_dir, keep_running=environment.redis_keep_running)


async def connect(environment: Environment, *, limit: float | None = None) -> Client:
    """The client that all crawls of this event loop share, once Redis answers; give it back with :func:`disconnect`.

    Raises:
        RedisUnavailableError: it does not answer in ``limit`` seconds (or as the environment says), or none could be
            started.
    """
    from fetchworker.redis import share, wait_for_redis  # noqa: PLC0415  # as above

    endpoint = await asyncio.to_thread(redis_endpoint, environment)
    client = share(endpoint)
    try:
        await wait_for_redis(endpoint, limit=environment.redis_patience if limit is None else limit)
    except BaseException:
        await disconnect(client)
        raise
    return client


async def disconnect(client: Client) -> None:
    """Done with the client; the last crawl closes it."""
    from fetchworker.redis import unshare  # noqa: PLC0415  # as above

    await unshare(client)


def shared_turns(
    environment: Environment,
    config: SiteConfig,
    redis: Callable[[], Awaitable[Client]],
    *,
    site: str,
    queued: bool,
) -> Turns | None:
    """The pace that all workers of the site keep together; None where each keeps it by itself.

    Args:
        environment: tells whether a Redis is configured.
        config: the site's entry; its ``pace_scope`` decides, or else whether there is a Redis.
        redis: gives the crawl's client.
        site: the spider's name.
        queued: whether the crawl's requests are in Redis.
    """
    nowhere = not queued and environment.redis_url is None
    if config.pace_scope == "process" or (config.pace_scope is None and nowhere):
        return None
    return Turns(partial(_redis_pace, site, redis), always=config.pace_scope == "shared")


def _redis_pace(site: str, redis: Callable[[], Awaitable[Client]]) -> SharedPace:
    from fetchworker.pace._redis import RedisPace  # noqa: PLC0415  # Redis's library is heavy to import

    return RedisPace(site, redis)


def usage_keeper(
    environment: Environment,
    redis: Callable[[], Awaitable[Client]],
    count: Callable[[str, int], None],
    *,
    site: str,
    queued: bool,
) -> Keeper:
    """What keeps the crawl's usage: in Redis where there is one, else in this process alone.

    Args:
        environment: tells whether a Redis is configured, and how long a day is kept.
        redis: gives the crawl's client.
        count: adds to a stat under ``fetchworker/``.
        site: the spider's name.
        queued: whether the crawl's requests are in Redis.
    """
    if not queued and environment.redis_url is None:
        return Keeper(Ledger(), None, count, site=site)
    from fetchworker.usage._redis import RedisUsage  # noqa: PLC0415  # Redis's library is heavy to import

    shelf = RedisUsage(site, secrets.token_hex(6), redis, keep=environment.usage_ttl)
    return Keeper(Ledger(), shelf, count, site=site)


def global_limit(environment: Environment, redis: Callable[[], Awaitable[Client]]) -> Starts | None:
    """The permits that requests of all processes of the Redis need; None where there is no limit.

    Args:
        environment: tells the limit.
        redis: gives the crawl's client.
    """
    if environment.limit_concurrency is None and environment.limit_rate is None:
        return None
    rate, burst = environment.limit_rate or (None, 1)
    ceiling = Ceiling(environment.limit_concurrency, rate, burst)
    return Starts(lambda: Limiter(_redis_limits(ceiling, redis), local=MemoryLimits(ceiling)))


def _redis_limits(ceiling: Ceiling, redis: Callable[[], Awaitable[Client]]) -> Limits:
    from fetchworker.limiter.shared import RedisLimits  # noqa: PLC0415  # Redis's library is heavy to import

    return RedisLimits(ceiling, redis)


def wait_for_queue(environment: Environment, site: str) -> bool:
    """Return once the Redis of the queue answers; tells whether the crawl that the environment names has begun there.

    Raises:
        RedisUnavailableError: as :func:`connect`.
    """
    from fetchworker.frontier.keys import namespace  # noqa: PLC0415  # only a start needs it

    async def look() -> bool:
        client = await connect(environment)
        try:
            names = namespace(site, environment.crawl_id)
            return environment.crawl_id is not None and bool(await client.exists(f"{names.root}:start"))
        finally:
            await disconnect(client)

    with ThreadPoolExecutor(1) as thread:  # this thread's loop is the crawl's
        return thread.submit(asyncio.run, look()).result()
