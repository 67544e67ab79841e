"""A crawl that fetches warm-up pages alone: for new sessions of a pool, or for some that are there."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Self

from scrapy import Spider
from scrapy.spiderloader import get_spider_loader

from fetchworker.errors import ArgumentError, ConfigError, FetchworkerError, SessionDamagedError, SessionExhaustedError
from fetchworker.middlewares.poolwarm import PoolWarmer, visits_of
from fetchworker.middlewares.renderguard import check_browser
from fetchworker.runtime import Runtime, load_configuration, undone_on_failure
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.sites import SiteConfig
from fetchworker.spiders.base import SiteSpider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class Wanted:
    """What is to be done, and what came of it.

    Attributes:
        jar: of new sessions.
        count: how many new ones.
        names: of those that are there.
        minting: whether a browser makes the visits; then ``names`` need not be there.
        url: what is visited instead of the site's warm-up pages.
        done: names of sessions that were warmed up, or only made or looked at where there are no visits.
        anew: names of sessions whose records nobody could read: each has a new identity now.
        unmade: how many new ones there was no room for.
        visits: whether the site has a warm-up page.
        missing: names of sessions that there are not.
        failed: what went wrong, one sentence each.
        interrupted: whether the crawl ended before all was done.
    """

    def __init__(
        self, *, jar: str, count: int = 0, names: tuple[str, ...] = (), minting: bool = False, url: str | None = None
    ) -> None:
        self.jar, self.count, self.names = jar, count, names
        self.minting, self.url = minting, url
        self.done: list[str] = []
        self.failed: list[str] = []
        self.missing: list[str] = []
        self.anew: list[str] = []
        self.unmade = 0
        self.visits = True
        self.interrupted = True


def check_jar_of(spider: type[Spider], jar: str) -> None:
    """See that a spider has this jar.

    Raises:
        ArgumentError: it has not.
    """
    if not issubclass(spider, SiteSpider):
        raise ArgumentError(f"{spider.name} is no SiteSpider: it has no warm-up")
    known = sorted({operation.jar for operation in spider.operations.values()} | {"main"})
    if jar not in known:
        raise ArgumentError(f"--jar: {spider.name} has no jar {jar!r}; known: {', '.join(known)}")


def check_pool(settings: BaseSettings, site: str, *, needed: bool) -> None:
    """See that sessions of the site can be warmed up.

    Raises:
        ConfigError: sites.yaml is wrong, or has no pool for it where one is needed.
    """
    _, sites = load_configuration(settings)
    config = sites.get(site)
    if needed and (config is None or config.pool is None):
        raise ConfigError(f"{sites.path}: sites.{site}.pool is missing: write `pool: {{}}` there, or more")


def check_minting(settings: BaseSettings, site: str, *, url: str | None) -> bool:
    """See that a browser can make sessions of the site; whether it has a pool.

    Raises:
        ArgumentError: there is nothing to visit.
        ConfigError: there is no browser, or the site's profile is none of its kind.
    """
    environment, sites = load_configuration(settings)
    config = sites.get(site) or SiteConfig()
    check_browser(settings, environment, site=site, profile=config.profile)
    if url is None and not visits_of(get_spider_loader(settings).load(site), config):
        raise ArgumentError(f"{site} has no warm-up page: say with --url what is to be visited")
    return config.pool is not None


def warming(base: type[Spider], wanted: Wanted) -> type[Spider]:
    """A spider that is ``base`` but for what it fetches."""

    class Warming(base):  # type: ignore[misc,valid-type]
        """Fetches the warm-up pages of the site."""

        custom_settings = {**(base.custom_settings or {}), "FEEDS": {}}  # noqa: RUF012  # Scrapy's attribute

        @classmethod
        def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
            spider: Self = Spider.from_crawler.__func__(cls, crawler, *args, **kwargs)  # type: ignore[attr-defined]
            spider.runtime = Runtime.open(crawler, site=cls.name, private=True)  # no seeds of the shared queue
            return spider

        async def start(self) -> AsyncIterator[Any]:
            await _work(self.crawler, wanted)
            wanted.interrupted = False
            return
            yield

    return Warming


async def _work(crawler: Crawler, wanted: Wanted) -> None:
    runtime = Runtime.of(crawler)
    warmer = PoolWarmer(crawler, runtime, minting=wanted.minting, url=wanted.url)
    wanted.visits = warmer.visits
    for number in range(wanted.count):
        try:
            name = await warmer.warm(wanted.jar)
        except SessionExhaustedError:
            wanted.unmade = wanted.count - number
            wanted.failed.append(await _full(runtime, wanted.jar))
            return
        except FetchworkerError as exc:
            wanted.failed.append(exc.message)
            return
        if name is None:
            wanted.failed.append(_failed(warmer))
        else:
            wanted.done.append(name)
    for name in wanted.names:
        try:
            there = await _is_there(runtime, name)
            if there is False and not (wanted.minting and jar_of(name) is None):
                wanted.missing.append(name)
                continue
            await _refresh(runtime, warmer, name)
            (wanted.anew if there is None else wanted.done).append(name)
        except FetchworkerError as exc:
            wanted.failed.append(f"{name}: {exc.message}")


async def _full(runtime: Runtime, jar: str) -> str:
    """Why no more sessions may be made."""
    terms, site = runtime.leases.terms, runtime.site
    counts = await (await runtime.leases.open()).counts(jar)
    if counts.total >= terms.max_total:
        return f"the pool has {counts.total} of {terms.max_total} sessions ({jar}): raise sites.{site}.pool.max_total"
    return f"{terms.concurrency} sessions are in use at once: raise sites.{site}.pool.concurrency, or wait"


async def _is_there(runtime: Runtime, name: str) -> bool | None:
    """Whether there is such a session; None for one that cannot be read."""
    try:
        return await (await runtime.session_store()).load(runtime.site, name) is not None
    except SessionDamagedError:
        return None


async def _refresh(runtime: Runtime, warmer: PoolWarmer, name: str) -> None:
    owner, leases, jar = f"refresh.{secrets.token_hex(8)}", runtime.leases, jar_of(name)
    if jar is None:
        hold = await leases.lock(name, owner, wait=0, patient=False)
    else:
        await (await leases.open()).aim(owner, name)
        hold = await leases.take(jar, owner, fresh="used", wait=0, patient=False)
    hold.users += 1
    try:
        if hold.lease.session_id != name:
            raise ArgumentError("it is in use, at rest, or not there")
        if jar is not None:
            await _visited(warmer, name, keeps=False)
            return
        async with undone_on_failure(runtime, name) as there:
            await _visited(warmer, name, keeps=there)
    finally:
        hold.users = max(0, hold.users - 1)
        await leases.release(owner)


async def _visited(warmer: PoolWarmer, name: str, *, keeps: bool) -> None:
    if not await warmer.visited(name, keeps=keeps):
        raise FetchworkerError(_failed(warmer))


def _failed(warmer: PoolWarmer) -> str:
    return f"its warm-up failed: {warmer.problem}"


__all__ = ["Wanted", "check_jar_of", "check_minting", "check_pool", "warming"]
