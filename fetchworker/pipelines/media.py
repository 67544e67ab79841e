"""Fetches the pictures and films of items, and keeps them by the hash of their bytes; docs/media.md.

Scrapy's media pipeline does the bookkeeping: an address is fetched once, whoever waits for it. The requests go the way
of all requests. What goes wrong with a picture is told in its item and never costs the item.

Stats: ``fetchworker/media/<stored|known>`` counts files, ``fetchworker/media/bytes`` those of new ones,
``fetchworker/media/failed/<type>`` what was not had.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request
from scrapy.exceptions import DownloadCancelledError, NotConfigured
from scrapy.http.request import NO_CALLBACK
from scrapy.pipelines.media import MediaPipeline as ScrapyMedia

from fetchworker.errors import FetchworkerError, StorageError
from fetchworker.frontier.codec import CARRIED
from fetchworker.items import Item
from fetchworker.media import MEDIA, kind_of, media_of
from fetchworker.runtime import Runtime, media_store
from fetchworker.runtime.failures import failure_record

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from fetchworker.media import Origin, Store

logger = logging.getLogger(__name__)

#: addresses that are remembered, so that they are not fetched again
_REMEMBERED = 4096
_OK = 200
_GONE = frozenset({404, 410})


class _Remembered(OrderedDict[bytes, Any]):
    """The last results; failures are forgotten at once, as another item's try may do better."""

    def __setitem__(self, key: bytes, value: Any) -> None:
        if isinstance(value, dict) and "error" not in value:
            super().__setitem__(key, value)
            if len(self) > _REMEMBERED:
                self.popitem(last=False)


