"""The worker processes of a reader: started when needed, replaced when they are old, large, late or dead."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from fetchworker.documents import wire
from fetchworker.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fetchworker.documents.caps import Caps
    from fetchworker.documents.settings import Recycling

#: what a worker gets of our environment: it reads strangers' files and needs no secret
_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH", "SYSTEMROOT")
#: seconds that a worker may take to start on a busy machine, and to end by itself
_START, _END = 120, 2


@dataclass(frozen=True, slots=True)
class Order:
    """One file to be read, and what is wanted of it: overlays, lines with their words, or plain ones of some pages."""

    content: bytes
    kind: str
    caps: Caps
    overlay: bool
    lines: bool
    progress: Callable[[int, int], None] = field(default=lambda _done, _total: None)
    plain_pages: int = 0

    def packed(self) -> tuple[bytes, bytes]:
        """The order for a worker, in two parts: the file is not copied."""
        told = {"kind": self.kind, "caps": asdict(self.caps), "overlay": self.overlay, "lines": self.lines}
        return wire.head({**told, "plain_pages": self.plain_pages}, len(self.content)), self.content


class Worker:
    """A place for one worker process."""

    def __init__(self, state_dir: Path, recycling: Recycling) -> None:
        self._state_dir = state_dir
        self._recycling = recycling
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter
        self._pages = 0
        #: of the last message: megabytes that it holds, and connections that it was refused
        self.rss = self.refused = 0

    @property
    def pid(self) -> int | None:
        """The process, if there is one now."""
        return self._process.pid if self._process else None

    async def read(self, order: Order) -> tuple[wire.Message, bytes]:
        """What a file says; the process is another one after a failure of its own, or when its time is over.

        Raises:
            DocumentError: this file cannot be read.
        """
        try:
            if self._process is None:
                await self._start()
            async with asyncio.timeout(order.caps.seconds):
                message, body = await self._answer(order)
        except TimeoutError:
            await self.stop(at_once=True)
            told = f"it was not read within {order.caps.seconds:g} seconds (FETCHWORKER_DOCUMENTS_SECONDS)"
            raise DocumentError("timeout", told, cap="seconds") from None
        except (EOFError, OSError) as exc:
            raise await self._died() from exc
        except BaseException:  # cancelled: the work cannot be stopped but with its process
            await self.stop(at_once=True)
            raise
        await self._recycle(message)
        if message["event"] == "error":
            raise DocumentError(message["reason"], message["message"], **message["context"])
        return message, body

    async def _answer(self, order: Order) -> tuple[wire.Message, bytes]:
        for part in order.packed():
            self._writer.write(part)
        await self._writer.drain()
        while True:
            message, body = await wire.receive_async(self._reader)
            self.rss, self.refused = message["rss"], message["refused"]
            if message["event"] != "progress":
                return message, body
            order.progress(message["done"], message["total"])

    async def _start(self) -> None:
        ours, theirs = socket.socketpair()
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        try:
            # here and not in a thread: the worker would end with that thread
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603
                [
                    sys.executable, "-m", "fetchworker.documents.worker",
                    str(theirs.fileno()), str(self._state_dir), str(os.getpid()),
                ],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**environment, "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"},
            )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._reader, self._writer = await asyncio.open_connection(sock=ours)
        self._pages = 0
        try:
            async with asyncio.timeout(_START):
                await wire.receive_async(self._reader)
        except TimeoutError:
            raise EOFError("it did not start") from None

    async def _died(self) -> DocumentError:
        code = await self.stop(at_once=True)
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return DocumentError("engine", f"the process that read it died ({how})")

    async def _recycle(self, message: wire.Message) -> None:
        self._pages += message.get("pages", 1)
        if self._pages >= self._recycling.pages or self.rss >= self._recycling.megabytes:
            await self.stop()

    async def stop(self, *, at_once: bool = False) -> int | None:
        """End the process, if there is one; its exit code."""
        process, self._process = self._process, None
        if process is None:
            return None
        self.rss = 0
        code = process.poll()
        if at_once:
            process.kill()
        if hasattr(self, "_writer"):
            self._writer.close()
        with contextlib.suppress(OSError):
            process.stdin.close()  # type: ignore[union-attr]  # it was asked for
        # shielded: who is cancelled here must not leave a process behind
        ended = await asyncio.shield(asyncio.to_thread(_reap, process))
        return ended if code is None else code


def _reap(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(_END)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()
