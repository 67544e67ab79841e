"""Repeated warnings folded into a count, so that a flood does not hide the one line that matters."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

#: seconds of a window, after which a summary is due
WINDOW = 60.0
#: identical records that pass in a window
KEEP_SAME = 5
#: records of one place in the code that pass in a window, whatever their text
KEEP_PLACE = 100
#: kinds of record that are kept in mind
CAPACITY = 1000
_LONG = 400  # characters of the text that a summary repeats


@dataclass(slots=True)
class _Kind:
    since: float
    passed: int = 0
    folded: int = 0
    last: Line | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """What is kept of a record: nothing that keeps a request or a traceback alive."""

    logger: str
    level: int
    text: str
    place: str

    @classmethod
    def of(cls, record: logging.LogRecord) -> Line:
        # the place of a structlog record is structlog's own, so its event tells in its stead
        event = record.msg.get("event") if isinstance(record.msg, dict) else None
        try:
            text = str(record.msg) if event is not None else record.getMessage()
        except Exception:  # noqa: BLE001  # arguments that do not fit the message: the formatter will say so
            text = str(record.msg)
        return cls(record.name, record.levelno, text, str(event or record.lineno))

    def kinds(self) -> dict[Hashable, int]:
        """What the record counts as, each with how many may pass in a window."""
        head = (self.logger, self.level)
        return {(*head, "same", hash(self.text)): KEEP_SAME, (*head, "place", self.place): KEEP_PLACE}


@dataclass(frozen=True, slots=True)
class Summary:
    """So many lines like ``last`` were folded in so many seconds."""

    last: Line
    folded: int
    seconds: float

    def record(self) -> logging.LogRecord:
        """The summary as a record that belongs to no request."""
        text = self.last.text if len(self.last.text) <= _LONG else f"{self.last.text[:_LONG]}..."
        message = f"{text} (and {self.folded} more like it in {self.seconds:.0f} s)"
        made = logging.LogRecord(self.last.logger, self.last.level, "", 0, message, (), None)
        made.folded = self.folded
        made.fw_attribution = {}
        return made


class Folder:
    """Decides which lines pass. Of a kind some pass in a window; the others are counted.

    A kind that was folded goes on as summaries alone, one a window, until a window brings none.
    """

    def __init__(self, *, window: float = WINDOW, capacity: int = CAPACITY) -> None:
        self._window = window
        self._capacity = capacity
        self._kinds: dict[Hashable, _Kind] = {}
        self._pushed_out: list[Summary] = []
        self._next_due = math.inf

    def admit(self, line: Line, now: float) -> bool:
        """Whether the line passes."""
        kinds = line.kinds()
        states = {key: self._state(key, now) for key in kinds}
        full = next((state for key, state in states.items() if state.passed >= kinds[key]), None)
        if full:
            full.folded += 1
            full.last = line
            return False
        for state in states.values():
            state.passed += 1
        return True

    def due(self, now: float, *, everything: bool = False) -> list[Summary]:
        """The summaries whose windows are over (or of all the windows)."""
        if now < self._next_due and not everything and not self._pushed_out:
            return []
        found, self._pushed_out = self._pushed_out, []
        over = [key for key, kind in self._kinds.items() if everything or now - kind.since >= self._window]
        for key in over:
            kind = self._kinds.pop(key)
            if kind.last:
                found.append(Summary(kind.last, kind.folded, now - kind.since))
                self._kinds[key] = _Kind(since=now, passed=kind.passed)
        self._next_due = min((kind.since for kind in self._kinds.values()), default=math.inf) + self._window
        return found

    def _state(self, key: Hashable, now: float) -> _Kind:
        kind = self._kinds.get(key)
        if kind is None:
            if len(self._kinds) >= self._capacity:
                self._make_room(now)
            kind = self._kinds[key] = _Kind(since=now)
            self._next_due = min(self._next_due, now + self._window)
        return kind

    def _make_room(self, now: float) -> None:
        kind = self._kinds.pop(next(iter(self._kinds)))  # the oldest window
        if kind.last:
            self._pushed_out.append(Summary(kind.last, kind.folded, now - kind.since))


class FoldingHandler(logging.Handler):
    """Hands records on to ``inner``, with repeated warnings and errors folded."""

    def __init__(
        self,
        inner: logging.Handler,
        level: int = logging.NOTSET,
        *,
        folder: Folder | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(level)
        self.inner = inner
        self._folder = folder or Folder()
        self._clock = clock

    def emit(self, record: logging.LogRecord) -> None:
        now = self._clock()
        self._tell(self._folder.due(now))
        foldable = logging.WARNING <= record.levelno < logging.CRITICAL
        if not foldable or self._folder.admit(Line.of(record), now):
            self.inner.handle(record)

    def flush(self) -> None:
        self.inner.flush()

    def close(self) -> None:
        self._tell(self._folder.due(self._clock(), everything=True))
        self.inner.close()
        super().close()

    def _tell(self, summaries: list[Summary]) -> None:
        for summary in summaries:
            self.inner.handle(summary.record())
