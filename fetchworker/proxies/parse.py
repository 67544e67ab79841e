"""Every way in which a user may hand over proxies → one list.

A value is text, a list, a mapping, JSON text of these, or the name of a file. Reading the file is the only I/O here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fetchworker.errors import ProxyConfigError
from fetchworker.proxies.base import Proxy
from fetchworker.proxies.entry import describe, parse_mapping, parse_text
from fetchworker.proxies.product import NO_ACCOUNTS, Accounts

#: the environment variable that is read when no other source is named
VARIABLE = "FETCHWORKER_PROXIES"

_FILE = re.compile(r"(?:@|file:(?://(?=/))?)(?P<path>[^\r\n]+)")
_JSON = re.compile(r'\{|\[\s*["{\]]')  # "[::1]:8080" is no JSON
_SEPARATORS = re.compile(r"[\s,]+")
_COMMENT = re.compile(r"(^|\s)#.*")


def parse_proxies(value: object, *, source: str, accounts: Accounts = NO_ACCOUNTS) -> list[Proxy]:
    """Proxies from a value of any kind that a user may give, in order, each endpoint once.

    Args:
        value: text (one entry, or several with commas, blanks or line ends between them; JSON; ``@/path`` or
            ``file:/path``), a list of texts and mappings, a mapping, a :class:`~pathlib.Path`, or None.
        source: where the value comes from (a variable, a setting), for errors.
        accounts: credentials of providers for entries that name a product and none of their own.

    Returns:
        An empty list only for no value at all: None, blank text, an empty list or mapping.

    Raises:
        ProxyConfigError: names the source, the place of the entry and what to write; never credentials.
    """
    path = proxy_file(value)
    if path is not None:
        return _complete(_file_entries(path, source), source=f"{source} ({path})", given=True, accounts=accounts)
    if isinstance(value, str):
        text = value.strip()
        return _complete(_text_entries(text, source), source=source, given=bool(text), accounts=accounts)
    return _complete(_numbered(_entries(value, source)), source=source, given=False, accounts=accounts)


def load_proxies(spec: str | Path | None = None, *, env: Mapping[str, str] | None = None) -> list[Proxy]:
    """Proxies by the name of their source.

    Args:
        spec: ``env:NAME``, ``@/path``, ``file:/path``, a path, or anything that :func:`parse_proxies` takes; None reads
            FETCHWORKER_PROXIES, which may be unset.
        env: the environment (default: that of the process).

    Raises:
        ProxyConfigError: as :func:`parse_proxies`; also for an ``env:NAME`` that is not set.
    """
    env = os.environ if env is None else env
    if spec is None:
        return parse_proxies(env.get(VARIABLE), source=VARIABLE)
    if isinstance(spec, str) and spec.startswith("env:"):
        name = spec.removeprefix("env:")
        if not env.get(name, "").strip():
            raise ProxyConfigError(f"the environment variable {name} is not set; it should hold the proxies")
        return parse_proxies(env[name], source=name)
    return parse_proxies(spec, source="the proxy list")


def proxy_file(value: object) -> Path | None:
    """The file that a value names, or None if the value is the list itself."""
    if isinstance(value, Path):
        return value
    match = _FILE.fullmatch(value.strip()) if isinstance(value, str) else None
    return Path(match["path"]).expanduser() if match else None


class WatchedFile:
    """Tells when a file was written or replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = self._signature()

    def changed(self) -> bool:
        """Whether it is another than at the last call. A file that is away counts as changed once it is back."""
        signature = self._signature()
        if signature is None or signature == self._seen:
            return False
        self._seen = signature
        return True

    def _signature(self) -> tuple[int, int, int] | None:
        try:
            stat = self.path.stat()
        except OSError:
            return None
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _complete(entries: Iterable[tuple[str, object]], *, source: str, given: bool, accounts: Accounts) -> list[Proxy]:
    """Parse, fold what is there twice, and refuse a source that turns out to be empty."""
    proxies: dict[str, Proxy] = {}
    for place, entry in entries:
        for proxy in _parse_entry(entry, f"{source} {place}", accounts):
            proxies.setdefault(proxy.url.get_secret_value(), proxy)
    if given and not proxies:
        raise ProxyConfigError(f"{source} holds no proxy; name at least one, or leave it unset")
    return list(proxies.values())


def _parse_entry(entry: object, place: str, accounts: Accounts) -> list[Proxy]:
    try:
        if isinstance(entry, Proxy):
            return [entry]
        if isinstance(entry, Mapping):
            return parse_mapping(entry, accounts)
        if isinstance(entry, str):
            return [parse_text(entry, accounts)]
    except ProxyConfigError as error:
        fault = error.message
    else:
        fault = "an entry is text or a mapping"
    raise ProxyConfigError(f"{place} ({describe(entry)}): {fault}")


def _entries(value: object, source: str) -> list[Any]:
    """The entries of a value that is no text: a list, ``{"proxies": [...]}``, or one mapping."""
    if value is None:
        return []
    if isinstance(value, Proxy):
        return [value]
    if isinstance(value, Mapping):
        if set(value) == {"proxies"}:
            return _entries(value["proxies"], source)
        return [value] if value else []
    if isinstance(value, list | tuple):
        return list(value)
    raise ProxyConfigError(f"{source} is {type(value).__name__}; give text, a list or a mapping")


def _numbered(entries: Iterable[Any], word: str = "entry") -> Iterator[tuple[str, Any]]:
    return ((f"{word} {number}", entry) for number, entry in enumerate(entries, start=1))


def _text_entries(text: str, source: str) -> Iterator[tuple[str, Any]]:
    if _JSON.match(text):
        return _numbered(_entries(_from_json(text, source), source))
    lines = (_COMMENT.sub("", line) for line in text.splitlines())
    return _numbered(part for line in lines for part in _SEPARATORS.split(line) if part)


def _file_entries(path: Path, source: str) -> Iterator[tuple[str, Any]]:
    """``.json``, ``.yaml``, or else one entry a line; ``#`` starts a comment at a line's head or after a blank."""
    place = f"{source} ({path})"
    text = _read(path, source)
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _numbered(_entries(_from_json(text, place), place))
    if suffix in {".yaml", ".yml"}:
        return _numbered(_entries(_from_yaml(text, place), place))
    lines = _numbered((_COMMENT.sub("", line).strip() for line in text.splitlines()), "line")
    return ((number, line) for number, line in lines if line)


def _read(path: Path, source: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProxyConfigError(f"{source}: cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        pass  # its object holds the file's bytes, so it must not travel along as a context
    raise ProxyConfigError(f"{source}: {path} is not UTF-8 text")


def _from_json(text: str, source: str) -> object:
    # The decoder's error holds the whole text: only its place may leave
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
    raise ProxyConfigError(f"{source} is not valid JSON (at {place})")


def _from_yaml(text: str, source: str) -> object:
    import yaml  # noqa: PLC0415 (heavy, and few lists are YAML)

    # As with JSON: a YAML error quotes the line
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "unknown place"
    raise ProxyConfigError(f"{source} is not valid YAML (at {place})")
