"""From the configuration to a running service."""

from __future__ import annotations

import ipaddress
import logging
from typing import TYPE_CHECKING

from scrapy.spiderloader import get_spider_loader

from fetchworker.download.coherence import check_sites
from fetchworker.download.trust import ca_bundle
from fetchworker.errors import ConfigError
from fetchworker.runtime import check_artifacts_written, check_state_dir, load_configuration
from fetchworker.service.app import make_app
from fetchworker.service.callers import Callers, load_keys
from fetchworker.service.crawlers import Crawlers
from fetchworker.service.idempotency import Idempotency, LocalAnswers, RedisAnswers
from fetchworker.service.redislink import PATIENCE, RedisLink
from fetchworker.service.runs import RunsPart
from fetchworker.service.server import run
from fetchworker.service.state import DEFAULT, Service
from fetchworker.spiders.base import SiteSpider
from fetchworker.telemetry.scrapylog import set_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings, Settings

    from fetchworker.service.idempotency import Answers

logger = logging.getLogger(__name__)


def serve(settings: BaseSettings, *, host: str, port: int, stateless: bool) -> int:
    """Serve until a signal comes; the exit code.

    Raises:
        ConfigError: naming what is wrong, where, and what to write.
    """
    set_up(settings)
    environment, sites = load_configuration(settings)
    check_sites(sites)
    check_state_dir(environment)
    check_artifacts_written(environment)
    ca_bundle(environment)
    callers = Callers(load_keys(environment))
    if not len(callers) and not is_loopback(host):
        raise ConfigError(
            f"--host {host}: an address that others can reach needs API keys; make one with `scrapy serve --new-key "
            "NAME`, put its entry into a file as a JSON list, and name that in FETCHWORKER_SERVE_KEYS_FILE"
        )
    spiders, broken = _spiders(settings, [*sites, *([] if DEFAULT in sites else [DEFAULT])])
    patience = min(environment.redis_patience, PATIENCE)
    link = RedisLink(environment.model_copy(update={"redis_patience": patience}))
    answers: Answers = LocalAnswers() if stateless else RedisAnswers(link.answering)
    once = Idempotency(answers, longest=environment.serve_timeout_max)
    own: Settings = settings  # type: ignore[assignment]  # Scrapy's settings are these
    crawlers = Crawlers(own, spiders, redis_patience=patience)
    runs = None if stateless else RunsPart(environment, settings, callers)
    service = Service(environment, sites, crawlers, callers, once, link, runs=runs, broken=broken)
    routed = {} if stateless else {site: spider for site, spider in spiders.items() if site != DEFAULT}
    return run(make_app(service, routed), service, host=host, port=port)


def is_loopback(host: str) -> bool:
    """Whether an address to listen at can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _spiders(settings: BaseSettings, names: list[str]) -> tuple[Mapping[str, type[SiteSpider]], Mapping[str, str]]:
    """The spiders that can be served, and why others cannot; what all calls go through has to be there."""
    loader = get_spider_loader(settings)
    found: dict[str, type[SiteSpider]] = {}
    broken: dict[str, str] = {}
    for name in names:
        try:
            spider = loader.load(name)
        except Exception as exc:
            if name == DEFAULT:
                raise
            broken[name] = f"its spider cannot be loaded: {type(exc).__name__}: {exc}"
            logger.exception("site %s is left out: %s", name, broken[name])
        else:
            if issubclass(spider, SiteSpider):
                found[name] = spider
    return found, broken
