"""What scrapy-playwright's settings and ours say about the browser (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fetchworker.browser import EngineOptions
from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from fetchworker.config import Environment

#: Playwright's options of a launch that change nothing about where the browser can go and how it ends
_LAUNCH = frozenset({"chromium_sandbox", "slow_mo"})
#: those that are ours to say; they are left out without a word, as spiders bring them along
_IGNORED = frozenset({
    "args", "executable_path", "timeout",  # read by themselves
    "headless", "handle_sigint", "handle_sigterm", "handle_sighup", "channel", "devtools",
})  # fmt: skip
#: options of Chromium that would open another way out, or take away what holds it
_FORBIDDEN = (
    "--proxy", "--no-proxy", "--winhttp", "--host-resolver", "--host-rules", "--remote-debugging", "--user-data-dir",
    "--disable-features", "--force-webrtc", "--webrtc", "--enable-quic", "--origin-to-force-quic",
    "--ignore-certificate-errors", "--headless", "--user-agent", "--load-extension",
)  # fmt: skip
_START = 60_000  # milliseconds that a browser has to start
_REMOTE = ("PLAYWRIGHT_CDP_URL", "PLAYWRIGHT_CONNECT_URL")


def check_settings(settings: BaseSettings) -> None:
    """Refuse a start whose settings cannot be had.

    Raises:
        ConfigError: naming the setting and what to write.
    """
    for name in _REMOTE:
        if settings.get(name):
            raise ConfigError(f"{name}: a browser elsewhere cannot be kept under the egress policy; leave it out")
    kind = settings.get("PLAYWRIGHT_BROWSER_TYPE") or "chromium"
    if kind != "chromium":
        raise ConfigError(f"PLAYWRIGHT_BROWSER_TYPE: {kind!r} is not known here; write chromium, or leave it out")
    launch = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    _launch(launch)
    _arguments(launch.get("args") or ())
    for name, arguments in settings.getdict("PLAYWRIGHT_CONTEXTS").items():
        if not isinstance(arguments, dict):
            raise ConfigError(f"PLAYWRIGHT_CONTEXTS: {name} is no mapping of arguments")


def engine_options(settings: BaseSettings, environment: Environment) -> EngineOptions:
    """How the crawl's browser is started.

    Raises:
        ConfigError: as :func:`check_settings`.
    """
    check_settings(settings)
    launch = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    program = environment.browser or launch.get("executable_path")
    return EngineOptions(
        program=str(program) if program else None,
        contexts=settings.getint("PLAYWRIGHT_MAX_CONTEXTS") or environment.browser_contexts,
        pages_per_context=settings.getint("PLAYWRIGHT_MAX_PAGES_PER_CONTEXT"),
        recycle_contexts=environment.browser_recycle,
        recycle_bytes=environment.browser_memory,
        start=float(launch.get("timeout") or _START) / 1000,
        ca_file=str(environment.ca_file) if environment.ca_file else None,
        host_map=tuple(sorted(environment.host_map.items())),
        arguments=_arguments(launch.get("args") or ()),
        launch=tuple(sorted(_launch(launch).items())),
    )


def _launch(options: dict[str, Any]) -> dict[str, Any]:
    wrong = sorted(options.keys() - _LAUNCH - _IGNORED)
    if wrong:
        known = ", ".join(sorted({"args", "executable_path", "timeout", *_LAUNCH}))
        told = "the proxy is the session's" if "proxy" in wrong else f"known are {known}"
        raise ConfigError(f"PLAYWRIGHT_LAUNCH_OPTIONS: {', '.join(wrong)} cannot be set: {told}")
    return {name: value for name, value in options.items() if name in _LAUNCH}


def _arguments(arguments: Any) -> tuple[str, ...]:
    found = tuple(str(argument) for argument in arguments)
    for argument in found:
        if argument.startswith(_FORBIDDEN):
            name = argument.partition("=")[0]
            raise ConfigError(f"PLAYWRIGHT_LAUNCH_OPTIONS: args: {name} is not the spider's to say; leave it out")
    return found


def context_arguments(settings: BaseSettings, name: str, given: Any) -> dict[str, Any]:
    """The arguments of a context: those of its name in PLAYWRIGHT_CONTEXTS, and the request's own over them."""
    named = settings.getdict("PLAYWRIGHT_CONTEXTS").get(name) or {}
    return {**named, **(given or {})}
