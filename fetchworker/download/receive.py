"""Takes in one answer while curl reads it: headers, caps, Scrapy's signals, body."""

from __future__ import annotations

import logging
import time
from io import BytesIO
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DownloadCancelledError
from scrapy.http import Headers
from scrapy.utils._download_handlers import check_stop_download, get_maxsize_msg, get_warnsize_msg

from fetchworker.download.client import WRITE_ABORT

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.exceptions import StopDownload

logger = logging.getLogger(__name__)

_FINAL = 200


class Receiver:
    """One answer in the making.

    ``maxsize`` and ``warnsize`` are in bytes, 0 for none. ``aborted`` is the error that made us end the transfer,
    ``stopped`` what a signal handler asked for. ``answered`` is the time (monotonic) at which the headers were in.
    """

    __slots__ = (
        "_body",
        "_crawler",
        "_maxsize",
        "_request",
        "_signal_body",
        "_signal_headers",
        "_warnsize",
        "aborted",
        "answered",
        "headers",
        "headers_done",
        "received",
        "status",
        "stopped",
        "version",
    )

    def __init__(
        self, crawler: Crawler, request: Request, *, maxsize: int, warnsize: int, signalled: tuple[bool, bool]
    ) -> None:
        self._crawler = crawler
        self._request = request
        self._maxsize = maxsize
        self._warnsize = warnsize
        self._signal_headers, self._signal_body = signalled
        self.status = 0
        self.version = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.headers_done = False
        self.answered: float | None = None
        self._body: bytes | BytesIO = b""
        self.received = 0
        self.aborted: DownloadCancelledError | None = None
        self.stopped: StopDownload | None = None

    def on_header(self, line: bytes) -> int:
        """One header line, its line end included."""
        text = line.rstrip(b"\r\n")
        if not text:
            return self._end_of_headers(len(line))
        if text.startswith(b"HTTP/") and b":" not in text.split(b" ", 1)[0]:
            self._start(text)
        elif text[:1] in b" \t" and self.headers:
            name, value = self.headers[-1]
            self.headers[-1] = (name, value + b" " + text.strip())
        else:
            name, _, value = text.partition(b":")
            self.headers.append((name.strip(), value.strip()))
        return len(line)

    def _start(self, text: bytes) -> None:
        self.version, _, rest = text.partition(b" ")
        code = rest.split(b" ", 1)[0]
        self.status = int(code) if code.isdigit() else 0
        self.headers = []
        self.headers_done = False

    def _end_of_headers(self, taken: int) -> int:
        if self.status < _FINAL or self.headers_done:  # an interim answer, or trailers after the body
            return taken
        self.headers_done = True
        self.answered = time.monotonic()
        length = self._declared_length()
        if length is not None and not self._within_caps(length, expected=True):
            return WRITE_ABORT
        if self._signal_headers:
            self.stopped = check_stop_download(
                signals.headers_received,
                self._crawler,
                self._request,
                headers=self.made_headers(),
                body_length=length,
            )
            if self.stopped:
                return WRITE_ABORT
        return taken

    def on_body(self, chunk: bytes) -> int:
        """One part of the body."""
        if not self.received:
            self._body = chunk  # most bodies come in one part
        elif isinstance(self._body, bytes):
            first, self._body = self._body, BytesIO()
            self._body.write(first)
            self._body.write(chunk)
        else:
            self._body.write(chunk)
        self.received += len(chunk)
        if self._signal_body:
            self.stopped = check_stop_download(signals.bytes_received, self._crawler, self._request, data=chunk)
            if self.stopped:
                return WRITE_ABORT
        return len(chunk) if self._within_caps(self.received, expected=False) else WRITE_ABORT

    def _declared_length(self) -> int | None:
        for name, value in self.headers:
            if name.lower() == b"content-length" and value.isdigit():
                return int(value)
        return None

    def _within_caps(self, size: int, *, expected: bool) -> bool:
        if self._maxsize and size > self._maxsize:
            message = get_maxsize_msg(size, self._maxsize, self._request, expected=expected)
            logger.warning(message)
            self.aborted = DownloadCancelledError(message)
            self._body = b""
            return False
        if self._warnsize and size > self._warnsize:
            logger.warning(get_warnsize_msg(size, self._warnsize, self._request, expected=expected))
            self._warnsize = 0
        return True

    def made_headers(self) -> Headers:
        """The headers as Scrapy keeps them, repeated ones in their order."""
        return Headers(self.headers)

    def content(self) -> bytes:
        """The body so far."""
        # BytesIO gives its buffer away without a copy
        return self._body if isinstance(self._body, bytes) else self._body.getvalue()
