"""What may be fetched, decided from the URL or from an address (pure; nothing is looked up).

A URL is judged by the strictest reading that any part on its way may give it: ours, curl's, and that of a proxy, which
is given the name and looks it up itself.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Literal

import idna

from fetchworker.egress.addresses import special
from fetchworker.errors import EgressDeniedError, SchemeDeniedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fetchworker.config import Destination
    from fetchworker.egress.addresses import IPAddress

Layer = Literal["url", "address", "proxy"]
"""Where a request was stopped: by its URL, by the address of the connection, or on the way to its proxy."""

#: why something is refused → the words for it
REASONS = {
    "scheme": "only http and https are fetched",
    "host": "there is no host in it that could be looked up",
    "userinfo": "a URL with a user name or a password in it is not fetched",
    "port": "the port is not among FETCHWORKER_EGRESS_PORTS, or one that no browser connects to",
    "numeral": "the host is a number in an unusual spelling",
    "single_label": "a host of one word belongs to the local network",
    "special_name": "names with this ending belong to the local network",
    "metadata": "this is a metadata service of a cloud",
    "loopback": "this is the machine itself",
    "private": "this is an address of a private network",
    "shared": "this is an address behind a provider's NAT",
    "link_local": "this is an address of the local link",
    "unspecified": "this is no address of a host",
    "multicast": "this is no address of a single host",
    "special": "this address is reserved for another purpose than hosts on the internet",
    "other_host": "the host is not among the site's allowed_hosts",
    "not_the_proxy": "the connection would not have gone to the chosen proxy",
    "error": "the check itself failed",
}

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:]+)(?::([0-9]{0,20}))?", re.ASCII)
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
_NUMERAL = re.compile(r"(0x[0-9a-f]*|[0-9]+)")
_LONGEST_NAME = 253
_MAX_PORT = 65_535
_PORTS = {"http": 80, "https": 443}
_DEFAULT_PORT_RANGES = ((80, 80), (443, 443), (1024, _MAX_PORT))
#: above 1023, ports that browsers never connect to (https://fetch.spec.whatwg.org/#port-blocking, seen 2026-11)
_BLOCKED_PORTS = frozenset(
    (
        1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
        10080,
    )
)  # fmt: skip
#: endings of names that lead into the local network (RFC 6761, 6762, 7686, 8375, 9476; .internal: ICANN 2024), and
#: those that networks use without asking anybody
_LOCAL_ENDINGS = (
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa",
    "onion", "alt",
)  # fmt: skip
#: metadata services with names like public ones (Google, Tencent, Equinix)
_METADATA_NAMES = (
    "metadata.google.internal",
    "metadata.goog",
    "metadata.tencentyun.com",
    "metadata.packet.net",
    "metadata.platformequinix.com",
)
#: reasons that lie in how a place is written
_NO_PLACE = frozenset({"host", "userinfo", "numeral", "port"})
_FULL_STOPS = str.maketrans(dict.fromkeys("。．｡", "."))
_CACHED = 4096  # origins


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something may be reached, and if not, why (a key of :data:`REASONS`) and where it was stopped.

    ``trusted``: the operator listed the host by its name, so it may lead anywhere.
    """

    allowed: bool
    reason: str = ""
    layer: Layer = "url"
    trusted: bool = False


ALLOWED = Decision(allowed=True)
_TRUSTED = Decision(allowed=True, trusted=True)


def denied(decision: Decision, url: str, **context: str) -> EgressDeniedError:
    """The error for a refusal. The text names the URL's host and no address that it was found to lead to."""
    origin = _ORIGIN.match(url)
    host = origin[0].partition("://")[2].rpartition("@")[2] if origin else ""
    by = " by that proxy" if decision.layer == "proxy" else ""
    kind = SchemeDeniedError if decision.reason == "scheme" else EgressDeniedError
    return kind(
        f"{host or 'the URL'} is not fetched{by}: {REASONS[decision.reason]} ({decision.layer}: {decision.reason})",
        layer=decision.layer,
        reason=decision.reason,
        **context,
    )


