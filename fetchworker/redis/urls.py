"""What REDIS_URL may say, read without a connection and without an error that tells a credential.

The messages of urllib and redis-py may quote the URL, so neither they nor their exceptions go any further.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from urllib.parse import SplitResult

Kind = Literal["single", "sentinel", "cluster"]

#: scheme → (kind, the scheme of its servers' URLs)
_SCHEMES: dict[str, tuple[Kind, str]] = {
    "redis": ("single", "redis"),
    "rediss": ("single", "rediss"),
    "unix": ("single", "unix"),
    "redis+sentinel": ("sentinel", "redis"),
    "rediss+sentinel": ("sentinel", "rediss"),
    "sentinel": ("sentinel", "redis"),
    "redis+cluster": ("cluster", "redis"),
    "rediss+cluster": ("cluster", "rediss"),
    "cluster": ("cluster", "redis"),
}
_FORMS = (
    "Write redis://user:password@host:6379/0, unix:///path/to/socket, "
    "redis+sentinel://user:password@host:26379,host2:26379/service/0 or "
    "redis+cluster://user:password@host:6379,host2:6379; rediss for TLS"
)
ENCODE = "percent-encode / ? # @ in a user name or password"
_PORTS = {"sentinel": 26_379, "cluster": 6379}
#: options that say how a connection is made, and so hold for sentinels as well
_COMMON = ("ssl_", "socket_keepalive")
_OF_SENTINELS = "sentinel_"


@dataclass(frozen=True, slots=True)
class Target:
    """A URL, taken apart.

    Attributes:
        kind: what there is.
        label: the URL without credentials and options.
        url: credentials, database and options of the servers, as a URL that redis-py reads; its host counts only when
            ``kind`` is ``"single"``.
        hosts: the sentinels, or the nodes of a cluster that are asked first.
        service: the name that the sentinels know the master under.
        sentinel_url: credentials and options of the sentinels, likewise.
    """

    kind: Kind
    label: str
    url: str
    hosts: tuple[tuple[str, int], ...] = ()
    service: str = ""
    sentinel_url: str = ""

    def __repr__(self) -> str:
        return f"<Target {self.label}>"


class UrlFaultError(ConfigError):
    """What is wrong with the URL; tells none of it."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"REDIS_URL: {fault}. {_FORMS}")


def read_url(url: str) -> Target:
    """Take a URL apart.

    Raises:
        ConfigError: it is none of ours; names the fault, holds no credentials.
    """
    target = None
    with suppress(ValueError):
        target = _read(url)
    if target is None:
        raise UrlFaultError(f"it cannot be read; {ENCODE}, and check the options after ?")
    return target


def credentials(url: str) -> list[str]:
    """The password and the options of a URL, as written and decoded; a user name may be any word of a sentence."""
    authority, _, query, _ = _parts(url.partition("://")[2])
    password = authority.rpartition("@")[0].partition(":")[2]
    words = (password, query, *(value for _, value in parse_qsl(query)))
    return [text for word in words for text in (word, unquote(word)) if len(text) > 1]


def _read(url: str) -> Target:
    scheme, _, rest = url.partition("://")
    if scheme.lower() not in _SCHEMES:
        raise UrlFaultError(f"the scheme must be one of {', '.join(_SCHEMES)}")
    kind, servers = _SCHEMES[scheme.lower()]
    if kind == "single":
        return _single(url)
    authority, path, query, fragment = _parts(rest)
    if fragment or "@" in path + query:
        raise UrlFaultError(f"something stands where the host ought to end; {ENCODE}")
    user, _, places = authority.rpartition("@")
    hosts = tuple(_host(servers, place, _PORTS[kind]) for place in places.split(","))
    label = f"{scheme.lower()}://{places}{unquote(path)}"
    head = f"{servers}://{user}@" if user else f"{servers}://"
    if kind == "cluster":
        if path.strip("/") not in ("", "0"):
            raise UrlFaultError("a cluster has no numbered databases")
        return Target(kind, label, _with(f"{head}cluster/0", parse_qsl(query)), hosts)
    service, database = _service(path)
    mine, theirs = _split_options(query)
    return Target(
        kind, label, _with(f"{head}master/{database}", mine), hosts, service, _with(f"{servers}://sentinel", theirs)
    )


def _parts(rest: str) -> tuple[str, str, str, str]:
    """Authority, path, query and fragment of what follows ``://``."""
    rest, _, fragment = rest.partition("#")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("/")
    return authority, slash + path, query, fragment


def _single(url: str) -> Target:
    parts = urlsplit(url)
    if fault := _single_fault(parts):
        raise UrlFaultError(fault)
    place = parts.netloc.rpartition("@")[2]
    return Target("single", f"{parts.scheme}://{place}{unquote(parts.path)}", url)


def _single_fault(parts: SplitResult) -> str | None:
    if parts.scheme == "unix":
        return None if parts.path.strip("/") else "the path of the socket is missing"
    if parts.fragment or "@" in parts.path + parts.query:
        return f"something stands where the host ought to end; {ENCODE}"
    if "," in parts.netloc.rpartition("@")[2]:
        return "several hosts are those of redis+sentinel:// or redis+cluster://"
    database = parts.path.strip("/")
    if database and not database.isdecimal():
        return "what follows the host is no number of a database"
    return "the port is not a number from 1 to 65535" if parts.port == 0 else None


def _host(scheme: str, place: str, port: int) -> tuple[str, int]:
    parts = urlsplit(f"{scheme}://{place}")
    if not parts.hostname or re.search(r"\s", place):
        raise UrlFaultError("a host is missing between the commas")
    if parts.port == 0:
        raise UrlFaultError("the port is not a number from 1 to 65535")
    return parts.hostname, parts.port or port


def _service(path: str) -> tuple[str, str]:
    """The service's name and the number of the database."""
    service, _, database = path.strip("/").partition("/")
    if not service:
        raise UrlFaultError("the name of the service is missing, which follows the sentinels after a /")
    if database and not database.isdecimal():
        raise UrlFaultError("what follows the service is no number of a database")
    return unquote(service), database or "0"


def _split_options(query: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The options of the servers, and those of the sentinels."""
    pairs = parse_qsl(query, keep_blank_values=True)
    mine = [pair for pair in pairs if not pair[0].startswith(_OF_SENTINELS)]
    theirs = [(name.removeprefix(_OF_SENTINELS), value) for name, value in pairs if name.startswith(_OF_SENTINELS)]
    given = {name for name, _ in theirs}
    common = [pair for pair in mine if pair[0].startswith(_COMMON) and pair[0] not in given]
    return mine, common + theirs


def _with(url: str, options: list[tuple[str, str]]) -> str:
    return f"{url}?{urlencode(options)}" if options else url
