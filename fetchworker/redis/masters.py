"""Connections to the master that sentinels name, few and waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import redis
from redis.asyncio.sentinel import SentinelConnectionPool as AsyncSentinelConnectionPool
from redis.exceptions import AuthenticationError, RedisError
from redis.sentinel import SentinelConnectionPool

from fetchworker.redis.fair import FairPool

if TYPE_CHECKING:
    from redis.asyncio.sentinel import Sentinel as AsyncSentinel
    from redis.sentinel import Sentinel


class AsyncMasterPool(AsyncSentinelConnectionPool, FairPool):
    """Both of them; closes the connections to the sentinels as well."""

    sentinel_manager: AsyncSentinel

    def __init__(self, service: str, sentinel: AsyncSentinel, **options: Any) -> None:
        super().__init__(service, sentinel, **options)  # type: ignore[no-untyped-call]  # the library has no hints

    async def aclose(self) -> None:
        """Close all connections."""
        try:
            await super().aclose()
        finally:
            await self.sentinel_manager.aclose()


class MasterPool(SentinelConnectionPool, redis.BlockingConnectionPool):
    """Both of them; closes the connections to the sentinels as well."""

    def __init__(self, service: str, sentinel: Sentinel, **options: Any) -> None:
        super().__init__(service, sentinel, **options)  # type: ignore[no-untyped-call]  # the library has no hints

    def close(self) -> None:
        """Close all connections."""
        try:
            super().close()
        finally:
            for sentinel in self.sentinel_manager.sentinels:
                sentinel.close()


async def no_master(pool: AsyncMasterPool) -> tuple[str, bool]:
    """Why the sentinels name no master, and whether that will stay so."""
    known: set[str] = set()
    faults, answers = [], 0
    for sentinel in pool.sentinel_manager.sentinels:
        try:
            masters: Any = await sentinel.sentinel_masters()
        except (RedisError, OSError) as error:
            faults.append(error)
        else:
            answers += 1
            known.update(masters)
    service = pool.service_name
    if not answers:
        refused = all(isinstance(fault, AuthenticationError) for fault in faults)
        refusal = "the sentinels refuse sentinel_username or sentinel_password"
        return refusal if refused else f"no sentinel answers: {faults[0]}", refused
    if service in known:
        return f"the sentinels see no living master of {service!r}", False
    others = ", ".join(sorted(known)) or "none"
    return f"the sentinels know no service {service!r}; they know: {others}", True
