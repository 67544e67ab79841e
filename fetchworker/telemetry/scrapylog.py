"""Scrapy's side of logging: who sets it up under ``scrapy crawl``, and what its own lines say.

Scrapy puts a handler of its own on the root logger with a format that is a string, which JSON cannot be. So the
add-on asks it not to (``LOG_INSTALL_ROOT_HANDLER``) and installs ours, with Scrapy's settings honoured: LOG_ENABLED,
LOG_LEVEL, LOG_FILE, LOG_FILE_APPEND, LOG_ENCODING, LOG_SHORT_NAMES, LOG_STDOUT. LOG_FORMAT and LOG_DATEFORMAT mean
nothing here. A project that sets LOG_INSTALL_ROOT_HANDLER itself, to whatever, keeps its own logging.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy.logformatter import LogFormatter, LogFormatterResult
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.log import TopLevelFormatter
from twisted.python.failure import Failure

from fetchworker.errors import ConfigError, StorageError
from fetchworker.telemetry import attribution
from fetchworker.telemetry.logging import configure_logging, disable_logging, installed_handler, level_number
from fetchworker.telemetry.redaction import register_secret

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

_ADDON = SETTINGS_PRIORITIES["addon"]
_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"]
#: over settings.py, under what a spider or the command line says
_ENVIRONMENT = SETTINGS_PRIORITIES["project"] + 5
#: Scrapy's lists of versions, settings and components, sixty lines before anything happens; at DEBUG they are back
_START_UP = ("scrapy.addons", "scrapy.crawler", "scrapy.middleware", "scrapy.utils.log")
_ARGS_KEY = "fw_attribution"  # rendering.ARGS_KEY, which would import structlog


class LoggingAddon:
    """``ADDONS = {"fetchworker.telemetry.scrapylog.LoggingAddon": 0}``."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set logging up before Scrapy logs its first line.

        A wrong configuration is not told here, where Scrapy would die with a traceback before any command has begun,
        but by the command or, at the latest, by :meth:`update_settings`; until then the defaults hold.
        """
        try:
            set_up(settings)
        except ConfigError:
            configure_logging()

    def update_settings(self, settings: BaseSettings) -> None:
        """Take over what the spider's own settings say.

        Raises:
            ConfigError: as :func:`set_up`.
        """
        settings.set("LOG_FORMATTER", f"{ShortLogFormatter.__module__}.{ShortLogFormatter.__qualname__}", "addon")
        set_up(settings)


def set_up(settings: BaseSettings) -> None:
    """Configure logging as Scrapy's settings and the ``FETCHWORKER_LOG_*`` variables say.

    Raises:
        ConfigError: a variable or LOG_LEVEL is wrong, or LOG_FILE cannot be opened.
    """
    if (settings.getpriority("LOG_INSTALL_ROOT_HANDLER") or 0) > _ADDON:
        return
    settings.set("LOG_INSTALL_ROOT_HANDLER", False, "addon")
    if not settings.getbool("LOG_ENABLED"):
        disable_logging()
        return
    _configure(settings)
    if settings.get("LOG_LEVEL") != "DEBUG":
        for name in _START_UP:
            logging.getLogger(name).setLevel(logging.WARNING)
    handler = installed_handler()
    if settings.getbool("LOG_SHORT_NAMES") and handler and not handler.filters:
        handler.addFilter(TopLevelFormatter(["scrapy"]))


def _configure(settings: BaseSettings) -> None:
    from fetchworker.config import command_line, load_environment  # noqa: PLC0415  # heavy to import

    given = command_line(settings)
    environment = load_environment(overrides=given)
    for secret in environment.secrets():
        register_secret(secret)
    if environment.log_level:
        priority = _COMMAND_LINE if "FETCHWORKER_LOG_LEVEL" in given else _ENVIRONMENT
        settings.set("LOG_LEVEL", environment.log_level, priority)
    configure_logging(
        environment.log_format,
        settings.get("LOG_LEVEL"),
        path=settings.get("LOG_FILE") or None,
        append=settings.getbool("LOG_FILE_APPEND"),
        encoding=settings.get("LOG_ENCODING"),
    )


class ShortLogFormatter(LogFormatter):
    """Scrapy's lines about pages and items, short, without bodies, and with the request's fields.

    Lines that the level would hide are not even made.
    """

    def __init__(self, *, debug: bool = True) -> None:
        self._debug = debug

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(debug=level_number(crawler.settings.get("LOG_LEVEL")) <= logging.DEBUG)

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        if not self._debug:
            return None  # type: ignore[return-value]  # Scrapy's way to say "no line"
        size = len(response.body)
        flags = f" {response.flags}" if response.flags else ""
        args = {"status": response.status, "request": request, "size": size, "flags": flags}
        return _line(logging.DEBUG, "Crawled (%(status)s) %(request)s, %(size)d bytes%(flags)s", args, request, spider)

    def scraped(self, item: Any, response: Response | Failure | None, spider: Spider) -> LogFormatterResult:
        if not self._debug:
            return None  # type: ignore[return-value]  # as above
        args = {"item": short(item), "src": _source(response)}
        return _line(logging.DEBUG, "Scraped %(item)s from %(src)s", args, _request(response), spider)

    def dropped(
        self, item: Any, exception: BaseException, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        level = super().dropped(item, exception, response, spider)["level"]
        args = {"item": short(item), "exception": exception}
        return _line(level, "Dropped %(item)s: %(exception)s", args, _request(response), spider)

    def item_error(
        self,
        item: Any,
        exception: BaseException,
        response: Response | Failure | None,
        spider: Spider,
    ) -> LogFormatterResult:
        # the traceback comes with the record; a database's error has none to show and is told once, by the pipeline
        level = logging.DEBUG if isinstance(exception, StorageError) else logging.ERROR
        return _line(level, "Error processing %(item)s", {"item": short(item)}, _request(response), spider)

    def spider_error(
        self, failure: Failure, request: Request, response: Response | Failure, spider: Spider
    ) -> LogFormatterResult:
        stock = super().spider_error(failure, request, response, spider)
        return _attributed(stock, request, spider)

    def download_error(
        self, failure: Failure, request: Request, spider: Spider, errmsg: str | None = None
    ) -> LogFormatterResult:
        return _attributed(super().download_error(failure, request, spider, errmsg), request, spider)


def short(item: Any) -> str:
    """An item's kind and id: enough to find it, without its content."""
    fields = item if isinstance(item, dict) else getattr(item, "__dict__", {})
    kind, item_id = fields.get("kind"), fields.get("item_id")
    return f"{kind or type(item).__name__} {item_id or ''}".rstrip()


def _source(response: Response | Failure | None) -> Any:
    if isinstance(response, Failure):
        return response.getErrorMessage()
    return response or "start"


def _request(response: Response | Failure | None) -> Request | None:
    return getattr(response, "request", None)


def _line(level: int, msg: str, args: dict[str, Any], request: Request | None, spider: Spider) -> LogFormatterResult:
    return _attributed({"level": level, "msg": msg, "args": args}, request, spider)


def _attributed(line: LogFormatterResult, request: Request | None, spider: Spider) -> LogFormatterResult:
    fields = attribution.from_meta(request.meta if request is not None else {}, site=spider.name)
    if isinstance(line["args"], dict):
        line["args"][_ARGS_KEY] = fields
    return line