class EgressPolicy:
    """Public destinations, and those that are listed.

    Args:
        allow: places that may be reached whatever they are, at the ports that they name.
        ports: the first and last of each range of ports that may be reached anywhere else.
    """

    def __init__(
        self, *, allow: Iterable[Destination] = (), ports: Iterable[tuple[int, int]] = _DEFAULT_PORT_RANGES
    ) -> None:
        allow = tuple(allow)
        self._names = frozenset((entry.name, entry.port) for entry in allow if entry.name)
        self._networks = tuple((entry.network, entry.port) for entry in allow if entry.network)
        self._ports = tuple(ports)
        self._of_origin = lru_cache(_CACHED)(self._judge)

    def classify(self, url: str) -> Decision:
        """Judge a URL; decisions are kept by scheme, host and port."""
        origin = _ORIGIN.match(url)
        if origin is None:
            return Decision(allowed=False, reason="host" if url.lower().startswith(("http:", "https:")) else "scheme")
        return self._of_origin(origin[0])

    def classify_address(self, address: str | IPAddress, port: int) -> Decision:
        """Judge the address and port of a connection."""
        parsed = ip_address(address) if isinstance(address, str) else address
        for network, only in self._networks:
            if parsed.version == network.version and parsed in network and only in (None, port):
                return ALLOWED
        reason = special(parsed) or self._port_reason(port)
        return Decision(allowed=False, reason=reason, layer="address") if reason else ALLOWED

    def _judge(self, origin: str) -> Decision:
        scheme, _, authority = origin.partition("://")
        default_port = _PORTS.get(scheme.lower())
        if default_port is None:
            return _refused("scheme")
        if "@" in authority:
            return _refused("userinfo")
        parts = _AUTHORITY.fullmatch(authority)
        if parts is None:
            return _refused("host")
        host, port = parts[1], int(parts[2] or default_port)
        if not 0 < port <= _MAX_PORT:
            return _refused("port")
        decisions = [self._judge_host(spelling, port) for spelling in _spellings(host)]
        return min(decisions, key=lambda decision: (decision.allowed, decision.trusted), default=_refused("host"))

    def _judge_host(self, host: str, port: int) -> Decision:
        if host.startswith("["):
            literal = _literal(host[1:-1], IPv6Address)
            return self._judge_literal(literal, port) if literal else _refused("host")
        name = host.removesuffix(".")
        if len(name) > _LONGEST_NAME or not _NAME.fullmatch(name):
            return _refused("host")
        if _NUMERAL.fullmatch(name.rpartition(".")[2]):  # then it is an IPv4 address (https://url.spec.whatwg.org)
            literal = _literal(name, IPv4Address)
            return self._judge_literal(literal, port) if literal else _refused("numeral")
        if self._listed(name, port):
            return _TRUSTED
        reason = _name_reason(name) or self._port_reason(port)
        return _refused(reason) if reason else ALLOWED

    def _judge_literal(self, address: IPAddress, port: int) -> Decision:
        return replace(self.classify_address(address, port), layer="url")

    def _listed(self, name: str, port: int) -> bool:
        if not self._names:
            return False
        labels = name.split(".")
        above = ("*." + ".".join(labels[start:]) for start in range(1, len(labels)))
        return any((entry, only) in self._names for entry in (name, *above) for only in (None, port))

    def _port_reason(self, port: int) -> str:
        fits = port not in _BLOCKED_PORTS and any(first <= port <= last for first, last in self._ports)
        return "" if fits else "port"


def is_place(text: str) -> bool:
    """Whether a text is ``host`` or ``host:port``, wherever that may lead."""
    if re.search(r"[/?#]|:\Z", text):
        return False
    return EgressPolicy(ports=((1, _MAX_PORT),)).classify(f"http://{text}").reason not in _NO_PLACE


def _refused(reason: str) -> Decision:
    return Decision(allowed=False, reason=reason)


def _name_reason(name: str) -> str:
    if _ends_in(name, _METADATA_NAMES):
        return "metadata"
    if _ends_in(name, _LOCAL_ENDINGS):
        return "special_name"
    return "" if "." in name else "single_label"


def _ends_in(name: str, endings: tuple[str, ...]) -> bool:
    return any(name == ending or name.endswith(f".{ending}") for ending in endings)


def _literal(text: str, kind: Callable[[str], IPAddress]) -> IPAddress | None:
    try:
        return kind(text)
    except ValueError:
        return None


def _spellings(host: str) -> tuple[str, ...]:
    """A host in lower-case ASCII, in every way that its characters are read by somebody; none if one cannot read it.

    Libraries differ by their version of Unicode and of IDNA: squared letters are none in Python's codec and letters
    in curl's.
    """
    if host.isascii():
        return (host.lower(),)
    folded = unicodedata.normalize("NFKC", host).translate(_FULL_STOPS).casefold()
    digits = "".join(str(unicodedata.decimal(char, char)) for char in folded)
    try:
        read = [name.encode("idna").decode() for name in (host, digits, idna.uts46_remap(host, std3_rules=False))]
    except (UnicodeError, idna.IDNAError):
        return ()
    return tuple(dict.fromkeys(name.lower() for name in read))
