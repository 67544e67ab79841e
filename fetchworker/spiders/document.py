"""Any address of an invoice or a receipt: fetched the way a browser would, and read."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from fetchworker.contracts import Call, Fetch, Page, Params, Parsed
from fetchworker.items import Document
from fetchworker.runtime import document_settings
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.fetch import FetchParams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from scrapy.crawler import Crawler


class DocumentParams(Params):
    """What to read."""

    url: str = Field(description="http or https address of a PDF, a picture or an electronic invoice")
    read_as: Literal["auto", "invoice", "receipt"] = Field(default="auto", description="what it is")

    @field_validator("url")
    @classmethod
    def _http(cls, value: str) -> str:
        return FetchParams(url=value).url


def parse(page: Page, call: Call[DocumentParams]) -> Parsed:
    """The file as an item that the pipeline reads (pure)."""
    body = base64.b64encode(page.body).decode()
    return Parsed([Document.draft(url=page.url, read_as=call.params.read_as, body_base64=body)])


class DocumentSpider(SiteSpider):
    """Reads invoices and receipts."""

    name = "document"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider.

        Raises:
            ConfigError: what it takes to read documents is not installed.
        """
        spider = super().from_crawler(crawler, *args, **kwargs)
        assert spider.runtime
        document_settings(spider.runtime.environment)
        return spider

    @operation(parse=parse, params=DocumentParams, default_for=("url",), whole=False)
    def read(self, call: Call[DocumentParams]) -> Iterator[Fetch]:
        """One file."""
        yield Fetch("file", call.params.url)

    def session_name(self, call: Call[DocumentParams]) -> None:  # noqa: ARG002
        """Stateless unless the arguments name a session."""
        return
