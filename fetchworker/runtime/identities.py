"""The identities of a crawl: stored sessions in use, the pool, and who has what to itself."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ProxyExhaustedError, RedisUnavailableError, SessionDamagedError
from fetchworker.proxies import country_wanted
from fetchworker.runtime.pools import Identities, session_pool, session_store
from fetchworker.sessions import Session
from fetchworker.sessions.live import LiveSessions
from fetchworker.sessions.poolkeys import jar_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fetchworker.config import Environment
    from fetchworker.media.origins import Origins
    from fetchworker.redis import Client
    from fetchworker.runtime.exits import SiteExits
    from fetchworker.runtime.queue import RedisQueue
    from fetchworker.sessions import SessionStore
    from fetchworker.sessions.leases import SessionPool
    from fetchworker.sites import SiteConfig

logger = logging.getLogger(__name__)


class IdentitiesOfCrawl(ABC):
    """The part of a crawl's runtime that sessions are had from; what they need of the rest is declared here."""

    environment: Environment
    config: SiteConfig
    site: str
    crawl_id: str
    profile: str
    exits: SiteExits
    origins: Origins
    _sessions: LiveSessions | None = None
    _store: SessionStore | None = None

    @property
    @abstractmethod
    def queued(self) -> bool:
        """Whether requests are kept in Redis."""

    @property
    @abstractmethod
    def queue(self) -> RedisQueue | None:
        """The queue in Redis, if the crawl has one."""

    @abstractmethod
    async def redis(self) -> Client:
        """The client of Redis."""

    @abstractmethod
    def ending(self) -> bool:
        """Whether nothing should be waited for any more."""

    @abstractmethod
    def count(self, name: str, by: int = 1) -> None:
        """Add to a stat."""

    async def sessions(self) -> LiveSessions:
        """The stored sessions in use here."""
        if self._sessions is None:
            store = await self.session_store()
            self._sessions = self._sessions or LiveSessions(store)
        return self._sessions

    async def named_session(self, name: str, tier: str | None = None, country: str | None = None) -> Session:
        """The stored session of that name, made where there is none, or none that can be read.

        Args:
            name: under which it is stored.
            tier: as of :meth:`mint`, where it is made.
            country: likewise.

        Raises:
            SessionNewerError: a newer version wrote it.
            ProxyExhaustedError: as of :meth:`mint`.
        """

        def damaged(exc: SessionDamagedError) -> None:
            logger.warning("session %s of %s is made anew: %s", name, self.site, exc)
            self.count(f"damaged/{self.site}")

        mint = partial(self.mint, name, tier, country)
        return await (await self.sessions()).acquire(self.site, name, mint, damaged=damaged)

    async def session_store(self) -> SessionStore:
        """Where sessions with a name are kept."""
        if self._store is None:
            made = await session_store(self)
            self._store = self._store or made
        return self._store

    def hold_sessions(self, sessions: LiveSessions) -> None:
        """Take these for the sessions in use here, before the first one is asked for."""
        self._sessions = sessions

    async def keep(self, name: str | None, session: Session) -> None:
        """Store what changed in a session that was given back."""
        if name and session.stored:
            await (await self.sessions()).save(self.site, name, session)

    def renew_session(self, name: str) -> None:
        """A session has come here by a lock or a lease: another process may have changed it meanwhile."""
        if self._sessions is not None:
            self._sessions.renew(self.site, name)

    async def drop_session(self, name: str) -> None:
        """Forget a session that nobody will ask for again; if Redis is away it goes when its time is over.

        One of the pool is given back.
        """
        if jar_of(name) is not None:
            hold = self.leases.of(name)
            if hold is not None and not self.origins.keeps(name):
                await self.leases.release(hold.owner)
            return
        if self._sessions is not None and not self.origins.keeps(name):  # else none was ever stored, or it goes later
            with suppress(RedisUnavailableError):
                await self._sessions.drop(self.site, name)

    @cached_property
    def leases(self) -> SessionPool:
        """The site's pool, and named sessions that the crawl has to itself."""
        return session_pool(self)

    def session_waits(self) -> int:
        """How many requests wait for a session of the pool."""
        return self.leases.waits() if self.config.pool is not None else 0

    def starved(self) -> bool:
        """Whether sessions are held by calls that have nothing under way: their next requests stand in the queue."""
        return self.leases.idle_holds() > 0

    @property
    def identities(self) -> Identities:
        """What names of sessions depend on."""
        return Identities(self.crawl_id, pooled=self.config.pool is not None, media=self.environment.media)

    async def end_scope(self, meta: Mapping[str, Any]) -> None:
        """A call is over: give back the session that it had from the pool or to itself, unless others go on with it."""
        name = meta.get("fw_session")
        lasts = not meta.get("fw_session_ends") or (name and self.origins.keeps(name))
        if not lasts:
            await self.leases.release(meta["fw_scope"])

    def mint(self, name: str, tier: str | None = None, country: str | None = None) -> Session:
        """A fresh identity.

        Args:
            name: under which it will be stored; empty: never.
            tier: its exit is of this tier or a better one.
            country: its exit is there, and that of every identity which takes its place.

        Raises:
            ProxyExhaustedError: no exit of the country can be used now.
        """
        proxy_id = None if self.config.proxy == "none" else self.exits.id_of_next(tier, country)
        if country is not None and proxy_id is None:
            told = f"no exit of {self.site} in {country} can be used now ({self.exits.standing(country)})"
            raise ProxyExhaustedError(told, site=self.site)
        return Session.fresh(
            name,
            site=self.site,
            profile=self.profile,
            proxy_id=proxy_id,
            now=time.time(),
            stored=bool(name),
        )

    def successor(self, session: Session, tier: str | None = None) -> Session:
        """A fresh identity to take a session's place: under its name, and in the country of its birth."""
        return self.mint(session.id, tier, country_wanted(session.proxy_id))
