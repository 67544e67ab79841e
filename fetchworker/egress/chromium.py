"""How Chromium is started so that the proxy is its only way out (pure).

Measured with Chromium 156: a page that goes to every loopback and private form by pictures, frames, fetch, beacons,
WebSocket and WebRTC reaches nothing (``tests/egress/test_egress_filter_chromium.py``).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: nothing but what a page asks for: no updates, reports, syncs. Never a ``--disable-features`` of one's own beside
#: Playwright's: the last one counts, and its own is needed (microsoft/playwright#40194).
BACKGROUND_OFF = (
    "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-domain-reliability", "--disable-sync", "--disable-client-side-phishing-detection",
    "--disable-default-apps", "--metrics-recording-only", "--no-pings", "--disable-quic",
)  # fmt: skip

#: the two spellings of one policy: which of them counts depends on the version
_WEBRTC = (
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: variables that change where Playwright's Chromium connects to
UNWANTED = frozenset({"PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK"})
_PROXIES = frozenset({"http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "auto_proxy"})
_PROXY_URL = re.compile(r"http://(127\.0\.0\.1|\[::1\]):([0-9]{1,5})/?", re.ASCII)
_MAX_PORT = 65_535


def chromium_arguments(proxy_url: str) -> list[str]:
    """Options of the command line: everything by the proxy, loopback too, and no UDP past it.

    With Playwright also pass ``proxy={"server": …, "bypass": "<-loopback>", "username": …, "password": …}`` to each
    context; credentials never stand in the options, which every user of the machine can read.

    Args:
        proxy_url: the proxy's ``url``.

    Raises:
        ConfigError: not ``http://`` with a loopback address and a port, or with credentials in it.
    """
    found = _PROXY_URL.fullmatch(proxy_url)
    if not found or not 0 < int(found[2]) <= _MAX_PORT:
        raise ConfigError("proxy_url: write http://127.0.0.1:PORT, without credentials; they go to the context")
    host, port = found[1], int(found[2])
    return [
        f"--proxy-server=http://{host}:{port}",
        "--proxy-bypass-list=<-loopback>",
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {host}",
        "--dns-prefetch-disable",
        *_WEBRTC,
        *BACKGROUND_OFF,
    ]


def chromium_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what would lead past the proxy: give it to Playwright's driver and to the browser."""
    return {name: value for name, value in environment.items() if name not in UNWANTED and name.lower() not in _PROXIES}
