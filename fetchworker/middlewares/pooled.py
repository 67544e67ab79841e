"""Requests and the pool: whose session a request gets, and what becomes of it with the answer.

Meta keys (docs/sessions.md): ``fw_scope`` is for whom a session is held over several requests, ``fw_jar`` of which jar
it is, ``fw_exclusive`` that the session named in ``fw_session`` is to be nobody else's meanwhile. One without them
has a session for one try, where the site has a pool.

Stats: ``fetchworker/pool/<site>/<what>`` counts sessions that were ``exhausted``, ``busy``, ``quarantined``,
``dropped``, ``damaged``, ``vanished``, ``outdated``, ``lost``, given back too ``late``, those that ``waited`` for their
exits, and warm-ups.
"""

from __future__ import annotations

import logging
import math
import secrets
from functools import partial
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from fetchworker.download.profiles import is_profile
from fetchworker.errors import (
    BrokenChainError,
    LeaseLostError,
    ProxyExhaustedError,
    SessionDamagedError,
    SessionExhaustedError,
    SessionNewerError,
)
from fetchworker.frontier.codec import CARRIED, TRY
from fetchworker.sessions.poolkeys import MAIN, country_jar, country_of, jar_of, tier_jar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any

    from scrapy.http import Response

    from fetchworker.download.wire import Wire
    from fetchworker.runtime import Runtime
    from fetchworker.sessions import Session
    from fetchworker.sessions.hold import Hold

logger = logging.getLogger(__name__)

#: of a request by a session that somebody elsewhere leases: it goes out by that one or not at all
LEASED = "fw_leased"
#: of a request that goes out by the identity that its session has, or not at all
KEEPS = "fw_keeps_identity"
#: the country in which a request's exit has to be (ISO code)
COUNTRY = "fw_country"
SCOPE, JAR, EXCLUSIVE, LEG, BEGUN = "fw_scope", "fw_jar", "fw_exclusive", "fw_leg", "fw_begun"
#: so many sessions that cannot be used are dropped under one request
_MOST_DROPPED = 10


#: seconds that a session waits for its exit at least
_LEAST = 0.05
_NO_EXIT = "its exit is out of use"
_SPENT = "a budget closes its exit"


class _VanishedError(Exception):
    """The pool knows a session whose record is gone."""


