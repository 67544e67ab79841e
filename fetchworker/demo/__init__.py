"""A local site and local proxies to try everything against: nothing here leaves the machine.

The site plays instagram with invented people; test routes and benchmark pages stand beside it. ``python -m
fetchworker.demo serve`` runs all of it in a process of its own, :class:`DemoProcess` starts that from tests, and
:class:`UpstreamServer` and :class:`ProxyServer` run inside an event loop.

Importing this package is cheap; the libraries of the extra ``demo`` are loaded when a name below is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fetchworker.demo.behaviour import CALM, DEMO, Behaviour, BehaviourConfig
    from fetchworker.demo.bench import bench_app
    from fetchworker.demo.instagram import Instagram, cdn_app
    from fetchworker.demo.lab import lab_app
    from fetchworker.demo.log import Log, read_log, shared_between_identities
    from fetchworker.demo.model import App, GoAway, HangUp, Reply, RequestInfo, ResetStream, by_host
    from fetchworker.demo.process import DemoProcess
    from fetchworker.demo.proxy import Mode, ProxyServer
    from fetchworker.demo.server import UpstreamServer
    from fetchworker.demo.site import demo_site
    from fetchworker.demo.tls import Authority

_HOMES = {
    "behaviour": ("CALM", "DEMO", "Behaviour", "BehaviourConfig"),
    "bench": ("bench_app",),
    "gateway": ("GatewayServer",),
    "instagram": ("Instagram", "cdn_app"),
    "lab": ("lab_app",),
    "log": ("Log", "read_log", "shared_between_identities"),
    "model": ("App", "GoAway", "HangUp", "Reply", "RequestInfo", "ResetStream", "by_host"),
    "process": ("DemoProcess",),
    "proxy": ("Mode", "ProxyServer"),
    "server": ("UpstreamServer",),
    "site": ("demo_site",),
    "tls": ("Authority",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CALM", "DEMO", "App", "Authority", "Behaviour", "BehaviourConfig", "DemoProcess", "GatewayServer", "GoAway",
    "HangUp", "Instagram", "Log", "Mode", "ProxyServer", "Reply", "RequestInfo", "ResetStream", "UpstreamServer",
    "bench_app", "by_host", "cdn_app", "demo_site", "lab_app", "read_log", "shared_between_identities",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
