"""What a spider's parsers have to do with the browser: they tell when a page has its data, and that one lacks it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Spider

from fetchworker.errors import ContractError
from fetchworker.middlewares.render import RENDER, STEP, Steps
from fetchworker.spiders.paging import is_shell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy import Request
    from scrapy.http import Response

    from fetchworker.contracts import Call, Page, Parsed
    from fetchworker.spiders.operation import Operation

#: of a request that repeats another in the browser: one step, and what follows it goes as ever
ONE_STEP = {STEP: "contract", RENDER: "never"}


class RenderedSpider(Spider):
    """The part of a site's spider that knows of the browser."""

    if TYPE_CHECKING:
        operations: ClassVar[Mapping[str, Operation]]

        def load_call(self, dumped: Mapping[str, Any]) -> Call[Any]: ...
        async def _parsed(self, parse: Callable[..., Parsed], page: Page, call: Call[Any]) -> Parsed: ...

    async def gives_data(self, request: Request, page: Page) -> bool:
        """Whether a page, as a browser has it by now, has what its request is for."""
        if "fw_call" not in request.meta or request.meta.get("fw_warmup"):
            return True
        call = self.load_call(request.meta["fw_call"])
        try:
            parsed = await self._parsed(self.operations[call.operation].read, page, call)
        except Exception:  # noqa: BLE001  # it is parsed once more when it is waited for no longer
            return False
        return not is_shell(parsed.items)

    def in_browser(self, response: Response, page: Page, error: Exception | None) -> bool:
        """Whether a page is better asked for once more by the browser, by how its parser ended."""
        crawler = getattr(self, "crawler", None)
        if crawler is None:  # pages are parsed outside a crawl as well
            return False
        steps = Steps.of(crawler)
        if isinstance(error, ContractError) and response.request and steps.helps(response.request, page):
            return True
        steps.parsed(response, good=error is None)
        return False
