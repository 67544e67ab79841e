"""What a request out of the shared queue must be, so that nothing on its way can break on it (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, ValidationError

from fetchworker.contracts import Destination, Render  # noqa: TC001  # pydantic reads them
from fetchworker.errors import ArgumentError
from fetchworker.spiders.operation import SESSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request

Count = Annotated[StrictInt, Field(ge=0)]
Tokens = dict[StrictStr, tuple[StrictStr, StrictStr | None]]
#: by the field of the request, what it may name
CALLBACKS = {"callback": frozenset({"parse_call"}), "errback": frozenset({"fail_call"})}
_FIRST_FIELDS = {"url", "method", "body", "headers"}


class _Call(BaseModel):
    operation: StrictStr
    params: dict[StrictStr, Any]
    cursor: StrictStr | None = None
    page: Annotated[StrictInt, Field(ge=1)] = 1
    seen: Count = 0
    state: dict[StrictStr, Any] = Field(default_factory=dict)


class _Meta(BaseModel):
    """The keys that our own parts read; what else is there is left alone."""

    fw_call: _Call
    fw_strategy: tuple[Count, Count, StrictStr]
    fw_request_id: StrictStr
    fw_destination: Destination
    fw_session: Annotated[StrictStr, Field(pattern=SESSION)] | None = None
    fw_session_ends: StrictBool = False
    fw_scope: Annotated[StrictStr, Field(pattern=SESSION)] | None = None
    fw_jar: Annotated[StrictStr, Field(pattern=r"^[a-z0-9_]{1,24}$")] = "main"
    fw_exclusive: StrictBool = False
    fw_leg: StrictBool = False
    fw_begun: Count = 0
    fw_shell: list[dict[StrictStr, Any]] = Field(default_factory=list)
    fw_referer: StrictStr | None = None
    fw_harvest: StrictBool = False
    fw_render: Render | None = None
    fw_render_step: StrictStr | None = None
    fw_render_steps: list[StrictStr] = Field(default_factory=list)
    fw_token_headers: Tokens = Field(default_factory=dict)
    fw_token_form: Tokens = Field(default_factory=dict)
    fw_secret_headers: dict[StrictStr, tuple[StrictStr, StrictStr, StrictStr]] = Field(default_factory=dict)
    fw_refresh: list[StrictStr] = Field(default_factory=list)
    fw_tries: Annotated[StrictInt, Field(ge=1)] = 1
    fw_restarts: Count = 0
    fw_first: dict[StrictStr, Any] = Field(default_factory=dict)
    fw_hop_of: StrictStr | None = None
    redirect_times: Count = 0
    redirect_ttl: StrictInt = 0
    redirect_urls: list[StrictStr] = Field(default_factory=list)


def check_fields(request: Request, callbacks: Mapping[str, frozenset[str]]) -> None:
    """See that callbacks, cookies and meta are such as a spider writes them.

    Raises:
        ArgumentError: naming what is not.
    """
    for kind, allowed in callbacks.items():
        name = getattr(getattr(request, kind), "__name__", None)
        if name not in allowed:
            raise ArgumentError(f"{kind}: {name!r} is none of {', '.join(sorted(allowed))}")
    if request.cb_kwargs:
        raise ArgumentError("cb_kwargs: our callbacks take none")
    if not _are_cookies(request.cookies):
        raise ArgumentError("cookies: an object, or a list of objects with name and value, is expected")
    try:
        meta = _Meta.model_validate(request.meta)
    except ValidationError as exc:
        wrong = exc.errors(include_url=False, include_input=False)
        told = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in wrong)
        raise ArgumentError(f"meta: {told}") from None
    index, count, _ = meta.fw_strategy
    if index >= count:
        raise ArgumentError(f"meta: fw_strategy: there is no strategy {index} of {count}")
    if not meta.fw_first.keys() <= _FIRST_FIELDS:
        raise ArgumentError(f"meta: fw_first: only {', '.join(sorted(_FIRST_FIELDS))} are expected")


def _are_cookies(cookies: Any) -> bool:
    if isinstance(cookies, list):
        return all(isinstance(cookie, dict) and {"name", "value"} <= cookie.keys() for cookie in cookies)
    return isinstance(cookies, dict)
