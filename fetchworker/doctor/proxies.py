"""Whether proxies let us through: a connection by each, to where nothing is sent.

It is made as crawls make theirs: by curl, under the egress guard, the name left to the proxy.
"""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from curl_cffi import Curl, CurlError, CurlInfo, CurlOpt

from fetchworker.doctor.check import Check, guarded
from fetchworker.download.easy import number_of, set_number, set_proxy, set_verification
from fetchworker.download.translate import (
    COULDNT_CONNECT,
    COULDNT_RESOLVE_PROXY,
    OPERATION_TIMEDOUT,
    PROXY_AUTHENTICATION_REQUIRED,
    SOCKS_AUTH_CODES,
    SOCKS_REFUSED_CODES,
)
from fetchworker.download.trust import ca_bundle
from fetchworker.egress import REASONS, EgressPolicy
from fetchworker.egress.guard import Guard, proxy_route
from fetchworker.errors import ConfigError, ProxyRefusedError
from fetchworker.runtime import proxy_manager

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fetchworker.config import Environment
    from fetchworker.proxies import Proxy
    from fetchworker.sites import SiteConfig, Sites

#: seconds that one proxy may take
LIMIT = 10.0
#: seconds that one may take at a crawl's start, and how many are tried there
AT_START, MOST_AT_START = 5.0, 32
#: proxies that are tried at once
AT_ONCE = 64
#: where they are asked to connect to: a host that belongs to nobody's crawl (RFC 2606)
DESTINATION = "example.com:443"
_REFUSED = 400
_TLS_CODES = frozenset({35, 53, 54, 58, 59, 60, 66, 77, 80, 83, 90, 91})


class Fault(Enum):
    """What is wrong with a proxy, and what to do about it."""

    CREDENTIALS = "it refuses our user name or password: correct its entry, or ask its provider"
    NAME = "its name leads nowhere: correct its entry"
    REFUSED = "nobody listens there: correct its entry, or start it"
    SILENT = "it does not answer within {limit:g} s: it is down, a firewall stands between, or the scheme is wrong"
    TLS = "no TLS with it: write http:// if it is no https proxy, or trust its certificate with FETCHWORKER_CA_FILE"
    DESTINATION = "it takes us and refuses the way to {destination}: name a host that it may reach with --destination"
    OTHER = "it is no proxy of this kind, or it broke off: correct the scheme or the port"


@dataclass(frozen=True, slots=True)
class Tried:
    """How a try ended; ``said`` is what the proxy or curl had to say."""

    proxy: Proxy
    fault: Fault | None
    said: str = ""

    def check(self, destination: str, *, alone: bool) -> Check:
        """The faulty proxy's own line; one among others that work is no reason to stop, unless it wants to be paid."""
        assert self.fault
        todo = self.fault.value.format(limit=LIMIT, destination=destination)
        needed = alone or self.fault is Fault.CREDENTIALS
        said = f"{self.said}: " if self.said else ""
        return Check(f"proxy {self.proxy.label} {self.proxy.id}", good=False, told=said + todo, needed=needed)


def checks(environment: Environment, sites: Sites, destination: str | None) -> list[Check]:
    """How the list stands as a whole, and a line for each proxy that does not let us through."""
    found: list[Check] = []

    def whole() -> Check:
        proxies = list(proxy_manager(environment))
        if not proxies:
            return _without(sites)
        to = with_port(destination) if destination else default_destination(environment.host_map)
        _check_destination(environment, to)
        faulty = [tried for tried in _try_all(environment, proxies, to) if tried.fault]
        usable = len(proxies) - len(faulty)
        found.extend(tried.check(to, alone=not usable) for tried in faulty)
        told = f"{usable} of {len(proxies)} configured let us through to {to}{_tiers(proxies)}"
        return Check("proxies", usable > 0, told + ("" if usable else "; the next lines say why"))

    return [guarded("proxies", whole), *found]


def _tiers(proxies: Sequence[Proxy]) -> str:
    counted = Counter(proxy.tier for proxy in proxies if proxy.tier)
    return f" ({', '.join(f'{count} {tier}' for tier, count in sorted(counted.items()))})" if counted else ""


