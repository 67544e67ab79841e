"""Who a browser says it is (pure): User-Agent, client hints and languages that agree with each other.

Measured with Chromium 156 and Playwright 1.65 (2026-11): Playwright's own ``user_agent`` leaves the brands to Chromium,
which say HeadlessChrome, and has workers say none; its ``locale`` makes subresources send one language. So both are
left out there and set by the same command of the DevTools protocol with all of its fields, for each page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fetchworker.browser.options import ContextSpec

_BRAND = re.compile(r'"([^"]+)";\s*v="(\d+)"')
_TAG = re.compile(r"\s*([A-Za-z0-9-]+|\*)")
#: platform of the hints → navigator.platform, platformVersion, architecture, bitness
_PLATFORMS = {
    "Windows": ("Win32", "19.0.0", "x86", "64"),
    "macOS": ("MacIntel", "15.5.0", "arm", "64"),
    "Linux": ("Linux x86_64", "", "x86", "64"),
    "Android": ("Linux armv81", "14.0.0", "", ""),
}


def plain_agent(major: int) -> str:
    """The User-Agent of a Chrome on Linux with a window."""
    return f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"


def plain_hints(major: int) -> str:
    """The brands of the same."""
    return f'"Not:A-Brand";v="8", "Chromium";v="{major}", "Google Chrome";v="{major}"'


def overrides(spec: ContextSpec, major: int) -> dict[str, Any]:
    """The parameters of ``Emulation.setUserAgentOverride`` for a context in a Chromium of this major version."""
    languages = languages_of(spec)
    said: dict[str, Any] = {"userAgent": spec.user_agent or plain_agent(major)}
    if languages:
        said["acceptLanguage"] = ",".join(languages)
    if spec.user_agent and spec.hints is None:
        return said
    hints = spec.hints
    brands = hints.sec_ch_ua if hints else plain_hints(major)
    platform = hints.platform.strip('"') if hints else "Linux"
    return {**said, **_metadata(brands, platform, mobile=hints is not None and hints.mobile == "?1")}


def _metadata(brands: str, platform: str, *, mobile: bool) -> dict[str, Any]:
    navigator, version, architecture, bitness = _PLATFORMS.get(platform, _PLATFORMS["Linux"])
    named = _BRAND.findall(brands)
    return {
        "platform": navigator,
        "userAgentMetadata": {
            "brands": [{"brand": brand, "version": major} for brand, major in named],
            "fullVersionList": [{"brand": brand, "version": f"{major}.0.0.0"} for brand, major in named],
            "platform": platform,
            "platformVersion": version,
            "architecture": architecture,
            "bitness": bitness,
            "model": "",
            "mobile": mobile,
            "wow64": False,
        },
    }


def languages_of(spec: ContextSpec) -> list[str]:
    """The languages of a context, most wanted first; empty for Chromium's own."""
    value = spec.accept_language or spec.locale
    return [found[1] for part in value.split(",") if (found := _TAG.match(part)) and found[1] != "*"]


def locale_of(spec: ContextSpec) -> str:
    """What dates and numbers are written as; "" for the machine's."""
    return spec.locale or next(iter(languages_of(spec)), "")
