"""Gives each try its identity: cookies, exit, profile and tokens, always used together.

``meta["fw_session"]`` names a stored session; without it each try gets a fresh identity that is never stored, or one of
the site's pool (``pooled``).
Redirects stay with the identity of their try; a retry keeps a named session (whose identity may have been replaced)
and gets a fresh one otherwise.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from scrapy.http.request import NO_CALLBACK
from scrapy.utils.httpobj import urlparse_cached

from fetchworker.download.profiles import is_profile
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import ContractError, ProxyExhaustedError, SessionCountryError
from fetchworker.frontier.codec import CARRIED
from fetchworker.middlewares.bundles import Bundles
from fetchworker.middlewares.pooled import COUNTRY, PooledSessions
from fetchworker.middlewares.poolwarm import PoolWarmer
from fetchworker.middlewares.redirect import HOP, another_try
from fetchworker.middlewares.warmup import Warmup, wanted_tokens
from fetchworker.proxies import country_wanted
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.proxies import Proxy
    from fetchworker.sessions import Session

logger = logging.getLogger(__name__)

#: the identity that has the request's own cookies already, and the host that they are for
_TAKEN, _HOST = "fw_cookies_taken", "fw_cookies_host"
#: how often an identity may be replaced under a request that waits for its tokens
_WARMUPS = 2


class SessionMiddleware:
    """Sets ``meta["fw_wire"]`` before the other middlewares dress the request, and keeps what the answer brings."""

    def __init__(self, crawler: Crawler) -> None:
        self._runtime = Runtime.of(crawler)
        self._warmup, self._bundles = Warmup(crawler), Bundles(crawler)
        self._pooled = PooledSessions(self._runtime)
        self._warmer = PoolWarmer(crawler, self._runtime)  # signals do not keep it
        if self._runtime.config.pool is not None:
            self._warmer.watch()
        self._compute: Callable[[str, int], dict[str, str]] | None = getattr(crawler.spidercls, "compute_tokens", None)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the middleware."""
        return cls(crawler)

    async def process_request(self, request: Request) -> Request | None:
        """Choose the identity and put its tokens in.

        A redirect that another identity was given is begun again from its start.

        Raises:
            ProxyExhaustedError: the site requires a proxy and none is usable, or none in the country asked for.
            SessionCountryError: the session's exit is in another country.
            ContractError: the warm-up did not bring a token that the request cannot do without.
        ConfigError: the environment lacks a credential that the request cannot do without.
        """
        session = await self._identity(request)
        if request.meta.get(HOP, session.identity) != session.identity:
            await self._give_back(request, session, used=False)
            return another_try(request, same_identity=False)
        request.meta[WIRE] = wire = Wire(session=session, client=session.identity if session.stored else None)
        try:
            wanted = country_wanted(session.proxy_id)
            wire.proxy_required = self._runtime.config.proxy == "required" or wanted is not None
            wire.proxy = self._exit(session, request.meta.get("fw_tier"))
            _take_cookies(request, session)
            session.tokens.update(self._bundles.told(request, session.tokens))
            _fill_tokens(request, {**session.tokens, **self._computed(session)})
            wire.secrets = list(self._secrets(request))
        except BaseException:
            request.meta.pop(WIRE, None)
            await self._give_back(request, session)
            raise
        return None

    async def _identity(self, request: Request) -> Session:
        meta = request.meta
        wanted = wanted_tokens(meta)
        refresh: Sequence[str] | None = meta.pop("fw_refresh", None)
        if meta.get("fw_warmup") or request.callback is NO_CALLBACK:
            # robots.txt and pictures need no tokens; and the warm-up itself waits for its host's robots.txt
            return await self._acquire(request)
        for _ in range(_WARMUPS):
            session = await self._acquire(request)
            first = self._runtime.config.warmup and (not session.uses or self._warmup.runs(session))
            if not (first or refresh is not None or self._missing(wanted, session)):
                return session
            ticket = self._warmup.ticket(session)
            await self._give_back(request, session, used=False)
            await self._warmup.run(request, session, CARRIED, ticket)
            if refresh:
                await self._renew(request, refresh)
            refresh = None
        session = await self._acquire(request)
        missing = self._missing(wanted, session)
        if missing:
            await self._give_back(request, session)
            raise ContractError("tokens", f"the warm-up page brought no {', '.join(sorted(missing))}")
        return session

    async def _renew(self, request: Request, signs: Sequence[str]) -> None:
        """Look for query ids in the site's scripts, when the visit has brought no others than were sent."""
        session = await self._acquire(request)
        await self._give_back(request, session, used=False)
        await self._bundles.renew(request, session, signs)

    def _computed(self, session: Session) -> dict[str, str]:
        """Tokens that follow from the identity and the time."""
        return self._compute(session.identity, int(time.time())) if self._compute is not None else {}

    def _missing(self, wanted: set[str], session: Session) -> set[str]:
        missing = wanted - session.tokens.keys()
        return missing - self._computed(session).keys() if missing else missing

    async def _acquire(self, request: Request) -> Session:
        session = await self._pooled.acquire(request, self._needs_another)
        if session is None:
            name, carried = request.meta.get("fw_session"), request.meta.get(CARRIED)
            if not name:
                return carried or self._runtime.mint("", request.meta.get("fw_tier"), request.meta.get(COUNTRY))
            session = await self._named(request, name)
        await self._check_country(request, session)
        return session

    async def _named(self, request: Request, name: str) -> Session:
        runtime, meta = self._runtime, request.meta
        sessions = await runtime.sessions()
        session = await runtime.named_session(name, meta.get("fw_tier"), meta.get(COUNTRY))
        if not self._needs_another(session):
            return session
        try:
            # an identity has one exit for life: made without one, it has sent nothing, and another one takes its place
            return await sessions.rotate(runtime.site, name, session, lambda: runtime.successor(session))
        except BaseException:
            await sessions.release(runtime.site, name, session)
            raise

    async def _check_country(self, request: Request, session: Session) -> None:
        """A session has its exit for life, and so its country.

        Raises:
            SessionCountryError: it is another one than the request wants.
        """
        wanted, exits = request.meta.get(COUNTRY), self._runtime.exits
        if wanted is None or wanted == (found := exits.country_of(session.proxy_id)):
            return
        await self._give_back(request, session, used=False)
        told = f"country: the session's exit is in {found or 'no known country'} for its life, not in {wanted}"
        raise SessionCountryError(f"{told}; ask for another session_id, or drop this one", fields=["country"])

    def _needs_another(self, session: Session) -> bool:
        """Whether the identity cannot go out as it is, and another one could."""
        runtime = self._runtime
        if not is_profile(session.profile):  # another version of ours has made it
            runtime.count(f"unknown_profile/{runtime.site}")
            return True
        if session.proxy_id is not None:
            return runtime.exits.must_leave(session.proxy_id)
        return runtime.config.proxy == "required" and runtime.exits.any_usable()

    def _exit(self, session: Session, tier: str | None) -> Proxy | None:
        runtime = self._runtime
        if runtime.config.proxy == "none":
            return None
        if session.proxy_id is None and runtime.config.proxy == "required" and not session.stored:
            session.proxy_id = runtime.exits.id_of_next(tier)
        if session.proxy_id is not None:
            return runtime.proxies.get(session.proxy_id)
        if len(runtime.proxies) and runtime.config.proxy == "preferred":
            runtime.count(f"direct/{runtime.site}")
            logger.warning(
                "%s: no proxy is usable (%s), and `proxy: preferred` lets requests go out directly",
                runtime.site,
                runtime.exits.standing(),
            )
        if runtime.config.proxy == "required":
            raise ProxyExhaustedError(
                f"{runtime.site} requires a proxy and none is usable ({runtime.exits.standing()})", site=runtime.site
            )
        return None

    def _secrets(self, request: Request) -> Iterator[tuple[str, str]]:
        """Credentials for the origin that they are for; a redirect to another gets none."""
        address = urlparse_cached(request)
        for header, (name, prefix, origin) in request.meta.get("fw_secret_headers", {}).items():
            if f"{address.scheme}://{address.netloc}" == origin:
                yield header, prefix + self._runtime.environment.secret(name)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Put the answer's cookies into the jar, and the session back."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is None:
            return response
        session = wire.session
        cookies = response.headers.getlist(b"Set-Cookie")
        if cookies and not wire.cookies_kept:
            session.jar.set_from_response(response.url, cookies, time.time())
        redirects = 300 <= response.status < 400  # noqa: PLR2004
        if not session.stored and redirects:
            request.meta[CARRIED] = session
        await self._give_back(request, session)
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:  # noqa: ARG002
        """Give the session back after a transport error."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is not None:
            await self._give_back(request, wire.session)

    async def _give_back(self, request: Request, session: Session, *, used: bool = True) -> None:
        if used:
            session.uses += 1
            session.used_at = time.time()
        if session.stored:
            sessions = await self._runtime.sessions()
            self._runtime.leases.leave(request.meta["fw_session"])
            await sessions.release(self._runtime.site, request.meta["fw_session"], session)


def _take_cookies(request: Request, session: Session) -> None:
    """Put the caller's cookies (``Request.cookies`` or a Cookie header) into the jar; an answer's win over them."""
    host = urlparse_cached(request).hostname
    if request.meta.get(_TAKEN) == session.identity or request.meta.setdefault(_HOST, host) != host:
        return  # they are there already, or a redirect led to another host
    pairs = [(name, value) for name, value in _given(request.cookies) if name]
    header = request.headers.get(b"Cookie")
    if header:
        del request.headers[b"Cookie"]
        pairs += [(name.strip(), value.strip()) for name, _, value in _crumbs(header)]
        request.cookies = dict(pairs)  # a further try needs them as well
    if pairs:
        for name, value in pairs:
            session.jar.set(name, value, url=request.url, now=time.time())
        request.meta[_TAKEN] = session.identity


def _given(cookies: Any) -> Iterator[tuple[str, str]]:
    """Scrapy's two forms of cookies: a mapping, or a list of mappings with ``name`` and ``value``."""
    if isinstance(cookies, dict):
        yield from ((str(name), str(value)) for name, value in cookies.items())
    else:
        yield from ((str(cookie["name"]), str(cookie["value"])) for cookie in cookies or ())


def _crumbs(header: bytes) -> Iterator[tuple[str, str, str]]:
    return (crumb.partition("=") for crumb in header.decode("latin-1").split(";") if crumb.strip())


def _fill_tokens(request: Request, tokens: Mapping[str, str]) -> None:
    """Put the session's tokens where the request wants them; the request's id knows nothing of them."""
    for name, (token, default) in request.meta.get("fw_token_headers", {}).items():
        value = tokens.get(token, default)
        if value is not None:
            request.headers[name] = value
    places = request.meta.get("fw_token_form")
    if places and request.method == "POST":  # a redirect may have made it a GET
        pairs = parse_qsl(request.body.decode(), keep_blank_values=True)
        filled = [(key, value) for key, value in pairs if key not in places]
        filled += [(key, tokens.get(token) or default or "") for key, (token, default) in places.items()]
        request._set_body(urlencode(filled).encode())  # noqa: SLF001  # in place: a copy would lose its callbacks' ties