def check_start(environment: Environment, config: SiteConfig) -> None:
    """See before a crawl that no proxy refuses our credentials; what else may be wrong with one is no reason to stop.

    Each account is tried once by each gateway, :data:`MOST_AT_START` in all.

    Raises:
        ProxyRefusedError: naming the proxies that refuse, and what to do.
    """
    if not environment.proxy_check or config.proxy == "none":
        return
    accounts = {(proxy.address, proxy.username): proxy for proxy in proxy_manager(environment)}
    proxies = list(accounts.values())[:MOST_AT_START]
    if not proxies:
        return
    to = default_destination(environment.host_map or dict.fromkeys(config.allowed_hosts or (), ""))
    tried = _try_all(environment, proxies, to, limit=AT_START)
    refused = [one.proxy for one in tried if one.fault is Fault.CREDENTIALS]
    if refused:
        names = "\n".join(f"  {proxy.label} (id {proxy.id})" for proxy in refused)
        raise ProxyRefusedError(
            "proxies refuse our user name or password (407): correct their entries in FETCHWORKER_PROXIES or the file, "
            f"or ask the provider; FETCHWORKER_PROXY_CHECK=false begins without asking them\n{names}"
        )


def with_port(host: str) -> str:
    """``host:port``; browsers' port where none is named."""
    return host if re.search(r":\d+\Z", host) else f"{host}:443"


def default_destination(host_map: Mapping[str, str]) -> str:
    """With a host map (tests and demos) there is nothing but its hosts."""
    return with_port(next(iter(host_map), DESTINATION))


def _check_destination(environment: Environment, destination: str) -> None:
    policy = EgressPolicy(allow=environment.destinations(), ports=environment.egress_ports)
    decision = policy.classify(f"http://{destination}")
    if not decision.allowed:
        raise ConfigError(f"--destination: {REASONS[decision.reason]}")


def _without(sites: Sites) -> Check:
    needing = [name for name, config in sites.items() if config.proxy == "required"]
    if needing:
        told = f"none, but {', '.join(needing)} require one: set FETCHWORKER_PROXIES"
        return Check("proxies", good=False, told=told)
    return Check("proxies", good=True, told="none: requests go out directly")


def _try_all(
    environment: Environment, proxies: Sequence[Proxy], destination: str, *, limit: float = LIMIT
) -> Iterator[Tried]:
    bundle = ca_bundle(environment)
    with ThreadPoolExecutor(min(AT_ONCE, len(proxies))) as threads:
        yield from threads.map(lambda proxy: attempt(proxy, destination, limit=limit, ca_file=bundle), proxies)


def attempt(proxy: Proxy, destination: str, *, limit: float = LIMIT, ca_file: str | None = None) -> Tried:
    """Ask a proxy for a connection, and leave it at that."""
    guard, curl = Guard(EgressPolicy()), Curl()
    try:
        guard.attach(curl)
        guard.begin(proxy_route(proxy.host, proxy.port, trusted=True))
        _configure(curl, proxy, destination, limit, ca_file)
        try:
            curl.perform()
        except CurlError as exc:
            return Tried(proxy, *_fault(curl, int(exc.code)))
        return Tried(proxy, None)
    finally:
        curl.close()
        guard.close()


def _configure(curl: Curl, proxy: Proxy, destination: str, limit: float, ca_file: str | None) -> None:
    # plain http: what is asked for is the tunnel alone, no handshake with the destination
    curl.setopt(CurlOpt.URL, f"http://{destination}/".encode())
    for option, value in ((CurlOpt.NOSIGNAL, 1), (CurlOpt.CONNECT_ONLY, 1), (CurlOpt.HTTPPROXYTUNNEL, 1)):
        set_number(curl, option, value)
    set_number(curl, CurlOpt.TIMEOUT_MS, int(limit * 1000))
    set_verification(curl, verify=True, ca_file=ca_file)
    set_proxy(curl, proxy)


def _fault(curl: Curl, code: int) -> tuple[Fault, str]:
    answer = number_of(curl, CurlInfo.HTTP_CONNECTCODE)
    if answer == PROXY_AUTHENTICATION_REQUIRED:
        return Fault.CREDENTIALS, "407"
    by_socks = number_of(curl, CurlInfo.PROXY_ERROR)
    if by_socks in SOCKS_AUTH_CODES:
        return Fault.CREDENTIALS, "SOCKS5"
    if answer >= _REFUSED or by_socks in SOCKS_REFUSED_CODES:
        return Fault.DESTINATION, str(answer or "SOCKS5")
    return _by_code(code)


def _by_code(code: int) -> tuple[Fault, str]:
    if code in _TLS_CODES:
        return Fault.TLS, f"curl {code}"
    known = {COULDNT_RESOLVE_PROXY: Fault.NAME, COULDNT_CONNECT: Fault.REFUSED, OPERATION_TIMEDOUT: Fault.SILENT}
    fault = known.get(code)
    return (fault, "") if fault else (Fault.OTHER, f"curl {code}")
