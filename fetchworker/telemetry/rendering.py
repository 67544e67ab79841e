"""Log records, structlog's and the standard library's, as lines: JSON for machines, text for people.

Imports structlog (35 ms of CPU), so it is imported by the first handler that is set up, not before.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from structlog.dev import ConsoleRenderer, plain_traceback
from structlog.stdlib import ProcessorFormatter

from fetchworker.errors import FetchworkerError
from fetchworker.telemetry import attribution
from fetchworker.telemetry.values import MAX_EVENT, plain, tail

if TYPE_CHECKING:
    from collections.abc import MutableMapping

#: characters of a traceback
MAX_TRACEBACK = 32_768
#: under this key a message's arguments may carry the fields of the request it is about
ARGS_KEY = "fw_attribution"

_STANDARD = frozenset(
    [
        *logging.LogRecord("", 0, "", 0, "", (), None).__dict__,
        "message",
        "asctime",
        "taskName",
        ARGS_KEY,
        "_logger",
        "_name",
    ]
)
_HEAD = ("ts", "level", "logger", "event")
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS


class LineFormatter(ProcessorFormatter):
    """Formats any record, and never fails: a record that cannot be formatted becomes a line that says so."""

    def __init__(self, *, json: bool, colors: bool = False) -> None:
        render = _render_json if json else _TextRenderer(colors=colors)
        super().__init__(processors=[_assemble, render], pass_foreign_args=True)
        self._render = render

    def format(self, record: logging.LogRecord) -> str:
        try:
            return super().format(record)
        except Exception as exc:  # noqa: BLE001  # the border: logging would print the record's arguments instead
            told = f"a log record could not be shown ({type(exc).__name__})"
            head = _head(record, plain(f"{told}: {record.msg!s:.200}"))
            return self._render(None, "", head)


def configure_structlog() -> None:
    """Send what structlog's loggers are told through the standard library's, so that both come out alike."""
    structlog.configure(
        processors=[
            structlog.stdlib.PositionalArgumentsFormatter(),
            structlog.processors.StackInfoRenderer(),
            ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _head(record: logging.LogRecord, event: Any) -> dict[str, Any]:
    stamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    values = (stamp.replace("+00:00", "Z"), record.levelname.lower(), record.name, event)
    return dict(zip(_HEAD, values, strict=True))


def _assemble(_logger: Any, _method: str, event_dict: MutableMapping[str, Any]) -> dict[str, Any]:
    """The line's fields in their order, plain and redacted."""
    record: logging.LogRecord = event_dict.pop("_record")
    if not event_dict.pop("_from_structlog"):
        event_dict.update({name: value for name, value in record.__dict__.items() if name not in _STANDARD})
    args = event_dict.pop("positional_args", None)
    exc_info = event_dict.pop("exc_info", None)
    line = _head(record, plain(event_dict.pop("event", ""), longest=MAX_EVENT))
    line |= _attribution(record, args)
    line |= {_free(name, line): plain(_named(value)) for name, value in event_dict.items()}
    if trace := _traceback(exc_info):
        line["exception"] = tail(trace, MAX_TRACEBACK)
    return line


def _attribution(record: logging.LogRecord, args: Any) -> dict[str, str]:
    own = getattr(record, ARGS_KEY, None)
    if own is not None:  # the record says whose it is, whatever the context
        fields = attribution.ordered({**attribution.process(), **own})
    else:
        told = args.get(ARGS_KEY, {}) if isinstance(args, dict) else {}
        fields = attribution.ordered({**attribution.current(), **told})
    return {name: plain(value, longest=128) for name, value in fields.items()}


def _free(name: str, line: dict[str, Any]) -> str:
    """A field that would take the place of one of the line's own gets an underscore."""
    return f"{name}_" if name in _HEAD or (name in line and name in attribution.FIELDS) else name


def _named(value: Any) -> Any:
    """Scrapy hands whole spiders and crawlers along; their name is what is meant."""
    spider = getattr(value, "spider", None) if type(value).__name__ == "Crawler" else value
    name = getattr(spider, "name", None)
    return name if hasattr(spider, "from_crawler") and isinstance(name, str) else value


def _traceback(exc_info: Any) -> str | None:
    if exc_info is True:
        import sys  # noqa: PLC0415

        exc_info = sys.exc_info()
    elif isinstance(exc_info, BaseException):
        exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
    if not isinstance(exc_info, tuple) or exc_info[0] is None:
        return None
    if isinstance(exc_info[1], FetchworkerError) and not logging.root.isEnabledFor(logging.DEBUG):
        # ours say what happened and what to do: the way through the code helps nobody but us
        return f"{type(exc_info[1]).__qualname__}: {exc_info[1]}"
    return _plain_formatter.formatException(exc_info)


_plain_formatter = logging.Formatter()


def _render_json(_logger: Any, _method: str, line: MutableMapping[str, Any]) -> str:
    return orjson.dumps(line, option=_OPTIONS).decode()


class _TextRenderer:
    """``2026-01-31T10:00:00.000Z [info] event [logger] field=value``, with colours on a terminal that wants them."""

    def __init__(self, *, colors: bool) -> None:
        self._render = ConsoleRenderer(
            colors=colors,
            pad_event_to=0,
            pad_level=False,
            sort_keys=False,
            timestamp_key="ts",
            exception_formatter=plain_traceback,
        )

    def __call__(self, logger: Any, method: str, line: MutableMapping[str, Any]) -> str:
        trace = line.pop("exception", None)
        shown = {name: _safe(value) if isinstance(value, str) else value for name, value in line.items()}
        rendered = str(self._render(logger, method, shown))
        return f"{rendered}\n{_safe(trace)}" if trace else rendered


def _safe(value: str) -> str:
    """Without the control characters by which a page's text could drive the reader's terminal."""
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in value)
