"""Sessions as calls use them: a named one for itself, a leased one by its token."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from fetchworker.errors import LeaseLostError, OutcomeError
from fetchworker.middlewares.pooled import LEASED, SCOPE
from fetchworker.outcomes.taxonomy import REFUSALS
from fetchworker.service.failures import ApiError
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.sessions.remote import RemoteLeases, Token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fetchworker.runtime import Runtime


class Held(NamedTuple):
    """The session that a call names; the token of the lease that holds it, if it is one of the pool; and who calls."""

    name: str
    lease: str | None = None
    caller: str | None = None


@asynccontextmanager
async def session_of(runtime: Runtime, held: Held | None, *, seconds: float) -> AsyncIterator[dict[str, Any]]:
    """The meta by which requests have the session that a call names, which is nobody else's meanwhile.

    Args:
        runtime: of the site.
        held: the session; None: the call names none.
        seconds: how long to wait for a session that somebody else uses.

    Raises:
        LeaseLostError: the lease is over, or was with a refusal: who is refused is out of use for the rest that the
            pool has for blocks.
        SessionBusyError: another process has had the session all the time.
        ApiError: a pooled session without its lease.
    """
    if held is None:
        yield {}
        return
    name, token, caller = held
    if token is None:
        if jar_of(name) is not None:
            raise ApiError("VALIDATION_ERROR", "session_id: a session of the pool needs its lease", fields=["lease"])
        async with _alone(runtime, name, seconds):
            yield {"fw_session": name}
        return
    if Token.of(token).lease.session_id != name:
        raise LeaseLostError(f"the lease is not that of session {name!r}")
    async with RemoteLeases(runtime.leases, caller=caller).borrowed(token) as mine:
        try:
            yield {"fw_session": name, SCOPE: mine.owner, LEASED: True}
        except OutcomeError as exc:
            if exc.outcome in REFUSALS and mine.refused and runtime.config.on_block == "rotate":
                await runtime.leases.quarantine(mine.owner, exc.message)
            raise


@asynccontextmanager
async def _alone(runtime: Runtime, name: str, seconds: float) -> AsyncIterator[None]:
    """Among processes too, where there may be others: those that were given the same Redis."""
    if runtime.environment.redis_url is None:
        yield
        return
    # ends before the call's own time does, which would not say what it had waited for
    async with runtime.leases.exclusive(name, wait=max(seconds - 0.5, seconds / 2)):
        yield
