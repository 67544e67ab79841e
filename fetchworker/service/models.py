"""What ``/fetch`` and ``/documents`` take. Types are strict: ``"false"`` is no boolean and ``"5"`` no number."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from fetchworker.contracts import Destination, Render  # noqa: TC001  # pydantic needs them
from fetchworker.documents import Wanted  # noqa: TC001  # as above
from fetchworker.errors import field_path
from fetchworker.service.failures import ApiError
from fetchworker.spiders.fetch import FetchParams, Method
from fetchworker.spiders.operation import fields_of

_LONGEST = 8192
SessionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:@-]{1,128}$")]
Url = Annotated[str, StringConstraints(min_length=1, max_length=_LONGEST)]
Status = Annotated[int, Field(ge=100, le=599)]
#: checked by :func:`fetchworker.actions.parse_actions`, whose errors name the action
AnyAction = Annotated[Any, WithJsonSchema({"type": "object"})]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


class Expect(_Strict):
    """What must hold of the answer, or the call fails with CONTRACT_ERROR."""

    status: list[Status] = Field(
        default=[],
        max_length=32,
        description="statuses that are as good as 200: their answers are handed over (but for refusals), others fail",
        examples=[[200, 404]],
    )
    marker: Annotated[str, StringConstraints(min_length=1, max_length=1024)] | None = Field(
        default=None, description="text that the body must contain", examples=["</html>"]
    )


#: shared: a default is copied for each body otherwise, which costs more than reading it
_NOTHING = Expect()


def _empty(description: str) -> Any:
    return Field(default_factory=dict, description=description, json_schema_extra={"default": {}})


class AsSession(_Strict):
    """By which session, rules and exits a call goes out."""

    session_id: SessionId | None = Field(
        default=None, description="keeps cookies and exit under this name; calls on one name come one after the other"
    )
    lease: Annotated[str, StringConstraints(max_length=256)] | None = Field(
        default=None, description="the token of the lease that holds session_id"
    )
    site: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}$")] = Field(
        default="fetch", description="whose entry of sites.yaml, rules and sessions hold"
    )
    country: Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2}$")] | None = Field(
        default=None, description="where the exit has to be (ISO 3166-1); a session keeps the country of its birth"
    )
    proxy: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$")] | None = Field(
        default=None, description="a tier of proxies by its configured name, never an address"
    )

    @model_validator(mode="after")
    def _has_its_session(self) -> Self:
        if self.lease is not None and self.session_id is None:
            raise PydanticCustomError("alone", "lease: belongs to a session_id", {"fields": ["lease"]})
        return self


class FetchBody(AsSession):
    """One fetch: the way a browser would, through the site's proxies, told apart from refusals, and tried again."""

    url: Url = Field(description="http or https address", examples=["https://example.com/"])
    method: Method = "GET"
    headers: dict[str, str] = _empty("headers beside those of the browser")
    body: str | None = Field(default=None, description="text to send")
    body_base64: str | None = Field(default=None, description="bytes to send")
    json_: Any = Field(default=None, alias="json", description="a value to send as JSON")
    cookies: dict[str, str] = _empty("cookies beside those of the session")
    destination: Destination = Field(default="navigate", description="what the browser would be doing")
    referer: Annotated[str, StringConstraints(max_length=_LONGEST)] | None = None
    render: Render | None = Field(
        default=None,
        description="whether a browser loads the page: never, on_evidence (where its answer takes one), always "
        "(default: as sites.yaml says)",
    )
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="seconds for the whole call, all tries and waits included"
    )
    max_bytes: Annotated[int, Field(ge=1, le=1 << 30)] | None = Field(
        default=None, description="bytes of the decoded body at most"
    )
    follow_redirects: bool = True
    retries: Annotated[int, Field(ge=0, le=20)] | None = Field(
        default=None, description="tries after the first one (default: the site's)"
    )
    expect: Expect = Field(default_factory=lambda: _NOTHING, json_schema_extra={"default": _NOTHING.model_dump()})

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        given = [name for name in ("body", "body_base64", "json_") if name in self.model_fields_set]
        if len(given) > 1:
            told = {"fields": [name.rstrip("_") for name in given]}
            raise PydanticCustomError("one_of", "give one of body, body_base64 and json", told)
        return self

    def params(self) -> FetchParams:
        """The same as arguments of the fetch spider.

        Raises:
            ApiError: an address, header or body that cannot be.
        """
        headers, body = self.headers, self.body
        if "json_" in self.model_fields_set:
            body = _json(self.json_)
            if not any(name.lower() == "content-type" for name in headers):
                headers = {**headers, "Content-Type": "application/json"}
        values = {"url": self.url, "method": self.method, "headers": headers, "cookies": self.cookies, "body": body}
        rest = {"body_base64": self.body_base64, "destination": self.destination, "referer": self.referer}
        try:
            return FetchParams.model_validate(values | rest)
        except ValidationError as exc:
            raise invalid(exc) from None


def _json(value: Any) -> str:
    """A value as JSON, numbers of any length as they are.

    Raises:
        ApiError: a number that JSON does not have, or that is too long.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        told = "json: a number is none that JSON has (NaN, Infinity, or beyond 1e308), or has too many digits"
        raise ApiError("VALIDATION_ERROR", told, fields=["json"]) from None


Recording = Literal["screenshot", "html", "trace", "har"]


class BrowserRunBody(AsSession):
    """A page in a browser, and what is to be done with it."""

    url: Url = Field(description="http or https address to begin at", examples=["https://example.com/"])
    actions: list[AnyAction] = Field(default=[], max_length=200, description="done one after the other")
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="seconds for the whole call"
    )
    keep: list[Recording] = Field(default=[], max_length=4, description="artifacts that are kept of the run")
    keep_on_failure: list[Recording] = Field(
        default=["screenshot", "html"], max_length=4, description="those that are kept when an action fails"
    )


class MintBody(_Strict):
    """What a browser visits, so that what it gets there is the session's."""

    url: Url | None = Field(default=None, description="http or https address (default: the site's warm-up pages)")
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="seconds for the whole call"
    )


class DocumentOptions(_Strict):
    """How a document is to be read."""

    kind: Wanted = Field(default="auto", description="what the file is; auto: to be found out")
    timeout: Annotated[float, Field(gt=0, le=3600)] | None = Field(
        default=None, description="seconds for the whole call, the download and all waits included"
    )


class DocumentBody(DocumentOptions):
    """A document at an address: downloaded as by ``/fetch``, and read."""

    url: Url = Field(description="http or https address", examples=["https://example.com/invoice.pdf"])


def read_body(model: type[BaseModel], body: bytes) -> Any:
    """The model of a request's body.

    Raises:
        ApiError: VALIDATION_ERROR, naming the fields.
    """
    try:
        return model.model_validate_json(body or b"{}")
    except ValidationError as exc:
        raise invalid(exc) from None


def invalid(error: ValidationError) -> ApiError:
    """The failure that names each field that is wrong, and never shows its value."""
    found = error.errors(include_url=False, include_input=False)
    told = [(field_path(one["loc"]), one["msg"].removeprefix("Value error, ")) for one in found]
    message = "; ".join(f"{name}: {what}" if name else what for name, what in told)
    return ApiError("VALIDATION_ERROR", message, fields=list(dict.fromkeys(fields_of(found))) or None)
