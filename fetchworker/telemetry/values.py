"""Any value as plain, short, redacted data: what a log line may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any, Final

from fetchworker.telemetry.redaction import MASK, is_secret_name, redact

#: characters of an event, of another text, and of the text of an object
MAX_EVENT: Final = 16_384
MAX_TEXT: Final = 4096
MAX_OBJECT: Final = 1024
#: entries of a list or mapping, and how deep they are followed
MAX_ENTRIES: Final = 64
MAX_DEPTH: Final = 4

_MAX_INT = 2**63  # what every JSON reader takes
_MARGIN = 4096  # no secret is longer
_MAX_TAIL = 65_536


def plain(value: Any, *, longest: int = MAX_TEXT, depth: int = 0) -> Any:
    """``value`` as JSON data without secrets; what is neither plain nor a container shows as its ``str``."""
    if value is None or isinstance(value, bool | float) or (type(value) is int and abs(value) < _MAX_INT):
        return value
    if isinstance(value, str):
        return text(value, longest)
    if isinstance(value, bytes | bytearray):
        return text(bytes(value[: longest + _MARGIN]).decode("utf-8", "backslashreplace"), longest)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping | Sequence | AbstractSet):
        return _container(value, depth + 1) if depth < MAX_DEPTH else "..."
    return text(_shown(value), MAX_OBJECT)


def text(value: str, longest: int = MAX_TEXT) -> str:
    """A text, redacted, cut in the end when it is too long, and encodable."""
    if len(value) <= longest:
        shown = redact(value)
    else:
        # The cut may go through a secret, which is then not known as one: so cut late, redact, and drop the rim.
        shown = redact(value[: longest + _MARGIN])[:-_MARGIN]
        shown = f"{shown}... ({len(value)} characters)"
    return shown if shown.isascii() else shown.encode("utf-8", "backslashreplace").decode()


def tail(value: str, longest: int) -> str:
    """A traceback, cut at the front when it is too long: its end is what counts."""
    # a header's value ends with its line, so a text that begins with a line has no value without its name
    whole = value if len(value) <= _MAX_TAIL else value[-_MAX_TAIL:].partition("\n")[2]
    shown = text(whole, _MAX_TAIL)
    return shown if len(value) <= longest else f"({len(value)} characters) ...{shown[-longest:]}"


def _container(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        pairs = list(value.items())[:MAX_ENTRIES]
        return {_key(name): _entry(name, entry, depth) for name, entry in pairs}
    entries = list(value)
    if len(entries) == 2 and isinstance(entries[0], str | bytes) and is_secret_name(_key(entries[0])):  # noqa: PLR2004
        return [_key(entries[0]), MASK]  # a header line
    shown = [plain(entry, depth=depth) for entry in entries[:MAX_ENTRIES]]
    return shown if len(entries) <= MAX_ENTRIES else [*shown, f"... ({len(entries)} entries)"]


def _key(name: Any) -> str:
    return str(plain(name, longest=128, depth=MAX_DEPTH))


def _entry(name: Any, value: Any, depth: int) -> Any:
    hide = isinstance(name, str | bytes) and is_secret_name(_key(name)) and value is not None
    return MASK if hide else plain(value, depth=depth)


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception as exc:  # noqa: BLE001  # a log line must not fail because of what it shows
        return f"<{type(value).__name__}: {type(exc).__name__} when shown>"
