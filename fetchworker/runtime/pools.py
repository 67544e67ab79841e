"""The pool of a crawl's site, and the store of its sessions: made of the configuration when they are first needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fetchworker.sessions import MemorySessionStore
from fetchworker.sessions.leases import SessionPool
from fetchworker.sessions.pool import PoolTerms
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.sessions.poolmemory import MemoryPool
from fetchworker.sessions.split import SplitStore

if TYPE_CHECKING:
    from fetchworker.runtime.identities import IdentitiesOfCrawl
    from fetchworker.sessions import SessionStore
    from fetchworker.sessions.pool import PoolBackend
    from fetchworker.sites import SiteConfig

_MINUTE = 60.0


class Identities(NamedTuple):
    """What the names of a crawl's sessions depend on; ``media``: whether pictures are fetched after the pages."""

    crawl_id: str
    pooled: bool
    media: bool


def terms_of(config: SiteConfig) -> PoolTerms:
    """The numbers of a site's pool; where the site counts by visitor, its ceiling says how long one has to rest."""
    pool = config.pool
    if pool is None:
        return PoolTerms()
    cooldown = pool.cooldown
    if cooldown is None:
        cooldown = _MINUTE / config.per_minute if config.pace == "identity" and config.per_minute else 0.0
    told = pool.model_dump(exclude={"via"})
    told["max_idle"] = min(max(told["max_idle"], told["min_idle"]), told["max_total"])
    return PoolTerms(**told | {"cooldown": cooldown})


def alone(runtime: IdentitiesOfCrawl) -> bool:
    """Whether the crawl knows no Redis, so that its pool is its own."""
    return not runtime.queued and runtime.environment.redis_url is None


def session_pool(runtime: IdentitiesOfCrawl) -> SessionPool:
    """The pool of a crawl; also where it has named sessions to itself."""
    terms, site = terms_of(runtime.config), runtime.site

    async def backend() -> PoolBackend:
        if alone(runtime):
            return MemoryPool(site, terms)
        from fetchworker.sessions.poolredis import RedisPool  # noqa: PLC0415  # needs Redis's library

        return RedisPool(await runtime.redis(), site, terms)

    async def forget(session_id: str) -> None:
        await (await runtime.sessions()).drop(site, session_id)

    def halted() -> bool:
        return runtime.exits.needed and (runtime.exits.paused_for > 0 or not runtime.exits.any_usable())

    queue = runtime.queue
    patience = {} if queue is None else {"patiently": queue.vigil.patiently}
    return SessionPool(
        backend, terms, site=site, forget=forget, renew=runtime.renew_session, count=runtime.count,
        ending=runtime.ending, halted=halted, **patience,
    )  # fmt: skip


async def session_store(runtime: IdentitiesOfCrawl) -> SessionStore:
    """Where the crawl's sessions are stored."""
    if runtime.config.pool is not None and alone(runtime):
        own = MemorySessionStore(ttl=_ttl(runtime))
        return SplitStore(own, lambda: _redis_store(runtime), is_own=lambda name: jar_of(name) is not None)
    return await _redis_store(runtime)


async def _redis_store(runtime: IdentitiesOfCrawl) -> SessionStore:
    from fetchworker.sessions import RedisSessionStore  # noqa: PLC0415  # needs Redis's library

    store: SessionStore = RedisSessionStore(await runtime.redis(), ttl=_ttl(runtime))
    return runtime.queue.patient(store) if runtime.queue else store


def _ttl(runtime: IdentitiesOfCrawl) -> int:
    return int(runtime.config.session_ttl or runtime.environment.session_ttl)
