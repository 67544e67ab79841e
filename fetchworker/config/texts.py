"""What texts of the environment say: passwords in URLs, entries of the host map."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import parse_qs, unquote

from fetchworker.secretnames import CREDENTIALS, any_of

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]")
#: in the name of a URL's argument: its value is nobody's business
_SECRET = re.compile(f"pass|key|{any_of(*CREDENTIALS)}", re.IGNORECASE)
_MAX_PORT = 65_535
_IPV6 = 6
_LONG = 64  # characters of a wrong value that an error shows


def passwords(url: str) -> frozenset[str]:
    """The passwords in the URL of a server, as written and decoded."""
    # not urlsplit: a password may hold a / ? or # that should have been percent-encoded
    user_info = url.partition("://")[2].rpartition("@")[0]
    query = parse_qs(url.partition("?")[2])
    queried = [value for key, values in query.items() if _SECRET.search(key) for value in values]
    written = [user_info.partition(":")[2], *queried]
    return frozenset(text for value in written for text in (value, unquote(value)) if text)


def may_be_shown(value: str) -> bool:
    """Whether a wrong value is short and cannot hold credentials, in whichever variable it was put."""
    return len(value) <= _LONG and not set("@:") & set(value)


def host_map_entry(host: str, address: str) -> tuple[str, str]:
    """One pair of the host map in its canonical spelling."""
    named = repr(host) if may_be_shown(host.replace(":", "", 1)) else "an entry"
    name, port = _split_port(host.strip().lower())
    if not _HOST.fullmatch(name) or port == 0:
        raise ValueError(f"{named} is not host or host:port")
    ip, to_port = _split_port(address.strip())
    try:
        literal = ipaddress.ip_address(ip.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise ValueError(f"the value of {named} is not ip:port (a name is not looked up)") from None
    if not to_port:
        raise ValueError(f"the value of {named} lacks a port from 1 to {_MAX_PORT}")
    target = f"[{literal}]" if literal.version == _IPV6 else str(literal)
    return (f"{name}:{port}" if port else name), f"{target}:{to_port}"


def _split_port(text: str) -> tuple[str, int | None]:
    """Host and port; the port is None when there is none, and 0 when what stands there is no port."""
    head, colon, tail = text.rpartition(":")
    if not colon or tail.endswith("]"):
        return text, None
    valid = tail.isascii() and tail.isdigit() and len(tail) <= len(str(_MAX_PORT)) and int(tail) <= _MAX_PORT
    return head, int(tail) if valid else 0
