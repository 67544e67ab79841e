"""Any address: fetched the way a browser would, handed over as it came."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from fetchworker.contracts import Call, Destination, Fetch, Page, Params, Parsed
from fetchworker.download.headers import request_head
from fetchworker.download.profiles import get_profile
from fetchworker.download.wire import WIRE, Wire
from fetchworker.errors import ArgumentError, ConfigError
from fetchworker.items import FetchResult, Item
from fetchworker.spiders.base import SiteSpider, operation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response

    from fetchworker.sites import SiteConfig

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
_HOST = re.compile(r"[^\s\x00-\x20\x7f/?#@\\]+")
_TEXT = ("text/", "json", "xml", "javascript", "x-www-form-urlencoded")


class FetchParams(Params):
    """What to fetch."""

    url: str = Field(description="http or https address")
    method: Method = "GET"
    headers: dict[str, str] = Field(default_factory=dict, description="headers to send, as a JSON object")
    cookies: dict[str, str] = Field(default_factory=dict, description="cookies to send, as a JSON object")
    body: str | None = Field(default=None, description="text to send")
    body_base64: str | None = Field(default=None, description="bytes to send, as base64")
    destination: Destination = Field(default="navigate", description="what the browser would be doing")
    referer: str | None = None

    @field_validator("headers", "cookies", mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        import orjson  # noqa: PLC0415  # only for -a headers='{"…": "…"}'

        try:
            return orjson.loads(value) if isinstance(value, str) else value
        except orjson.JSONDecodeError:
            raise ValueError('a JSON object is expected, such as {"name": "value"}') from None

    @field_validator("url")
    @classmethod
    def _http(cls, value: str) -> str:
        try:
            value.encode()  # half a character has no place in an address
            parts = urlsplit(value)
            good = parts.scheme in ("http", "https") and parts.port != 0 and _HOST.fullmatch(parts.hostname or "")
        except ValueError:
            good = None
        if not good:
            raise ValueError("an address that begins with http:// or https:// and a host is expected")
        if "@" in parts.netloc:  # it would be written down wherever the address is
            raise ValueError("no user name or password may be in an address: send an Authorization header")
        return value

    @field_validator("referer")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        if value and re.search(r"[\r\n\0]", value):
            raise ValueError("a line break or NUL has no place in an address")
        return value

    @field_validator("body_base64")
    @classmethod
    def _base64(cls, value: str | None) -> str | None:
        try:
            base64.b64decode(value or "", validate=True)
        except ValueError:
            raise ValueError("this is no base64") from None
        return value

    @model_validator(mode="after")
    def _one_body(self) -> Self:
        if self.body is not None and self.body_base64 is not None:
            raise PydanticCustomError("both", "give body or body_base64, not both", {"fields": ["body", "body_base64"]})
        return self

    def sent(self) -> bytes | None:
        """The bytes to send."""
        if self.body_base64 is None:
            return None if self.body is None else self.body.encode()
        return base64.b64decode(self.body_base64, validate=True)


def parse(page: Page, call: Call[FetchParams]) -> Parsed:  # noqa: ARG001  # the signature of every parser
    """The response as an item (pure)."""
    content_type = page.header("content-type")
    text = _as_text(page.body, content_type)
    result = FetchResult.draft(
        url=page.url,
        status=page.status,
        headers=[(name, value) for name, values in page.headers.items() for value in values],
        body=text,
        body_base64=base64.b64encode(page.body).decode() if text is None else None,
        content_type=content_type,
    )
    return Parsed([result])


def _as_text(body: bytes, content_type: str | None) -> str | None:
    if content_type and not any(mark in content_type.lower() for mark in _TEXT):
        return None
    charset = "utf-8"
    for part in (content_type or "").split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name.lower() == "charset":
            charset = value.strip("\"' ")
    try:
        return body.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return None


def _field_of(params: FetchParams, header: str) -> str:
    """The field that a header is from: ``headers.X-Order``, ``cookies``, ``referer``."""
    given = next((name for name in params.headers if name.lower() == header.lower()), None)
    if given is not None:
        return f"headers.{given}"
    return {"cookie": "cookies", "referer": "referer"}.get(header.lower(), "headers")


class FetchSpider(SiteSpider):
    """Fetches any address."""

    name = "fetch"

    @operation(parse=parse, params=FetchParams, default_for=("url",), whole=False, session_scope="request")
    def fetch(self, call: Call[FetchParams]) -> Iterator[Fetch]:
        """One request, its response as it came."""
        params = call.params
        yield Fetch(
            "fetch",
            params.url,
            method=params.method,
            destination=params.destination,
            headers=tuple(params.headers.items()),
            cookies=tuple(params.cookies.items()),
            body=params.sent(),
            referer=params.referer,
        )

    @classmethod
    def check_call(cls, call: Call[FetchParams], config: SiteConfig) -> None:
        """See that the profile's browser could send these headers and cookies.

        Raises:
            ArgumentError: naming the header.
        """
        params, profile = call.params, get_profile(config.profile)
        try:
            request_head(
                profile,
                destination=params.destination,
                method=params.method,
                url=params.url,
                referer=params.referer,
                caller_headers=tuple(params.headers.items()),
                cookies="; ".join(f"{name}={value}" for name, value in params.cookies.items()),
            )
        except ConfigError as exc:
            field = _field_of(params, str(exc.context.get("header", "")))
            raise ArgumentError(f"{cls.name} {call.operation}: {exc.message}", fields=[field]) from None

    def complete(self, item: Item, response: Response) -> None:
        """How the response came."""
        wire: Wire = response.meta[WIRE]
        item.__dict__.update(
            elapsed_ms=round(wire.elapsed * 1000, 1),
            bytes_down=wire.bytes_down,
            bytes_up=wire.bytes_up,
            proxy={"provider": wire.proxy.provider, "country": wire.proxy.country} if wire.proxy else None,
            session_id=response.meta.get("fw_session"),
            attempts=response.meta.get("fw_tries", 1),
        )
