"""The live view of a run: a table that changes on a terminal, lines elsewhere."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from fetchworker.errors import StorageAwayError
from fetchworker.runs.saying import complain, say
from fetchworker.runs.texts import event_line, job_lines, run_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.runs.models import EventView, RunView
    from fetchworker.runs.service import Runs

#: seconds between two looks
_LOOK = 0.5
_PAGE = 500
#: jobs that the table has
_JOBS = 30


async def watched(runs: Runs, run_id: str, *, as_json: bool = False) -> str:
    """Show a run until it has ended; the state that it has then. A database that is away is waited for."""
    view: Any = _Table() if sys.stdout.isatty() and not as_json and find_spec("rich") else _Lines(as_json=as_json)
    after = 0
    with view:
        while True:
            try:
                run = await runs.get(run_id)
                page = await runs.events(run_id, after=after, limit=_PAGE)
            except StorageAwayError as exc:
                complain(f"{exc.message}; waiting")
                await asyncio.sleep(_LOOK)
                continue
            after = page.next or after
            view.show(run, page.events)
            if run.ended and len(page.events) < _PAGE:
                view.end(run)
                return run.state
            await asyncio.sleep(0 if len(page.events) == _PAGE else _LOOK)


class _Lines:
    """A line for each event."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, _: RunView, events: Sequence[EventView]) -> None:
        if not self._as_json:
            say(*map(event_line, events))

    def end(self, run: RunView) -> None:
        say(*([run.model_dump_json(by_alias=True)] if self._as_json else [run_line(run), *run.reasons]))


class _Table:
    """The run and its jobs, again and again in the same place."""

    def __init__(self) -> None:
        from rich.live import Live  # noqa: PLC0415  # for terminals

        self._live = Live(auto_refresh=False, redirect_stderr=False)

    def __enter__(self) -> None:
        self._live.start()

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, run: RunView, _: Sequence[EventView]) -> None:
        from rich.text import Text  # noqa: PLC0415  # as above

        lines = [run_line(run), *job_lines(run)]
        more = [f"  … {run.jobs - _JOBS} more"] if run.jobs > _JOBS else []
        self._live.update(Text("\n".join([*lines[: _JOBS + 1], *more])), refresh=True)

    def end(self, run: RunView) -> None:
        self._live.console.print("\n".join(run.reasons), markup=False, highlight=False)
