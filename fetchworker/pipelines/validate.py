"""Lets only items through that keep the item contract; the others go to the crawl's reject file with their reason.

Items without a ``kind`` of spiders that are no site's (those written for Scrapy alone) are none of the contract's: they
go to the exports as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem

from fetchworker.errors import ItemInvalidError
from fetchworker.items import Item, plain, validate, without_contact
from fetchworker.items.base import CONTACT
from fetchworker.runtime import Runtime

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class ValidatePipeline:
    """Turns drafts into checked items."""

    def __init__(self, runtime: Runtime, *, foreign: bool = False) -> None:
        self._runtime = runtime
        self._foreign = foreign

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline."""
        of_a_site = hasattr(crawler.spidercls, "operations")
        return cls(Runtime.of(crawler), foreign=not of_a_site)

    def process_item(self, item: Any) -> Any:
        """Check one item; the one of a foreign spider passes unchanged.

        Raises:
            DropItem: it is wrong; the reject file has it.
        """
        if self._foreign and not isinstance(item, Item) and "kind" not in ItemAdapter(item):
            return item
        values = item.__dict__ if isinstance(item, Item) else ItemAdapter(item).asdict()
        try:
            checked = validate(item if isinstance(item, Item) else values)
        except ItemInvalidError as exc:
            values = dict(values)
            self._runtime.count(f"rejected/{values.get('kind')}")
            self._runtime.records.reject({"reason": exc.message, "item": plain(self._kept(values))})
            raise DropItem(exc.message) from None
        return checked if self._runtime.environment.contact_data else without_contact(checked)

    def _kept(self, values: dict[str, Any]) -> dict[str, Any]:
        extra = values.get("extra")
        if self._runtime.environment.contact_data or not isinstance(extra, dict):
            return values
        return values | {"extra": {name: value for name, value in extra.items() if name != CONTACT}}
