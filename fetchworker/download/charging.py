"""By whose work a transfer's bytes are: what its request tells, and what its end does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http.request import NO_CALLBACK

from fetchworker.errors import EgressDeniedError, ProxyAuthError, ProxyFailedError
from fetchworker.media import MEDIA
from fetchworker.usage import DIRECT, NONE, Charge, Exit

if TYPE_CHECKING:
    from scrapy import Request

    from fetchworker.proxies import Proxy
    from fetchworker.usage import Keeper

#: the operations of requests that no call asked for
ROBOTS, WARMUP, MINT = "robots", "warmup", "mint"
_MEDIA = "media"

#: error → outcome, the first that fits
_ENDS: tuple[tuple[type[BaseException], str], ...] = (
    (ProxyAuthError, "proxy_auth"),
    (ProxyFailedError, "proxy_failed"),
    (EgressDeniedError, "denied"),
    (DownloadTimeoutError, "timeout"),
    (CannotResolveHostError, "unresolved"),
    (DownloadConnectionRefusedError, "refused"),
    (ResponseDataLossError, "data_loss"),
    (DownloadCancelledError, "aborted"),
    (asyncio.CancelledError, "cancelled"),
)


def open_charge(usage: Keeper, site: str, request: Request, proxy: Proxy | None) -> Charge:
    """The charge of a request that is about to be sent, through ``proxy`` or directly."""
    session = request.meta.get("fw_session") or NONE
    if session != NONE:
        usage.account.leave(session, Exit(proxy.label, proxy.country) if proxy is not None else None)
    return usage.ledger.open(
        site,
        operation=operation_of(request),
        provider=proxy.provider if proxy is not None else DIRECT,
        tier=(proxy.tier or NONE) if proxy is not None else NONE,
        session=session,
    )


def operation_of(request: Request) -> str:
    """What a request is for: its call's operation, ``robots``, ``warmup``, ``mint``, ``media``, or what is unknown."""
    meta = request.meta
    if meta.get(MEDIA):
        return _MEDIA
    if request.callback is NO_CALLBACK:
        return ROBOTS
    if meta.get("fw_warmup"):
        return MINT if meta["fw_warmup"] == MINT else WARMUP
    call = meta.get("fw_call")
    return str(call.get("operation") or NONE) if isinstance(call, dict) else NONE


def end_of(error: BaseException) -> str:
    """The outcome of a transfer that ended with an error (pure)."""
    return next((told for kind, told in _ENDS if isinstance(error, kind)), "failed")
