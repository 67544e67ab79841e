"""Lets only items through that keep the item contract; the others go to the crawl's reject file with their reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline."""
        return cls(Runtime.of(crawler))

    def process_item(self, item: Any) -> Item:
        """Check one item.

        Raises:
            DropItem: it is wrong; the reject file has it.
        """
        try:
            checked = validate(item)
        except ItemInvalidError as exc:
            values = item if isinstance(item, dict) else dict(item.__dict__)
            self._runtime.count(f"rejected/{values.get('kind')}")
            self._runtime.records.reject({"reason": exc.message, "item": plain(self._kept(values))})
            raise DropItem(exc.message) from None
        return checked if self._runtime.environment.contact_data else without_contact(checked)

    def _kept(self, values: dict[str, Any]) -> dict[str, Any]:
        extra = values.get("extra")
        if self._runtime.environment.contact_data or not isinstance(extra, dict):
            return values
        return values | {"extra": {name: value for name, value in extra.items() if name != CONTACT}}
