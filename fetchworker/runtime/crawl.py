"""What a crawl holds in common, one object per crawler: configuration, proxies, sessions, seeds and records.

Middlewares, the spider base and pipelines reach it with :meth:`Runtime.of`. Nothing here connects anywhere before it
is needed: a crawl of stateless requests whose queue is in memory never talks to Redis.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy import signals

from fetchworker.config.browsing import RENDER, default_render
from fetchworker.errors import UnfinishedError
from fetchworker.exports.completion import not_done
from fetchworker.exports.ending import give_up
from fetchworker.exports.failures import CrawlRecords
from fetchworker.frontier.codec import LEASE
from fetchworker.frontier.redisspider import reads_seeds
from fetchworker.media.origins import Origins
from fetchworker.pace import Pace, Waits
from fetchworker.runtime.exits import PROBE, ListWatch, SiteExits
from fetchworker.runtime.failures import failure_record
from fetchworker.runtime.identities import IdentitiesOfCrawl
from fetchworker.runtime.memory import settle_memory
from fetchworker.runtime.parts import (
    artifact_store,
    connect,
    database,
    disconnect,
    global_limit,
    load_configuration,
    proxy_manager,
    shared_turns,
    usage_keeper,
)
from fetchworker.runtime.queue import RedisQueue
from fetchworker.runtime.stopping import heed_early_stop
from fetchworker.signals import QuickSignals
from fetchworker.tasks import within
from fetchworker.telemetry.attribution import bound, from_meta, set_process
from fetchworker.usage import SiteSpending

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from scrapy import Request
    from scrapy.crawler import Crawler

    from fetchworker.artifacts import ArtifactStore
    from fetchworker.config import Environment
    from fetchworker.contracts import Page, Render
    from fetchworker.db import Place
    from fetchworker.egress import EgressPolicy
    from fetchworker.outcomes.breaker import RuleBreaker
    from fetchworker.redis import Client
    from fetchworker.sites import SiteConfig

logger = logging.getLogger(__name__)
#: items of a response that wait for the database or for media at once; each is a task per response, with items or not
STORING_ITEMS = 8
#: seconds that a part of the crawl's end may take
_LAST = 30.0
#: the spider that reads documents
DOCUMENTS = "document"
#: the meta key of a request that has its failure line
RECORDED = "fw_recorded"
#: the meta key of a list: what the request ends with goes there, to whoever waits for it, and not to the failures' file
HEARD = "fw_heard"

_open: WeakKeyDictionary[Crawler, Runtime] = WeakKeyDictionary()
_COMMAND_LINE = 40  # scrapy.settings.SETTINGS_PRIORITIES["cmdline"]


class Runtime(IdentitiesOfCrawl):
    """The common parts of one crawl.

    Attributes:
        site: the spider's name, as in sites.yaml.
        config: the site's entry.
        render: whether a browser loads the site's pages.
        profile: the browser of identities made from now on.
        pace: when requests may start.
        usage: what the wire has carried, and for whom.
        spending: what the site may still cost today.
        limit: the permits that all processes together share; None where there is no limit.
        waits: requests between two tries.
        origins: who fetched the pages of the items that are on their way, where media are fetched.
        crawl_id: names the crawl in logs, in session names and in the state folder.
        private: whether the crawl has a call of its own (arguments) or serves the shared queue.
        by_call: whether each call is recorded by itself, as in the service.
    """

    by_call = False

    def __init__(
        self, crawler: Crawler, environment: Environment, config: SiteConfig, *, site: str, private: bool
    ) -> None:
        self.environment = environment
        self.config = config
        self.site = site
        self.private = private
        self.crawl_id = environment.crawl_id or f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
        self.profile = config.profile
        default = default_render(environment, crawler.settings.get(RENDER))
        self.render: Render = config.render if "render" in config.model_fields_set else default
        self.proxies = proxy_manager(environment)
        self._list = ListWatch(self.proxies, environment.proxies_reload)
        turns = shared_turns(environment, config, self.redis, site=site, queued=self.queued)
        self.pace = Pace(config.pace, per_minute=config.per_minute, turns=turns)
        self.usage = usage_keeper(environment, self.redis, self.count, site=site, queued=self.queued)
        self.spending = SiteSpending(site, config.budget, self.usage.spent)
        self.exits = SiteExits(
            self.proxies, config, site=site, count=self.count, signals=crawler.signals, spending=self.spending,
            probe_every=min(PROBE, max(0.5, environment.no_egress_patience / 10)),
        )  # fmt: skip
        self.limit = global_limit(environment, self.redis)
        self.waits = Waits(self.ending, self.look_again)
        self.origins = Origins()
        self._crawler = crawler
        self._warnings: tuple[str, ...] = ()
        self._redis: Client | None = None
        self._queue: RedisQueue | None = None
        self._redis_lock = asyncio.Lock()

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────

    @classmethod
    def open(cls, crawler: Crawler, *, site: str, private: bool) -> Runtime:
        """Read the configuration, check it, and settle the Scrapy settings that follow from it.

        Raises:
            ConfigError: naming what is wrong, where, and what to write.
        """
        from fetchworker.sites import SiteConfig  # noqa: PLC0415  # YAML is heavy to import

        environment, sites = load_configuration(crawler.settings)
        runtime = cls(crawler, environment, sites.get(site) or SiteConfig(), site=site, private=private)
        _open[crawler] = runtime
        set_process(crawl_id=runtime.crawl_id, trace_id=environment.trace_id)
        runtime._warnings = (*environment.notes(), *sites.warnings)
        if not crawler.settings.frozen:  # another project's spider keeps its own settings
            # what a spider says of itself holds where sites.yaml says nothing of it
            runtime._apply(crawler, kept=() if site in sites else crawler.spidercls.custom_settings or ())
            crawler.signals = QuickSignals(crawler)
            crawler.signals.connect(settle_memory, signals.spider_opened)
        heed_early_stop(crawler)
        crawler.signals.connect(runtime._opened, signals.spider_opened)
        crawler.signals.connect(runtime._not_done, not_done)
        crawler.signals.connect(runtime._spider_closed, signals.spider_closed)
        crawler.signals.connect(runtime._engine_stopped, signals.engine_stopped)
        return runtime

    @classmethod
    def of(cls, crawler: Crawler) -> Runtime:
        """The crawl's runtime; opened under the spider's name when nothing did (another project's spider)."""
        spider = crawler.spidercls
        return _open.get(crawler) or cls.open(crawler, site=spider.name, private=not reads_seeds(spider))

    @classmethod
    def known(cls, crawler: Crawler) -> Runtime | None:
        """The crawl's runtime; None where nothing has asked for one."""
        return _open.get(crawler)

    def _apply(self, crawler: Crawler, *, kept: Collection[str]) -> None:
        config = self.config
        values: dict[str, Any] = {
            "CONCURRENT_REQUESTS_PER_DOMAIN": config.concurrency,
            "DOWNLOAD_DELAY": config.delay,
            "DOWNLOAD_TIMEOUT": config.timeout,
            "DOWNLOAD_MAXSIZE": config.max_bytes,
            "ROBOTSTXT_OBEY": config.robots == "obey",
        }
        if self.environment.stores or self.environment.media or self.reads_documents:
            values["CONCURRENT_ITEMS"] = STORING_ITEMS
        if self.queued:
            self._queue = RedisQueue(self, crawler)
            values |= self._queue.settings()
        for name, value in values.items():
            if name not in kept and (crawler.settings.getpriority(name) or 0) < _COMMAND_LINE:
                crawler.settings.set(name, value, priority="spider")

    @property
    def reads_documents(self) -> bool:
        """Whether the documents of items are read: as told, and always by the spider that is there for it."""
        return self.environment.documents or self.site == DOCUMENTS

    @property
    def queued(self) -> bool:
        """Whether requests are kept in Redis: those of the shared queue always, those of a private crawl by default."""
        return not self.private or self.environment.frontier == "redis"

    def _opened(self) -> None:
        kind = "private" if self.private else "shared queue"
        logger.info("crawl %s (%s, %s) state in %s", self.crawl_id, self.site, kind, self.folder)
        self._list.start()
        for warning in self._warnings:
            logger.warning(warning)

    async def _spider_closed(self) -> None:
        await within(_LAST, self.usage.finish(), "usage")

    async def _engine_stopped(self) -> None:
        self.records.close()
        await within(_LAST, self._list.stop(), "the proxy list")
        if "leases" in self.__dict__:
            await within(_LAST, self.leases.close(), "the pool of sessions")
        await within(_LAST, self.usage.finish(), "usage")  # what came after the spider was closed
        if self.pace.turns is not None:
            await within(_LAST, self.pace.turns.close(), "the shared pace")
        if self.limit is not None:
            await within(_LAST, self.limit.close(), "the global limit")
        if "artifacts" in self.__dict__:
            await within(_LAST, self.artifacts.close(), "the artifacts")
        if self._redis is not None:
            await within(_LAST, disconnect(self._redis), "Redis")

    @property
    def folder(self) -> Path:
        """Where this crawl keeps its records."""
        return self.environment.state_dir / "crawls" / self.crawl_id

    # ── pace ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def ending(self) -> bool:
        """Whether the crawl has been told to end, so that nothing should be waited for."""
        try:
            engine = self._crawler.engine
        except RuntimeError:  # a part of a crawl that has not begun
            return False
        if engine is None or not engine.running:
            return engine is not None
        return engine._slot is not None and engine._slot.closing is not None  # noqa: SLF001  # no public way to see it

    def look_again(self) -> None:
        """Let the engine take further requests now: by itself it looks when a request ends, or every five seconds."""
        try:
            engine = self._crawler.engine
        except RuntimeError:  # as above
            return
        if engine is not None and engine._slot is not None:  # noqa: SLF001  # as above
            engine._slot.nextcall.schedule()  # noqa: SLF001

    # ── egress ───────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def egress(self) -> EgressPolicy:
        """Where requests may go."""
        from fetchworker.egress import EgressPolicy  # noqa: PLC0415  # only what sends needs it

        return EgressPolicy(allow=self.environment.destinations(), ports=self.environment.egress_ports)

    @property
    def queue(self) -> RedisQueue | None:
        """The queue in Redis, if the crawl has one."""
        return self._queue

    # ── Redis ────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def has_redis(self) -> bool:
        """Whether Redis has been asked for and was there."""
        return self._redis is not None

    async def redis(self) -> Client:
        """The client of Redis, which all crawls of this event loop share.

        A server of our own is started when nothing else is configured.

        Raises:
            RedisUnavailableError: none answers and none could be started.
        """
        async with self._redis_lock:
            if self._redis is None:
                self._redis = await connect(self.environment)
            return self._redis

    # ── the database ─────────────────────────────────────────────────────────────────────────────────────────────

    def database(self) -> Place:
        """Where items are stored.

        Raises:
            ConfigError: the URL is wrong, or what it needs is not installed.
        """
        return database(self.environment)

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """What the crawl leaves behind to be looked at.

        Raises:
            ConfigError: it cannot be kept as configured.
        """
        return artifact_store(self.environment)

    # ── what went wrong ──────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def rules(self) -> RuleBreaker:
        """Watches over the rules that find refusals."""
        from fetchworker.outcomes.breaker import RuleBreaker  # noqa: PLC0415  # needs YAML, heavy to import

        return RuleBreaker()

    @cached_property
    def records(self) -> CrawlRecords:
        """The crawl's failures, rejected items and evidence."""
        return CrawlRecords(self.folder, partial(give_up, self._crawler))

    def _not_done(self, request: Request, error: BaseException) -> None:
        """Keep the request that has to be done again, unless the queue does."""
        if LEASE not in request.meta:
            self.record_failure(request, error, None)

    def count(self, name: str, by: float = 1) -> None:
        """Add to a stat under ``fetchworker/``."""
        self._crawler.stats.inc_value(f"fetchworker/{name}", by)  # type: ignore[arg-type]  # it adds what it is given

    def record_failure(self, request: Request, error: BaseException, page: Page | None) -> None:
        """Write the failure line of a request that ended without its data."""
        meta = request.meta
        if LEASE in meta and isinstance(error, UnfinishedError):
            self._crawler.signals.send_catch_log(not_done, request=request, error=error)  # the queue takes it back
            return
        if HEARD in meta:
            meta[HEARD].append(error)
            return
        record = failure_record(request, error, self.site, downloaded=page is not None)
        record["evidence_file"] = meta.get("fw_evidence")
        self.count(f"failed/{self.site}/{record['type']}")
        self.records.failure(record)
        meta[RECORDED] = True
        with bound(**from_meta(meta, self.site)):
            logger.warning("%s failed: %s (%s)", request.url, record["type"], record["message"])
