"""A process that reads documents: ``python -m fetchworker.documents.worker <descriptor> <state folder>``.

It holds one OCR engine, is told files over a socket, and ends with the process that started it. It has no network:
what would open a connection is refused and counted.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from fetchworker.documents import wire
from fetchworker.documents.caps import Caps
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from io import BufferedRWPair

    from PIL import Image

    from fetchworker.documents.engine import Engine
    from fetchworker.documents.model import Document, Reading

_PR_SET_PDEATHSIG = 1
#: below the crawl, whose loop must not wait for a processor
_NICENESS = 5
#: https://docs.python.org/3/library/audit_events.html; a bind sends nothing
_NETWORK = frozenset({
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname",
    "socket.getnameinfo", "socket.sendmsg", "socket.sendto",
})  # fmt: skip


class NoNetwork:
    """Refuses this process the network, for good; ``refused`` counts what was tried."""

    def __init__(self) -> None:
        self.refused = 0
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _arguments: tuple[Any, ...]) -> None:
        if event in _NETWORK:
            self.refused += 1
            raise PermissionError(f"no network here: {event}")


def _end_with_parent(parent: int) -> None:
    """See to it that no worker outlives its reader, however that ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    def wait() -> None:
        os.read(0, 1)  # the reader holds the other end, and writes nothing
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


class _Worker:
    def __init__(self, stream: BinaryIO | BufferedRWPair, state_dir: Path) -> None:
        self._stream = stream
        self._state_dir = state_dir
        self._network = NoNetwork()

    @cache  # noqa: B019  # as long as the process
    def _engine(self) -> Engine:
        from fetchworker.documents.engine import Engine  # noqa: PLC0415  # pages of text need none

        return Engine(self._state_dir)

    def serve(self) -> None:
        """Read files until the reader hangs up."""
        self._say({"event": "ready"})
        while (received := wire.receive(self._stream)) is not None:
            order, content = received
            try:
                answer = self._read(order, content)
                _trim()
                self._say(*answer)
            except DocumentError as exc:
                self._failed(exc)
            except MemoryError:
                self._failed(DocumentError("engine", "there is not enough memory for this document"))
            except Exception as exc:  # whatever a library raises, the next document is read
                logging.getLogger(__name__).debug("", exc_info=True)
                self._failed(DocumentError("engine", f"it cannot be read ({type(exc).__name__}: {str(exc)[:200]})"))

    def _say(self, message: wire.Message, body: bytes = b"") -> None:
        self._stream.write(wire.packed({**message, "rss": _rss(), "refused": self._network.refused}, body))
        self._stream.flush()

    def _failed(self, error: DocumentError) -> None:
        _trim()
        context = {name: value for name, value in error.context.items() if name != "reason"}
        self._say({"event": "error", "reason": error.reason, "message": error.message, "context": context})

    def _read(self, order: wire.Message, content: bytes) -> tuple[wire.Message, bytes]:
        from fetchworker.documents.pages import Opener  # noqa: PLC0415  # a worker that says ready is quick to start

        pictures: dict[int, Image.Image] = {}
        opener = Opener(
            Caps(**order["caps"]),
            self._engine,
            lambda done, total: self._say({"event": "progress", "done": done, "total": total}),
            pictures.__setitem__ if order["overlay"] else None,
        )
        documents = opener.open(content)
        results, drawn, rows = [], [], opener.caps.rows
        for document in documents:
            reading = _understood(document, order["kind"]).shortened(rows)
            rows -= len(reading.line_items)
            overlay = _overlay(document, reading, pictures)
            drawn.append(overlay)
            results.append({
                "reading": reading.to_json(),
                "document": _told(document, order),
                "pages": [document.pages_read, document.pages_total],
                "overlay": len(overlay),
            })  # fmt: skip
        pages = sum(len(document.pages) for document in documents)
        return {"event": "done", "results": results, "pages": pages}, b"".join(drawn)


def _told(document: Document, order: wire.Message) -> dict[str, Any] | None:
    """A document's pages and lines, as far as they are wanted."""
    if order["lines"]:
        return asdict(replace(document, xml=None))
    if not order["plain_pages"]:
        return None
    pages = [
        replace(page, lines=tuple(replace(line, words=()) for line in page.lines), rulings=())
        for page in document.pages[: order["plain_pages"]]
    ]
    return asdict(replace(document, xml=None, pages=tuple(pages)))


def _understood(document: Document, kind: Any) -> Reading:
    from fetchworker.documents.einvoice import read_xml  # noqa: PLC0415  # only what a document needs
    from fetchworker.documents.rules import read  # noqa: PLC0415  # as above

    return read_xml(document.xml) if document.xml is not None else read(document, kind)


def _overlay(document: Document, reading: Reading, pictures: dict[int, Image.Image]) -> bytes:
    if not pictures or not document.pages:
        return b""
    from fetchworker.documents.overlay import drawn  # noqa: PLC0415  # only for people who look

    return drawn(document, reading, pictures)


def _trim() -> None:
    """Give the system back what a document's pictures took: some 60 MB that the heap would keep (glibc)."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def _rss() -> int:
    """Megabytes of memory that this process holds."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        import resource  # noqa: PLC0415  # not on every system

        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) >> 10
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def main() -> None:
    """Serve one reader."""
    descriptor, state_dir, parent = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    _end_with_parent(parent)
    os.nice(_NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells the reader, which tells us
    with socket.socket(fileno=descriptor) as line, line.makefile("rwb") as stream:
        _Worker(stream, state_dir).serve()


if __name__ == "__main__":
    main()