class PooledSessions:
    """The pool of one crawl, as its middlewares use it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._needed = runtime.config.pool is not None
        self._told = False
        self._tiers: dict[str, str | None] = {}

    # ── before a try ─────────────────────────────────────────────────────────────────────────────────────────────

    async def acquire(self, request: Request, unfit: Callable[[Session], bool]) -> Session | None:
        """The session that is leased or locked for a request; None when neither is its case.

        Args:
            request: ``meta["fw_session"]`` is set to the session's name.
            unfit: whether a session cannot go out as it is.

        Raises:
            SessionExhaustedError: none came free in time.
            SessionBusyError: somebody else has the named session to himself.
            LeaseLostError: the session that somebody leases cannot be used any more.
        """
        if request.meta.get(EXCLUSIVE):
            return await self._locked(request, unfit)
        take = self._pooled(request)
        if take is None:
            return None
        for _ in range(_MOST_DROPPED + self._runtime.leases.terms.max_total):
            hold = await take()
            hold.users += 1
            session = None
            try:
                session = await self._fetched(hold, unfit, self._tier_of(hold, request), helps=_helps(request))
            finally:
                if session is None:
                    hold.users -= 1
            if session is not None:
                request.meta["fw_session"] = session.id
                return session
        raise SessionExhaustedError(
            f"no session of {self._runtime.site} could be used: see the log for what each lacks"
        )

    def _tier(self, request: Request) -> str | None:
        """The tier of its exits as things stand; it may change while a request waits."""
        return self._runtime.exits.above(request.meta.get("fw_tier"), request.meta.get(COUNTRY))

    def _tier_of(self, hold: Hold, request: Request) -> str | None:
        """The tier of a leased session's jar."""
        jar = jar_of(hold.lease.session_id)
        return self._tiers[jar] if jar in self._tiers else self._tier(request)

    def _pooled(self, request: Request) -> Callable[[], Awaitable[Hold]] | None:
        meta, leases = request.meta, self._runtime.leases
        if meta.get(LEASED):
            return lambda: self._leased(meta[SCOPE])
        if not self._needed or meta.get(CARRIED) is not None:
            return None

        def jar() -> str:  # asked for again as long as it waits
            tier = self._tier(request)
            name = country_jar(tier_jar(meta.get(JAR, MAIN), tier), meta.get(COUNTRY))
            self._tiers[name] = tier
            return name

        scope, name = meta.get(SCOPE), meta.get("fw_session")
        helper = _helps(request)
        if scope is not None and not helper:
            return lambda: leases.take(jar, scope)
        if helper or (name and jar_of(name) is None):
            return self._of_another(name)
        owner = meta.get(TRY)
        if owner is None or leases.held(owner) is None:  # a child that was made of its page's meta has none of its own
            owner = meta[TRY] = f"try.{secrets.token_hex(8)}"
        return lambda: leases.take(jar, owner, brief=True)

    async def _leased(self, owner: str) -> Hold:
        hold = self._runtime.leases.held(owner)
        if hold is None:
            raise LeaseLostError("the leased session is out of use: it was refused, or its exit or profile is gone")
        return hold

    def _of_another(self, name: str | None) -> Callable[[], Awaitable[Hold]] | None:
        """A warm-up, or a picture, goes by the lease of the request that it is for."""
        hold = self._runtime.leases.of(name) if name else None
        if hold is None or hold.locks:
            return None

        async def same() -> Hold:
            if self._runtime.leases.of(name or "") is not hold:
                raise SessionExhaustedError(f"the session of {self._runtime.site} that it is for is out of use: {name}")
            return hold

        return same

    async def _locked(self, request: Request, unfit: Callable[[Session], bool]) -> Session:
        runtime, name = self._runtime, request.meta["fw_session"]
        hold = await runtime.leases.lock(name, request.meta[SCOPE])
        hold.users += 1
        try:
            sessions = await runtime.sessions()
            tier = request.meta.get("fw_tier")
            session = await runtime.named_session(name, tier, request.meta.get(COUNTRY))
            if unfit(session):
                session = await sessions.rotate(runtime.site, name, session, partial(runtime.successor, session, tier))
            return session  # noqa: TRY300  # what may fail is above
        except BaseException:
            hold.users -= 1
            raise

    async def _fetched(
        self, hold: Hold, unfit: Callable[[Session], bool], tier: str | None, *, helps: bool
    ) -> Session | None:
        """The leased session, None when it is of no use now and is not held any longer."""
        runtime, name, made = self._runtime, hold.lease.session_id, []

        def mint() -> Session:
            if hold.stored:
                raise _VanishedError
            made.append(name)
            return runtime.mint(name, tier, country_of(name))

        session = await self._read(hold, mint)
        if session is None:
            return None
        hold.stored = True
        if session.proxy_id is None and runtime.config.proxy == "required" and not (len(session.jar) or session.tokens):
            # it was made when there was none, and has sent nothing
            session.proxy_id, made = runtime.exits.id_of_next(tier, country_of(name)), [name]
        if made and session.proxy_id is not None:  # its exit was chosen a moment ago, perhaps to see how it is
            return session
        if unfit(session) and not (helps and self._rest_of(session)):  # an owner's exit is not its helper's to judge
            await (await runtime.sessions()).release(runtime.site, name, session)
            await self._put_away(hold, session)
            return None
        return session

    async def _read(self, hold: Hold, mint: Callable[[], Session]) -> Session | None:
        """The record of a leased session, None when there is none that can be used: then it is not held any longer."""
        try:
            return await (await self._runtime.sessions()).acquire(self._runtime.site, hold.lease.session_id, mint)
        except _VanishedError:
            await self._drop(hold, "vanished", "its record is gone")
        except SessionNewerError as exc:
            await self._leave_alone(hold, exc)
        except SessionDamagedError:
            await self._drop(hold, "damaged", "its record cannot be read")
        except ProxyExhaustedError:
            if hold.brief:  # else its owner may have better luck later
                await self._runtime.leases.quarantine(hold.owner, _NO_EXIT, seconds=0)
            raise
        return None

    async def _leave_alone(self, hold: Hold, why: SessionNewerError) -> None:
        """One that a newer version wrote is for the workers that can read it; told once."""
        runtime = self._runtime
        if not self._told:
            logger.warning("session %s of %s is left to newer workers: %s", hold.lease.session_id, runtime.site, why)
        self._told = True
        runtime.count(f"pool/{runtime.site}/newer")
        await runtime.leases.leave_alone(hold.owner)

    async def _put_away(self, hold: Hold, session: Session) -> None:
        """One that cannot go out as it is: away for good, or until its own exit may be used again."""
        runtime = self._runtime
        exit_ = runtime.proxies.get(session.proxy_id) if session.proxy_id is not None else None
        if exit_ is None or not is_profile(session.profile):
            await self._drop(hold, "outdated", "its exit or profile is no more")
        elif runtime.exits.allows(exit_):
            await runtime.leases.rest(hold.owner, _NO_EXIT, seconds=self._rest_of(session) or _LEAST)
        elif await self._is_full(hold):
            await self._drop(hold, "outdated", "a budget closes its exit, and others need the room")
        else:
            seconds = runtime.exits.rest_of(exit_) or runtime.leases.terms.quarantine
            await runtime.leases.rest(hold.owner, _SPENT, seconds=seconds)

    async def _is_full(self, hold: Hold) -> bool:
        leases = self._runtime.leases
        counts = await (await leases.open()).counts(jar_of(hold.lease.session_id) or MAIN)
        return counts.total >= leases.terms.max_total

    def _rest_of(self, session: Session) -> float:
        """Seconds for which a session's exit rests; where that has no end, as long as a quarantine."""
        if session.proxy_id is None or self._runtime.proxies.get(session.proxy_id) is None:
            return 0.0
        left = self._runtime.proxies.rests_for(session.proxy_id, self._runtime.site)
        return left if math.isfinite(left) else self._runtime.leases.terms.quarantine

    async def _drop(self, hold: Hold, what: str, why: str) -> None:
        runtime = self._runtime
        logger.warning("session %s of %s is dropped: %s", hold.lease.session_id, runtime.site, why)
        runtime.count(f"pool/{runtime.site}/{what}")
        await runtime.leases.quarantine(hold.owner, why, seconds=0)

    # ── after a try ──────────────────────────────────────────────────────────────────────────────────────────────

    def learn(self, request: Request, *, good: bool) -> None:
        """Take note of an answer, for the session's score."""
        hold = self._hold(request)
        if hold is not None:
            hold.good, hold.bad, hold.refused = hold.good + good, hold.bad + (not good), not good

    async def before_retry(self, request: Request, wire: Wire | None, why: str, *, rotates: bool) -> None:
        """Give the next try another identity, where this one is refused or was for one try only."""
        runtime, name, hold = self._runtime, request.meta.get("fw_session"), self._hold(request)
        if hold is None:
            if rotates and name and wire is not None and jar_of(name) is None:
                sessions, tier = await runtime.sessions(), request.meta.get("fw_tier")
                await sessions.rotate(runtime.site, name, wire.session, partial(runtime.successor, wire.session, tier))
                runtime.count(f"rotated/{runtime.site}")
            return
        if rotates:
            await self._replace(hold, why, wire)
        elif hold.brief:
            await runtime.leases.release(hold.owner)
        if rotates or hold.brief:
            request.meta.pop("fw_session")
            request.meta.pop(TRY, None)

    async def _replace(self, hold: Hold, why: str, wire: Wire | None) -> None:
        """A refused session rests; where its exit failed that is not its fault, and it waits for the exit."""
        leases = self._runtime.leases
        seconds = 0.0 if wire is None else self._rest_of(wire.session)
        if hold.refused:
            await leases.quarantine(hold.owner, why)
        elif seconds:
            await leases.rest(hold.owner, _NO_EXIT, seconds=seconds)
        else:  # an exit that does not rest may be the session's own, a gateway's: others are better
            hold.bad += 1
            await leases.release(hold.owner)
        self._runtime.count(f"rotated/{self._runtime.site}")

    def check_chain(self, request: Request, why: str) -> None:
        """A leg of a chain does not go on with another identity than the legs before it.

        Raises:
            BrokenChainError: the spider has to begin again.
        """
        if request.meta.get(LEG) and request.meta.get(BEGUN, 0) < self._runtime.config.retries:
            raise BrokenChainError(f"the identity of the chain was refused ({why}): {request.url}")

    async def ended(self, request: Request, result: Response | Request | None) -> None:
        """Give back what was leased for one try; a redirect goes on with it."""
        owner = request.meta.get(TRY)
        hold = self._runtime.leases.held(owner) if owner else None
        if hold is None or hold.users or isinstance(result, Request) or _redirects(result):
            return
        await self._runtime.leases.release(hold.owner)

    def _hold(self, request: Request) -> Hold | None:
        needed = self._needed or request.meta.get(LEASED)
        hold = self._runtime.leases.of(request.meta.get("fw_session") or "") if needed else None
        return None if hold is None or hold.locks else hold


def _helps(request: Request) -> bool:
    """Whether it is made for another request, with whose session it goes."""
    return bool(request.meta.get("fw_warmup")) or request.callback is NO_CALLBACK


def _redirects(result: Any) -> bool:
    return result is not None and 300 <= result.status < 400 and b"Location" in result.headers  # noqa: PLR2004
