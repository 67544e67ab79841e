"""Reads documents in worker processes, for callers on an event loop."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from fetchworker.documents.engine import reader_name
from fetchworker.documents.model import Document, Reading, Wanted
from fetchworker.documents.pool import Order, Worker
from fetchworker.documents.settings import ReaderSettings, check_installed
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pydantic import TypeAdapter

    from fetchworker.documents.second import SecondEngine

#: files whose readings are remembered
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Examined:
    """One document of a file: its reading, the pages read and in the file, and what else was asked for."""

    reading: Reading
    pages_read: int
    pages_total: int
    document: Document | None = None
    overlay: bytes | None = None
    """A PNG."""
    again: bool = False
    """Whether another try may tell more: a language model was to be asked, and was of no use."""

    def to_json(self, file: str | None = None) -> dict[str, Any]:
        """The object that the command and the service give for one document of a file."""
        return self.reading.to_json(file) | {"pages_read": self.pages_read, "pages_total": self.pages_total}


class DocumentReader:
    """Reads invoices and receipts; an asynchronous context manager, to be used on one loop.

    The same bytes are read once while they are remembered, also when they are asked for by several at a time; not so a
    reading that a language model should have had a part in, and had not.

    Args:
        settings: how it works.
        second: asks a language model beside the rules; None: rules alone.

    Raises:
        ConfigError: on entering: what it takes is not installed.
    """

    def __init__(self, settings: ReaderSettings | None = None, second: SecondEngine | None = None) -> None:
        self.settings = settings or ReaderSettings()
        self._second = second
        self.workers = [Worker(self.settings.state_dir, self.settings.recycling) for _ in range(self.settings.workers)]
        self._idle: asyncio.LifoQueue[Worker] = asyncio.LifoQueue()
        #: files that wait for a worker
        self.waiting = 0
        self._known: OrderedDict[tuple[str, str], _Shared] = OrderedDict()

    @property
    def name(self) -> str:
        """All that decides what a document is read as, with versions."""
        return reader_name() + (f"+{self._second.name}" if self._second else "")

    async def __aenter__(self) -> Self:
        check_installed()
        for worker in reversed(self.workers):
            self._idle.put_nowait(worker)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End what is under way, and the workers."""
        tasks = [shared.task for shared in self._known.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(worker.stop(at_once=True) for worker in self.workers))

    async def read(
        self,
        content: bytes,
        *,
        kind: Wanted = "auto",
        progress: Callable[[int, int], None] | None = None,
        patient: bool = False,
    ) -> list[Reading]:
        """The readings of the documents in a file.

        Args:
            content: the file.
            kind: what it is; ``auto`` to find out.
            progress: told on the loop the number of pages read and to read.
            patient: wait in any queue, however long.

        Raises:
            DocumentError: it cannot be read; ``reason`` says why.
        """
        examined = await self.examine(content, kind=kind, progress=progress, patient=patient)
        return [found.reading for found in examined]

    async def examine(
        self,
        content: bytes,
        *,
        kind: Wanted = "auto",
        progress: Callable[[int, int], None] | None = None,
        patient: bool = False,
        overlay: bool = False,
        lines: bool = False,
    ) -> list[Examined]:
        """As :meth:`read`, with an overlay of each document's pages and its lines when asked for."""
        self.settings.caps.check_bytes(len(content))
        plain = self._second.pages if self._second is not None else 0
        told = progress or (lambda _done, _total: None)
        order = Order(content, kind, self.settings.caps, overlay, lines, told, plain)
        if overlay or lines:
            return await self._understood(order, patient=patient, lines=lines)
        digest = await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest())
        return await self._once((digest, kind), order, patient=patient)

    async def _once(self, key: tuple[str, str], order: Order, *, patient: bool) -> list[Examined]:
        shared = self._known.get(key)
        if shared is None or shared.failed:
            task = asyncio.ensure_future(self._understood(order, patient=patient))
            shared = self._known[key] = _Shared(task)
        self._known.move_to_end(key)
        self._forget()
        return await shared.result()

    def _forget(self) -> None:
        for key in list(self._known)[: max(0, len(self._known) - _REMEMBERED)]:
            if self._known[key].task.done():
                del self._known[key]

    async def _understood(self, order: Order, *, patient: bool, lines: bool = False) -> list[Examined]:
        found = await self._served(order, patient=patient)
        if self._second is None:
            return found
        asked = [(one.document, one.reading) for one in found if one.document is not None]
        opinions = await self._second.opinions(asked)
        return [
            replace(
                one,
                reading=opinion.reading,
                document=one.document if lines else None,
                again=opinion.failed is not None,
            )
            for one, opinion in zip(found, opinions, strict=True)
        ]

    async def _served(self, order: Order, *, patient: bool) -> list[Examined]:
        if self._idle.empty() and self.waiting >= self.settings.waiting and not patient:
            raise DocumentError("busy", f"{self.waiting} documents wait already; try again later")
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        try:
            message, overlays = await worker.read(order)
        finally:
            self._idle.put_nowait(worker)
        return _examined(message["results"], overlays)


class _Shared:
    """A reading that several may wait for; it is given up when the last of them goes."""

    def __init__(self, task: asyncio.Task[list[Examined]]) -> None:
        self.task = task
        self._waiting = 0
        self._given_up = False
        # nobody may be left to hear of its error
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    @property
    def failed(self) -> bool:
        """Whether another try may do better."""
        return self._given_up or (self.task.done() and (self.task.cancelled() or self._may_be_better()))

    def _may_be_better(self) -> bool:
        return self.task.exception() is not None or any(one.again for one in self.task.result())

    async def result(self) -> list[Examined]:
        """Wait for it."""
        self._waiting += 1
        try:
            return await asyncio.shield(self.task)
        finally:
            self._waiting -= 1
            if not self._waiting and not self.task.done():
                self._given_up = True
                self.task.cancel()


def _examined(results: list[dict[str, Any]], overlays: bytes) -> list[Examined]:
    found, start = [], 0
    for result in results:
        overlay = overlays[start : start + result["overlay"]]
        start += result["overlay"]
        document = _document(result["document"]) if result["document"] else None
        reading, (read, total) = Reading.from_json(result["reading"]), result["pages"]
        found.append(Examined(reading, read, total, document, overlay or None))
    return found


def _document(told: dict[str, Any]) -> Document:
    return _adapter().validate_python(told)


@cache
def _adapter() -> TypeAdapter[Document]:
    from pydantic import TypeAdapter  # noqa: PLC0415  # only who asks for lines

    return TypeAdapter(Document)
