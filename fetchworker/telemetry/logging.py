"""Logging: structlog over the standard library, so that our lines, Scrapy's and every library's come out alike.

A line is a JSON object (``ts``, ``level``, ``logger``, ``event``, then the fields of :mod:`.attribution` and whatever
else the call gave) when nobody watches, and text on a terminal. Credentials are masked, repeated warnings folded.

Under ``scrapy crawl`` :class:`fetchworker.telemetry.scrapylog.LoggingAddon` sets it up; elsewhere call
:func:`configure_logging`. Importing this module is cheap: structlog is loaded when the first handler is.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

Format = Literal["auto", "json", "text"]


class _Target(NamedTuple):
    """Where lines go and how they look; equal targets need no new handler."""

    format: Format
    stream: TextIO | None
    path: str | None
    append: bool
    encoding: str

    def handler(self) -> logging.Handler:
        from fetchworker.telemetry.folding import FoldingHandler  # noqa: PLC0415  # used once
        from fetchworker.telemetry.rendering import LineFormatter, configure_structlog  # noqa: PLC0415  # structlog is heavy

        configure_structlog()
        inner: logging.Handler
        if self.path is not None:
            inner = _QuietFile(
                self.path, "a" if self.append else "w", encoding=self.encoding, errors="backslashreplace"
            )
        else:
            inner = _QuietStream(self.stream)
        tty = self.path is None and _is_tty(self.stream)
        json = self.format == "json" or (self.format == "auto" and not tty)
        inner.setFormatter(LineFormatter(json=json, colors=tty and "NO_COLOR" not in os.environ))
        return FoldingHandler(inner)


_installed: tuple[_Target | None, logging.Handler] | None = None


def configure_logging(
    format: Format = "auto",  # noqa: A002  # the word of the setting
    level: int | str = "INFO",
    stream: TextIO | None = None,
    *,
    path: Path | str | None = None,
    append: bool = True,
    encoding: str = "utf-8",
) -> None:
    """Send every log record of the process to one place. Calling it again changes what differs and nothing else.

    Args:
        format: ``json``, ``text``, or ``auto``: text when ``stream`` is a terminal, else JSON.
        level: the lowest level that is shown, as a name or a number.
        stream: where to (default ``sys.stderr``).
        path: a file instead of a stream.
        append: whether what the file holds is kept.
        encoding: of the file.

    Raises:
        ConfigError: an unknown level, or a file that cannot be opened.
    """
    number = level_number(level)
    where = None if path is not None else stream or sys.stderr
    _install(_Target(format, where, str(path) if path is not None else None, append, encoding))
    assert _installed
    _installed[1].setLevel(number)
    # a record that no handler would show is not made at all
    logging.root.setLevel(number)
    logging.getLogger("scrapy").setLevel(number)
    for name in ("httpx", "httpcore"):  # a line for each request that we make
        logging.getLogger(name).setLevel(max(number, logging.WARNING))


def disable_logging() -> None:
    """Show nothing, not even what Python prints when no handler is set up."""
    _install(None)


def reset_logging() -> None:
    """Take our handler away (for tests)."""
    global _installed  # noqa: PLW0603
    if _installed is not None:
        logging.root.removeHandler(_installed[1])
        _installed[1].close()
    _installed = None


def installed_handler() -> logging.Handler | None:
    """The handler that :func:`configure_logging` put on the root logger."""
    return _installed[1] if _installed else None


def level_number(level: int | str) -> int:
    """The number of a level.

    Raises:
        ConfigError: there is no such level.
    """
    if isinstance(level, int):
        return level
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        number = int(level) if level.isascii() and level.isdigit() else None
    if number is None:
        raise ConfigError(f"LOG_LEVEL: no level is called {level!r}; write DEBUG, INFO, WARNING, ERROR or CRITICAL")
    return number


def get_logger(name: str) -> Logger:
    """A structlog logger that costs nothing until it is used.

    For the head of a module::

        log = get_logger(__name__)
        log.info("session ended", outcome="blocked", tries=3)

    ``logging.getLogger(__name__)`` does as well: its records get the same fields, and ``extra={…}`` becomes fields.
    """
    return Logger(logging.getLogger(name), {})


class Logger:
    """Level methods that take an event and fields; structlog is loaded at the first line that is shown."""

    __slots__ = ("_bound", "_fields", "_std")

    def __init__(self, std: logging.Logger, fields: dict[str, Any]) -> None:
        self._std = std
        self._fields = fields
        self._bound: Any = None

    def bind(self, **fields: Any) -> Logger:
        """A logger whose every line has these fields too."""
        return Logger(self._std, {**self._fields, **fields})

    def debug(self, event: str, /, *args: Any, **fields: Any) -> None:
        self._log(logging.DEBUG, event, args, fields)

    def info(self, event: str, /, *args: Any, **fields: Any) -> None:
        self._log(logging.INFO, event, args, fields)

    def warning(self, event: str, /, *args: Any, **fields: Any) -> None:
        self._log(logging.WARNING, event, args, fields)

    def error(self, event: str, /, *args: Any, **fields: Any) -> None:
        self._log(logging.ERROR, event, args, fields)

    def critical(self, event: str, /, *args: Any, **fields: Any) -> None:
        self._log(logging.CRITICAL, event, args, fields)

    def exception(self, event: str, /, *args: Any, **fields: Any) -> None:
        """An error with the traceback of the exception at hand."""
        self._log(logging.ERROR, event, args, {"exc_info": True, **fields})

    def _log(self, level: int, event: str, args: tuple[Any, ...], fields: dict[str, Any]) -> None:
        if not self._std.isEnabledFor(level):
            return
        if self._bound is None:
            self._bound = self._structlog()
        # bound, since log() has parameters of its own that a field may be named like
        self._bound.bind(**fields).log(level, event, *args)

    def _structlog(self) -> Any:
        import structlog  # noqa: PLC0415  # 35 ms of CPU

        if not structlog.is_configured():
            from fetchworker.telemetry.rendering import configure_structlog  # noqa: PLC0415  # as above

            configure_structlog()
        return structlog.stdlib.get_logger(self._std.name).bind(**self._fields)


def _install(target: _Target | None) -> None:
    global _installed  # noqa: PLW0603
    if _installed is not None and _installed[0] == target:
        return
    try:
        handler = logging.NullHandler() if target is None else target.handler()
    except (OSError, LookupError) as exc:
        raise ConfigError(f"LOG_FILE: {getattr(exc, 'filename', None) or ''} cannot be opened ({exc})") from None
    reset_logging()
    logging.root.addHandler(handler)
    _installed = (target, handler)


def _is_tty(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


class _QuietStream(logging.StreamHandler[TextIO]):
    """A stream that may go away under us: a line that cannot be written is lost, the crawl goes on."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """Logging's own would print the record with its arguments, secrets among them."""


class _QuietFile(logging.FileHandler):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        """As above."""
