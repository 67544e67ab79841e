"""Calls and fetches as Scrapy requests: ids, JSON in ``meta``, bodies (pure but for making the request object)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import orjson
from scrapy import Request

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fetchworker.contracts import Fetch, Token
    from fetchworker.spiders.operation import Operation


def dump_call(call: Call[Any]) -> dict[str, Any]:
    """A call as JSON values, for ``meta["fw_call"]``."""
    return {
        "operation": call.operation,
        "params": call.params.model_dump(mode="json", exclude_defaults=True),
        "cursor": call.cursor,
        "page": call.page,
        "seen": call.seen,
        "state": dict(call.state),
    }


def load_call(site: str, operations: Mapping[str, Operation], dumped: Mapping[str, Any]) -> Call[Any]:
    """The call that :func:`dump_call` wrote.

    Raises:
        ArgumentError: the site has no such operation.
    """
    chosen = operations.get(dumped["operation"])
    if chosen is None:
        raise ArgumentError(f"{site} has no operation {dumped['operation']!r}")
    return Call(
        chosen.name,
        chosen.params.model_validate(dumped["params"]),
        cursor=dumped.get("cursor"),
        page=dumped.get("page", 1),
        seen=dumped.get("seen", 0),
        state=dumped.get("state", {}),
    )


def request_id(site: str, call: Call[Any]) -> str:
    """A stable id: the same work asked for twice has the same one, whatever strategy and session did it."""
    params = call.params.model_dump(mode="json", exclude_defaults=True)
    work = orjson.dumps([site, call.operation, params, call.cursor, call.page], option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(work, digest_size=10).hexdigest()


def fetch_meta(fetch: Fetch) -> dict[str, Any]:
    """What the middlewares need to know of a fetch, as JSON values."""
    meta: dict[str, Any] = {"fw_destination": fetch.destination}
    if fetch.referer:
        meta["fw_referer"] = fetch.referer
    if fetch.harvest:
        meta["fw_harvest"] = True
    if fetch.render is not None:
        meta["fw_render"] = fetch.render
    if fetch.token_headers:
        meta["fw_token_headers"] = _tokens(fetch.token_headers)
    if fetch.token_form:
        meta["fw_token_form"] = _tokens(fetch.token_form)
    if fetch.secret_headers:
        address = urlsplit(fetch.url)
        origin = f"{address.scheme}://{address.netloc}"
        meta["fw_secret_headers"] = {name: [one.name, one.prefix, origin] for name, one in fetch.secret_headers.items()}
    return meta


def _tokens(tokens: Mapping[str, Token]) -> dict[str, list[str | None]]:
    return {place: [token.name, token.default] for place, token in tokens.items()}


def build_request(
    fetch: Fetch,
    meta: dict[str, Any],
    *,
    callback: Callable[..., Any] | None = None,
    errback: Callable[..., Any] | None = None,
    priority: int = 0,
) -> Request:
    """The Scrapy request for a fetch."""
    body = urlencode(list(fetch.form)).encode() if fetch.form is not None else fetch.body
    headers = list(fetch.headers)
    if fetch.form is not None:
        headers.append(("Content-Type", "application/x-www-form-urlencoded"))
    return Request(
        fetch.url,
        callback,
        fetch.method,
        headers=headers,
        body=body,
        cookies=dict(fetch.cookies),
        meta=meta,
        errback=errback,
        priority=priority,
        dont_filter=True,
    )