class MediaPipeline(ScrapyMedia):
    """Adds ``extra["media_files"]`` to each item that names media.

    Class attributes, for pipelines that fetch something else:
        told_as: where in an item's ``extra`` the results go.
        counted_as: the head of its stats.
        destinations: what the browser would be doing, by the kind of file.
    """

    told_as: ClassVar[str] = "media_files"
    counted_as: ClassVar[str] = "media"
    destinations: ClassVar[dict[str, str]] = {"image": "image"}

    class SpiderInfo(ScrapyMedia.SpiderInfo):
        """Scrapy's books of one crawl, bounded."""

        def __init__(self, spider: Spider) -> None:
            super().__init__(spider)
            self.downloaded = _Remembered()

    def __init__(self, *, crawler: Crawler, runtime: Runtime, store: Store | None, max_bytes: int) -> None:
        super().__init__(crawler=crawler)
        self._runtime = runtime
        self._store = store
        self._max_bytes = max_bytes
        self._told_of_storage = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline.

        Raises:
            NotConfigured: media are not to be fetched.
        """
        runtime = Runtime.of(crawler)
        if not runtime.environment.media:
            raise NotConfigured
        environment = runtime.environment
        return cls(
            crawler=crawler, runtime=runtime, store=media_store(environment), max_bytes=environment.media_max_bytes
        )

    def named(self, item: Item) -> dict[str, str]:
        """The addresses that an item names, and what is there."""
        return media_of(item)

    # ── Scrapy's hooks ───────────────────────────────────────────────────────────────────────────────────────────

    def get_media_requests(self, item: Item, info: ScrapyMedia.SpiderInfo) -> list[Request]:  # noqa: ARG002
        """A request for each address; none for what is no item of ours."""
        if not isinstance(item, Item):
            return []
        origin = self._runtime.origins.of(item.item_id)
        return [self._request(url, kind, item, origin) for url, kind in self.named(item).items()]

    async def media_to_download(  # type: ignore[override]  # Scrapy awaits it as well
        self, request: Request, *_: Any, **__: Any
    ) -> dict[str, Any]:
        """Fetch and keep one file, or tell why not: Scrapy would make a traceback of an error."""
        try:
            assert self.crawler.engine
            response = await self.crawler.engine.download_async(request)
            return await self._kept(response)
        except Exception as exc:  # noqa: BLE001  # whatever it is, the item must not be lost for it
            return self._failed(request, *self._told(request, exc))

    def item_completed(self, results: list[Any], item: Item, info: ScrapyMedia.SpiderInfo) -> Item:  # noqa: ARG002
        """Tell the results in the item."""
        if results:
            told = [_told_in_item(url, *result) for url, result in zip(self.named(item), results, strict=True)]
            item.extra = {**item.extra, self.told_as: told}
        return item

    def media_downloaded(self, *_: Any, **__: Any) -> Any:
        """Not asked: :meth:`media_to_download` does it all."""
        raise NotImplementedError

    media_failed = file_path = media_downloaded

    # ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _request(self, url: str, kind: str, item: Item, origin: Origin) -> Request:
        meta: dict[str, Any] = {
            MEDIA: True,
            "fw_destination": self.destinations.get(kind, "xhr"),
            "fw_request_id": item.item_id,
            "fw_referer": origin.referer,
            "download_maxsize": self._max_bytes,
            "download_warnsize": 0,
        }
        if origin.name:
            meta["fw_session"] = origin.name
        elif origin.identity is not None:
            meta[CARRIED] = origin.identity
        url = url.partition("#")[0]
        # signed addresses hold for their exact bytes; what could not be sent as it is, Scrapy quotes
        meta["verbatim_url"] = url.isascii() and url.isprintable() and " " not in url
        return Request(url, callback=NO_CALLBACK, meta=meta)

    async def _kept(self, response: Response) -> dict[str, Any]:
        if response.status != _OK:
            return self._failed(
                response.request, "NOT_FOUND_UPSTREAM" if response.status in _GONE else "FETCH_ERROR",
                f"status {response.status}",
            )  # fmt: skip
        return await self._used(response)

    async def _used(self, response: Response) -> dict[str, Any]:
        """What the item is told of a file that was had."""
        content = response.body
        kind = kind_of(content)
        if kind is None:
            return self._failed(response.request, "WRONG_TYPE", _unlike_media(response))
        assert self._store is not None
        digest = await asyncio.to_thread(_sha256, content)
        path = f"{digest[:2]}/{digest}.{kind.extension}"
        new = await asyncio.to_thread(self._store.put, path, content)
        self._runtime.count("media/stored" if new else "media/known")
        self._runtime.count("media/bytes", len(content) if new else 0)
        return {"path": path, "sha256": digest, "bytes": len(content), "content_type": kind.content_type}

    def _told(self, request: Request, error: Exception) -> tuple[str, str]:
        if isinstance(error, StorageError):
            self._tell_of_storage(error)
            return "STORAGE_ERROR", error.message
        if isinstance(error, DownloadCancelledError) and "larger than" in str(error):
            return "TOO_LARGE", f"more than {request.meta['download_maxsize']} bytes"
        if not isinstance(error, FetchworkerError):
            logger.debug("%s: %r", request.url, error)
        record = failure_record(request, error, self._runtime.site, downloaded=False)
        return record["type"], record["message"]

    def _failed(self, request: Request | None, error: str, message: str) -> dict[str, Any]:
        self._runtime.count(f"{self.counted_as}/failed/{error}")
        logger.info("%s is not kept: %s (%s)", request.url if request else "a file", error, message)
        return {"error": error, "message": message}

    def _tell_of_storage(self, error: StorageError) -> None:
        """Once: a full disk is told in each item, the log need not repeat it."""
        if not self._told_of_storage:
            self._told_of_storage = True
            logger.error("media cannot be kept: %s; the items say so, the crawl goes on", error.message)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _unlike_media(response: Response) -> str:
    if not response.body:
        return "the answer is empty"
    told = response.headers.get(b"Content-Type", b"") or b""
    return f"no picture and no film, the server says {told.decode('latin-1')[:80] or 'nothing'}"


def _told_in_item(url: str, success: bool, result: Any) -> dict[str, Any]:
    if success:
        return {"url": url, **result}
    return {"url": url, "error": "INTERNAL_ERROR", "message": type(result.value).__name__}
