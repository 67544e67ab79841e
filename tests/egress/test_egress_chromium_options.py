"""How Chromium is told that the proxy is its only way out."""

from __future__ import annotations

import pytest

from fetchworker.egress.chromium import chromium_arguments, chromium_environment
from fetchworker.errors import ConfigError


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_everything_goes_by_the_proxy(host):
    options = chromium_arguments(f"http://{host}:8123")
    assert options[:3] == [
        f"--proxy-server=http://{host}:8123",
        "--proxy-bypass-list=<-loopback>",
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {host}",
    ]
    needed = ("--disable-quic", "--dns-prefetch-disable", "--no-pings", "--disable-background-networking")
    assert set(needed) < set(options)
    assert sum(option.endswith("webrtc-ip-handling-policy=disable_non_proxied_udp") for option in options) == 2
    assert not [option for option in options if option.startswith("--disable-features")], "it overrides Playwright's"
    assert len(options) == len(set(options))


@pytest.mark.parametrize(
    "url",
    [
        "", "127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://ann:w@127.0.0.1:80",
        "http://localhost:80", "http://10.0.0.1:80", "https://127.0.0.1:80", "http://127.0.0.1:80/x", "http://[::1:80",
        "http://127.0.0.1:80?x", "http://127.0.0.1:80 --no-proxy-server",
    ],
)  # fmt: skip
def test_other_proxies_are_refused_without_their_credentials(url):
    with pytest.raises(ConfigError, match="proxy_url") as caught:
        chromium_arguments(url)
    assert "ann" not in str(caught.value)


def test_the_environment_leads_nowhere_else():
    given = {
        "PATH": "/bin",
        "PLAYWRIGHT_DISABLE_FORCED_CHROMIUM_PROXIED_LOOPBACK": "1",
        "NO_PROXY": "*",
        "https_proxy": "x",
    }
    assert chromium_environment(given) == {"PATH": "/bin"}
    assert len(given) == 4
