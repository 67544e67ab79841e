"""Spiders that were written for scrapy-playwright name its handler in their settings; they get ours."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from fetchworker import settings as ours

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_THEIRS = "scrapy_playwright."
_SETTINGS = "PLAYWRIGHT_"
_NAME = "DOWNLOAD_HANDLERS"


class ForeignHandlers:
    """An add-on: ``ADDONS = {"fetchworker.download.foreign.ForeignHandlers": 10}``."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Put our handler where scrapy-playwright's is named; handlers that the project has off stay off.

        Raises:
            ConfigError: a setting of scrapy-playwright's cannot be had.
        """
        if any(name.startswith(_SETTINGS) for name in settings):
            from fetchworker.download.browsersettings import check_settings  # noqa: PLC0415  # for few spiders

            check_settings(settings)
        named = settings.getdict(_NAME)
        theirs = {scheme for scheme, handler in named.items() if _path(handler).startswith(_THEIRS)}
        if not theirs:
            return
        kept = {scheme: handler for scheme, handler in named.items() if scheme not in theirs}
        settings.set(_NAME, {**ours.DOWNLOAD_HANDLERS, **kept}, priority=settings.getpriority(_NAME) or 0)
        logger.info(
            "scrapy-playwright's download handler is replaced by fetchworker's, "
            "which takes its meta keys (docs/browser.md)"
        )


def _path(handler: Any) -> str:
    return handler if isinstance(handler, str) else f"{getattr(handler, '__module__', '')}."
