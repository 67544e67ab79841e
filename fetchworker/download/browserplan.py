"""What a request with ``meta["playwright"]`` asks of the browser (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fetchworker.browser import ClientHints, ContextSpec
from fetchworker.browser.cookies import Kept, for_browser, kept
from fetchworker.download.languages import language_for
from fetchworker.errors import ConfigError, ContradictionError
from fetchworker.proxies import parse_proxies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request

    from fetchworker.download.wire import Wire
    from fetchworker.proxies import Proxy

#: the context of requests that name none, as in scrapy-playwright
DEFAULT = "default"
#: headers that are the browser's own to say (lower case); the others of a request go out with its navigation
_BROWSERS = frozenset({
    "accept", "accept-charset", "accept-encoding", "accept-language", "connection", "content-length", "cookie", "dnt",
    "host", "keep-alive", "origin", "priority", "proxy-authorization", "proxy-connection", "referer", "te", "trailer",
    "transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent", "via",
})  # fmt: skip
_SCRAPYS = "Scrapy/"
#: arguments of a context that are the engine's to say
_OURS = ("proxy", "user_agent", "locale", "timezone_id", "ignore_https_errors", "viewport")


@dataclass(frozen=True, slots=True)
class Plan:
    """One visit: the context, and what is special about its first request.

    ``told`` are the cookies of the session's jar, None where there is no session; ``repeatable`` says whether the
    visit may be begun again when the browser dies under it.
    """

    spec: ContextSpec
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    method: str = "GET"
    body: bytes = field(default=b"", repr=False)
    referer: str | None = None
    told: list[Kept] | None = field(default=None, repr=False)

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent twice (RFC 9110, 9.2.2)."""
        return self.method in ("GET", "HEAD", "OPTIONS")

    @property
    def plain(self) -> bool:
        """Whether the browser's own first request is the one that is meant."""
        return self.method == "GET" and not self.headers and not self.body


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes of a visit, and whether certificates are verified."""

    seconds: float
    max_bytes: int | None
    verify: bool


def plan_visit(
    request: Request,
    wire: Wire | None,
    proxy: Proxy | None,
    *,
    site: str,
    arguments: Mapping[str, Any],
    limits: Limits,
    language: str | None,
    policy: Any,
    now: float,
) -> Plan:
    """Say how a request is rendered.

    Args:
        request: with scrapy-playwright's meta keys.
        wire: whose identity it has, where there is a session.
        proxy: the way out.
        site: its contexts are its own.
        arguments: of the context, as the spider gives them.
        limits: of the visit.
        language: the site's ``accept_language``.
        policy: where it may go.
        now: POSIX time.

    Raises:
        ContradictionError: the spider wants another browser, proxy or persistence than the session has.
    """
    extra = dict(arguments)
    own = {name: extra.pop(name) for name in _OURS if name in extra}
    check_arguments(extra, own, wire, proxy)
    told = kept(wire.session.jar, now) if wire is not None else None
    agent, hints, languages = _identity(request, wire, proxy, own, language)
    spec = ContextSpec(
        key=_key(request, wire, proxy, site),
        policy=policy,
        upstream=proxy,
        user_agent=agent,
        hints=hints,
        accept_language=languages,
        locale=str(own.get("locale") or ""),
        timezone=str(own.get("timezone_id") or ""),
        viewport=_viewport(own.get("viewport")),
        mobile=bool(extra.pop("is_mobile", False)) or (hints is not None and hints.mobile == "?1"),
        cookies=None if told is None else list(for_browser(told)),
        verify=limits.verify and not own.get("ignore_https_errors"),
        max_bytes=limits.max_bytes,
        deadline=limits.seconds,
        extra=extra,
    )
    return Plan(
        spec=spec,
        headers=_headers(request),
        method=request.method,
        body=request.body,
        referer=request.meta.get("fw_referer") or _header(request, "Referer"),
        told=told,
    )


def proxy_of_arguments(arguments: Mapping[str, Any]) -> Proxy | None:
    """The proxy in a context's arguments, in Playwright's form.

    Raises:
        ConfigError: it is none that can be used.
    """
    given = arguments.get("proxy")
    if not given:
        return None
    if not isinstance(given, dict) or not given.get("server"):
        raise ConfigError("playwright_context_kwargs: proxy is no mapping with a server")
    server = str(given["server"])
    scheme, _, place = server.rpartition("://")
    user = given.get("username")
    credentials = f"{quote(str(user), safe='')}:{quote(str(given.get('password') or ''), safe='')}@" if user else ""
    return parse_proxies(f"{scheme or 'http'}://{credentials}{place}", source="playwright_context_kwargs: proxy")[0]


def check_arguments(extra: dict[str, Any], own: dict[str, Any], wire: Wire | None, proxy: Proxy | None) -> None:
    """Refuse arguments that contradict the session, or cannot be had."""
    if "user_data_dir" in extra:
        raise ConfigError("playwright_context_kwargs: user_data_dir: contexts that last are sessions (fw_session) here")
    profile = wire.profile if wire is not None else None
    if profile is not None and profile.family != "chromium":
        raise ContradictionError(
            f"the profile {profile.name} is no Chromium, and the browser is one: choose a chrome profile for this site"
        )
    if profile is not None and own.get("user_agent") not in (None, "", profile.user_agent):
        raise ContradictionError(
            f"playwright_context_kwargs: user_agent contradicts the profile {profile.name}: leave it out"
        )
    if wire is not None and own.get("proxy") and wire.proxy is not None and wire.proxy is not proxy:
        raise ContradictionError("playwright_context_kwargs: proxy contradicts the session's: leave it out")


def _identity(
    request: Request, wire: Wire | None, proxy: Proxy | None, own: dict[str, Any], language: str | None
) -> tuple[str, ClientHints | None, str]:
    profile = wire.profile if wire is not None else None
    if profile is not None:
        hints = None
        if profile.sec_ch_ua:
            mobile, platform = profile.sec_ch_ua_mobile or "?0", profile.sec_ch_ua_platform or '"Windows"'
            hints = ClientHints(profile.sec_ch_ua, mobile, platform)
        wanted = _header(request, "Accept-Language") or language_for(
            profile, language, proxy.country if proxy else None
        )
        return profile.user_agent, hints, wanted
    agent = str(own.get("user_agent") or "")
    told = _header(request, "User-Agent") or ""
    if not agent and not told.startswith(_SCRAPYS):
        agent = told
    return agent, None, "" if own.get("locale") else _header(request, "Accept-Language") or ""


def _key(request: Request, wire: Wire | None, proxy: Proxy | None, site: str) -> str:
    """Who shares a context: requests of a stored session, and those that name one."""
    name = request.meta.get("playwright_context")
    exit_ = proxy.id if proxy is not None else ""
    if wire is None:
        return f"{site}/{name or DEFAULT}/{exit_}"
    if wire.client is not None:
        return f"{site}/{name or ''}/{exit_}/{wire.client}/{wire.session.profile}"
    return f"{site}/{name}" if name and name != DEFAULT else ""


def _viewport(given: Any) -> tuple[int, int]:
    if isinstance(given, dict) and given.get("width") and given.get("height"):
        return int(given["width"]), int(given["height"])
    return ContextSpec().viewport


def _headers(request: Request) -> dict[str, str]:
    """What a request has beside the browser's own headers (none of Scrapy's defaults is the caller's wish)."""
    found = {}
    for name, values in request.headers.items():
        lower = name.decode("latin-1").lower()
        if lower not in _BROWSERS and not lower.startswith(("sec-", "proxy-")):
            found[lower] = b", ".join(values).decode("latin-1")
    return found


def _header(request: Request, name: str) -> str | None:
    value = request.headers.get(name)
    return value.decode("latin-1") if value else None
