"""Checks that a crawl's needs are met; each says what it found or what to do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fetchworker.doctor import installed, places
from fetchworker.doctor.check import Check, guarded
from fetchworker.download.coherence import check_sites
from fetchworker.errors import FetchworkerError
from fetchworker.runtime import load_configuration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.settings import BaseSettings

__all__ = ["Check", "run_checks"]


def run_checks(settings: BaseSettings, *, destination: str | None = None) -> Iterator[Check]:
    """All checks, the cheap ones first; without a readable configuration the rest is left out.

    ``destination``: ``host:port`` that proxies are asked to connect to.
    """
    yield installed.python()
    yield from (installed.package(name) for name in installed.TESTED)
    yield guarded("impersonation", installed.impersonation)
    yield guarded("egress guard", installed.egress_guard)
    yield installed.browser()
    yield installed.ocr()
    try:
        environment, sites = load_configuration(settings)
        check_sites(sites)
    except FetchworkerError as exc:
        yield Check("configuration", good=False, told=exc.message)
        return
    yield Check("configuration", good=True, told=f"{sites.path}: {', '.join(sites)}")
    yield guarded("state folder", lambda: places.state_folder(environment.state_dir))
    yield guarded("redis", lambda: asyncio.run(places.redis(environment)))
    if environment.stores:
        yield guarded("database", lambda: asyncio.run(places.items(environment)))
    try:
        from fetchworker.doctor import proxies  # noqa: PLC0415  # curl_cffi may be missing, which was told above
    except ImportError:
        return
    yield from proxies.checks(environment, sites, destination)
