"""``/pool/{site}``: hold one identity of a site over several calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.responses import Response

from fetchworker.service.calls import check_country
from fetchworker.service.failures import ApiError
from fetchworker.service.models import read_body
from fetchworker.service.responses import failures, json_response, takes
from fetchworker.service.state import caller_of
from fetchworker.sessions.poolkeys import MAIN, country_jar
from fetchworker.sessions.remote import RemoteLeases, Token

if TYPE_CHECKING:
    from fetchworker.service.state import Service

_SECONDS = 300.0
Site = Annotated[str, Path(pattern=r"^[a-z0-9_]{1,40}$", description="whose pool it is")]
TokenText = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Jar = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,24}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class LeaseBody(_Strict):
    """Which identity is wanted."""

    jar: Jar = Field(default=MAIN, description="which kind of the site's sessions")
    country: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2}$")] | None = Field(
        default=None, description="where the identity's exit has to be (ISO 3166-1)"
    )
    wait: Annotated[float, Field(ge=0, le=_SECONDS)] | None = Field(
        default=None, description="seconds to wait for one (default: as the site's pool says)"
    )


class ExtendBody(_Strict):
    """A lease that is to last longer."""

    lease: TokenText


class ReleaseBody(_Strict):
    """A lease that is over, and how its answers were."""

    lease: TokenText
    good: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    bad: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class QuarantineBody(_Strict):
    """A lease whose identity is not to be used for a while."""

    lease: TokenText
    reason: Annotated[str, StringConstraints(min_length=1, max_length=200)]


class LeaseView(BaseModel):
    """A lease: ``session_id`` and ``lease`` go into further calls, each of which makes it last longer."""

    model_config = ConfigDict(extra="forbid")

    site: str
    session_id: str
    lease: str
    expires_at: str


def pool_router(service: Service) -> APIRouter:
    """The routes."""
    router = APIRouter(prefix="/pool/{site}", tags=["pool"])

    def add(name: str, body: type[_Strict], act: Any, *, view: bool, summary: str) -> None:
        async def route(request: Request, site: Site) -> Response:
            if site not in service.crawlers.sites:
                raise ApiError("NOT_FOUND", f"there is no site {site!r}")
            told = read_body(body, await request.body())
            return await service.idempotency.once(request, lambda: _acted(service, request, site, act, told))

        router.add_api_route(
            f"/{name}",
            route,
            methods=["POST"],
            summary=summary,
            operation_id=f"pool_{name}",
            status_code=200 if view else 204,
            response_model=LeaseView if view else None,
            responses=failures(),
            openapi_extra=takes(body, idempotent=True),
        )

    add("lease", LeaseBody, _lease, view=True, summary="Lease an identity of the site")
    add("extend", ExtendBody, _extend, view=True, summary="Hold a lease for longer")
    add("release", ReleaseBody, _release, view=False, summary="Give an identity back")
    add("quarantine", QuarantineBody, _quarantine, view=False, summary="Take an identity out of use for a while")
    return router


async def _acted(service: Service, request: Request, site: str, act: Any, told: Any) -> Response:
    async with service.call(request, site=site, operation="pool", timeout=_SECONDS, redis=True):
        served, _ = await service.crawlers.get(site)
        assert served.runtime
        if isinstance(told, LeaseBody) and told.country is not None:
            told = told.model_copy(update={"country": check_country(served.runtime, told.country)})
        answer: Response = await act(RemoteLeases(served.runtime.leases, caller=caller_of(request)), site, told)
        return answer


async def _lease(pool: RemoteLeases, site: str, told: LeaseBody) -> Response:
    token, until = await pool.check_out(country_jar(told.jar, told.country), wait=told.wait)
    return _view(site, token, until)


async def _extend(pool: RemoteLeases, site: str, told: ExtendBody) -> Response:
    return _view(site, told.lease, await pool.extend(told.lease))


async def _release(pool: RemoteLeases, _: str, told: ReleaseBody) -> Response:
    await pool.check_in(told.lease, good=told.good, bad=told.bad)
    return _nothing()


async def _quarantine(pool: RemoteLeases, _: str, told: QuarantineBody) -> Response:
    await pool.check_in(told.lease, quarantine=told.reason)
    return _nothing()


def _nothing() -> Response:
    return Response(status_code=204)


def _view(site: str, token: str, until: float) -> Response:
    ends = datetime.fromtimestamp(until, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json_response({
        "site": site, "session_id": Token.of(token).lease.session_id, "lease": token, "expires_at": ends,
    })  # fmt: skip
