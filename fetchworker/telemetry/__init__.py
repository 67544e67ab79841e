"""Logging, and whose work a log line is about. Cheap to import; see :mod:`.logging` and :mod:`.attribution`."""

from fetchworker.telemetry.attribution import bind, bound, current, from_meta, set_process, unbind
from fetchworker.telemetry.logging import Logger, configure_logging, get_logger
from fetchworker.telemetry.redaction import redact, register_secret

__all__ = [
    "Logger",
    "bind",
    "bound",
    "configure_logging",
    "current",
    "from_meta",
    "get_logger",
    "redact",
    "register_secret",
    "set_process",
    "unbind",
]
