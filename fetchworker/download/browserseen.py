"""What a page's events tell: where it is, how it came there, and where it could not go."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, NamedTuple

#: the address of what Chromium shows in place of a page that it could not have
_IN_PLACE = "chrome-error:"


class Lost(NamedTuple):
    """An address that a page was led to and that could not be had, and Chromium's word for why."""

    url: str
    text: str


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


@dataclass(slots=True)
class Seen:
    """What a page's events have told: the last request of its navigation, its answer, and a download.

    ``committed`` is the answer whose document stands there, ``parsed`` the last one whose document was complete;
    ``lost`` is what stands there instead of one, if that is so. ``pages`` counts the documents so far; when the page
    has gone on more than ``most`` times (None: as it likes) ``spent`` is done.
    """

    url: str = ""
    answer: Any = None
    committed: Any = None
    parsed: Any = None
    most: int | None = None
    pages: int = 0
    lost: Lost | None = None
    failed: Lost | None = None
    download: asyncio.Future[Any] = field(default_factory=_future)
    spent: asyncio.Future[None] = field(default_factory=_future)

    def watch(self, page: Any) -> None:
        """Hear of a page's events from now on."""

        def requested(request: Any) -> None:
            if _is_own(request, page):
                self.url = request.url

        def answered(response: Any) -> None:
            if _is_own(response.request, page):
                self.answer = response

        def failed(request: Any) -> None:
            if _is_own(request, page):
                self.failed = Lost(request.url, request.failure or "")

        def committed(frame: Any) -> None:
            if frame == page.main_frame:
                self._stands(frame.url)

        def parsed(_: Any) -> None:
            self.parsed = self.committed

        page.on("request", requested)
        page.on("response", answered)
        page.on("requestfailed", failed)
        page.on("framenavigated", committed)
        page.on("domcontentloaded", parsed)
        page.on("download", lambda download: _told(self.download, download))

    def _stands(self, url: str) -> None:
        if url.startswith(_IN_PLACE):
            self.lost = self.failed or Lost(self.url, "")
            return
        self.lost = None
        self.pages += self.answer is not self.committed  # else it stays in its document
        self.committed = self.answer
        if self.most is not None and self.pages > self.most + 1:
            _told(self.spent, None)


def _is_own(request: Any, page: Any) -> bool:
    """Whether a request is for the page itself."""
    return bool(request.is_navigation_request() and request.frame == page.main_frame)


def _told(future: asyncio.Future[Any], what: Any) -> None:
    if not future.done():
        future.set_result(what)
