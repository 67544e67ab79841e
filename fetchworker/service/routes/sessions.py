"""``/sessions/{id}``: look at a session, drop it, give it another identity."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from fetchworker.service.browsing import check_browser
from fetchworker.service.callsessions import check_name
from fetchworker.service.failures import ApiError
from fetchworker.service.leasing import Held, session_of
from fetchworker.service.minting import mint_session, minted_by
from fetchworker.service.models import MintBody, read_body
from fetchworker.service.responses import IDEMPOTENCY, failures, json_response, takes
from fetchworker.service.state import caller_of
from fetchworker.sessions.poolkeys import jar_of
from fetchworker.sessions.remote import RemoteLeases

if TYPE_CHECKING:
    from fetchworker.runtime import Runtime
    from fetchworker.service.crawlers import Served
    from fetchworker.service.state import Service
    from fetchworker.sessions import Session
    from fetchworker.sessions.live import LiveSessions

_SECONDS = 30.0
_NAME = r"^[A-Za-z0-9._:@-]{1,128}$"
Name = Annotated[str, Path(pattern=_NAME, description="the session's name")]
Site = Annotated[str, Query(pattern=r"^[a-z0-9_]{1,40}$", description="whose session it is")]

Token = Annotated[str | None, Query(max_length=256, description="of the lease that holds a session of the pool")]


class SessionView(BaseModel):
    """A session without its secrets: of cookies and tokens there are the names."""

    model_config = ConfigDict(extra="forbid")

    session_id: str
    site: str
    identity: str
    profile: str
    proxy: dict[str, str | None] | None
    created_at: str
    used_at: str
    uses: int
    blocks: int
    cookies: list[str]
    tokens: list[str]


def sessions_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/sessions", tags=["sessions"])
    _add_look(router, service)
    _add_drop(router, service)
    _add_refresh(router, service)
    _add_mint(router, service)
    return router


def _add_look(router: APIRouter, service: Service) -> None:
    @router.get(
        "/{session_id}",
        summary="Look at a session",
        operation_id="session",
        response_model=SessionView,
        responses=failures(),
    )
    async def look(request: Request, session_id: Name, site: Site = "fetch") -> Response:
        """Which identity it is, and how it fared."""
        served = await _served(service, site, session_id)
        async with service.call(request, site=site, operation="session", timeout=_SECONDS, redis=True):
            runtime = _runtime(served)
            session = await (await runtime.session_store()).load(site, session_id)
            if session is None:
                raise _absent(site, session_id)
            return json_response(_view(runtime, session))


def _add_drop(router: APIRouter, service: Service) -> None:
    @router.delete(
        "/{session_id}",
        status_code=204,
        summary="Drop a session",
        operation_id="drop_session",
        response_class=Response,
        responses=failures(),
    )
    async def drop(request: Request, session_id: Name, site: Site = "fetch", lease: Token = None) -> Response:
        """Its cookies, tokens and exit are forgotten; calls on it that are under way end first.

        One of the pool is dropped by its holder, whose lease is over then.
        """
        held = _held(request, session_id, lease)
        served = await _served(service, site, session_id)
        call = service.call(request, site=site, operation="drop_session", timeout=_SECONDS, session=session_id)
        async with call:
            runtime = _runtime(served)
            if lease is None and await (await runtime.session_store()).load(site, session_id) is None:
                raise _absent(site, session_id)
            async with session_of(runtime, held, seconds=_SECONDS):
                await (await runtime.sessions()).drop(site, session_id)
            if lease is not None:
                own = RemoteLeases(runtime.leases, caller=held.caller)
                await own.check_in(lease, quarantine="dropped by its holder", seconds=0)
            return Response(status_code=204)


def _add_refresh(router: APIRouter, service: Service) -> None:
    @router.post(
        "/{session_id}/refresh",
        summary="Give a session another identity",
        operation_id="refresh_session",
        response_model=SessionView,
        responses=failures(),
        openapi_extra={"parameters": [IDEMPOTENCY]},
    )
    async def refresh(request: Request, session_id: Name, site: Site = "fetch", lease: Token = None) -> Response:
        """Cookies, tokens, profile and exit go, fresh ones take their place under the same name."""
        held = _held(request, session_id, lease)
        served = await _served(service, site, session_id)

        async def run() -> Response:
            call = service.call(request, site=site, operation="refresh_session", timeout=_SECONDS, session=session_id)
            runtime = _runtime(served)
            async with call, session_of(runtime, held, seconds=_SECONDS):
                return json_response(await _refreshed(runtime, site, session_id))

        return await service.idempotency.once(request, run)


def _add_mint(router: APIRouter, service: Service) -> None:
    @router.post(
        "/{session_id}/mint",
        summary="Have a browser make a session",
        operation_id="mint_session",
        response_model=SessionView,
        responses=failures(more=(501,)),
        openapi_extra=takes(MintBody, idempotent=True),
    )
    async def mint(request: Request, session_id: Name, site: Site = "fetch") -> Response:
        """A browser visits the site's warm-up pages, or ``url``; the cookies and tokens that it gets are the session's.

        One that is not there is made; one that is keeps its identity and exit. What fails changes nothing.
        """
        body: MintBody = read_body(MintBody, await request.body())
        served = await _served(service, site, session_id)
        fetches = minted_by(served, body)
        check_browser(service.environment)
        timeout = service.time_for(body.timeout)

        async def run() -> Response:
            call = service.call(request, site=site, operation="mint", timeout=timeout, session=session_id)
            async with call as last:
                _, engine = await service.crawlers.get(site)
                runtime = _runtime(served)
                await mint_session(runtime, engine, session_id, fetches, seconds=timeout, last=last)
                session = await (await runtime.session_store()).load(site, session_id)
                if session is None:
                    raise _absent(site, session_id)
                return json_response(_view(runtime, session))

        return await service.idempotency.once(request, run)


def _held(request: Request, name: str, lease: str | None) -> Held:
    """The session as the call has it for itself.

    Raises:
        ApiError: one of the pool, which somebody may hold, without its lease.
    """
    if lease is None and jar_of(name) is not None:
        told = "lease: a session of the pool is its holder's; give the token of its lease"
        raise ApiError("CONFLICT", told, fields=["lease"], session_id=name)
    return Held(name, lease, caller_of(request))


async def _served(service: Service, site: str, session_id: str) -> Served:
    check_name(session_id)
    if site not in service.crawlers.sites:
        raise ApiError("VALIDATION_ERROR", f"site: there is no {site!r}", fields=["site"])
    served, _ = await service.crawlers.get(site)
    return served


def _runtime(served: Served) -> Runtime:
    assert served.runtime
    return served.runtime


async def _refreshed(runtime: Runtime, site: str, name: str) -> dict[str, Any]:
    sessions: LiveSessions = await runtime.sessions()
    session = await runtime.named_session(name)
    try:
        fresh = await sessions.rotate(site, name, session, lambda: runtime.successor(session))
    finally:
        await sessions.release(site, name, session)
    return _view(runtime, fresh)


def _absent(site: str, name: str) -> ApiError:
    return ApiError("NOT_FOUND", f"{site} has no session {name!r}", session_id=name)


def _view(runtime: Runtime, session: Session) -> dict[str, Any]:
    proxy = runtime.proxies.get(session.proxy_id) if session.proxy_id is not None else None
    return {
        "session_id": session.id,
        "site": session.site,
        "identity": session.identity[:8],
        "profile": session.profile,
        "proxy": {"provider": proxy.provider, "country": proxy.country} if proxy is not None else None,
        "created_at": _time(session.created_at),
        "used_at": _time(session.used_at),
        "uses": session.uses,
        "blocks": session.blocks,
        "cookies": sorted({cookie.name for cookie in session.jar}),
        "tokens": sorted(session.tokens),
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
