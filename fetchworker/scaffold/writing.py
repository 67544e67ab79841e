"""Writes a plan as a whole or not at all: everything is written aside first, then moved to its place.

What fails on the way is taken back. Signals wait until it is over; it takes some milliseconds.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fetchworker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.scaffold.plan import Plan

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: how the names of what is written aside begin
ASIDE = ".newsite-"


def write(plan: Plan) -> None:
    """Write the files of a plan.

    Raises:
        ConfigError: one of them cannot be written; all is as it was before.
    """
    try:
        with _undisturbed(), ExitStack() as aside:
            _write(plan, aside)
    except OSError as exc:
        place = f"{exc.filename}: " if exc.filename else ""
        raise ConfigError(f"{place}{exc.strerror or exc}; nothing was written") from exc


def _write(plan: Plan, aside: ExitStack) -> None:
    folder = Path(tempfile.mkdtemp(prefix=ASIDE, dir=plan.root))
    aside.callback(shutil.rmtree, folder, ignore_errors=True)
    for name, text in plan.new.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    replaced = [(_aside(path, text.encode(), aside), _aside(path, path.read_bytes(), aside), path.resolve())
                for path, text in plan.changed.items()]  # fmt: skip
    with ExitStack() as undo:
        for top in plan.tops:
            _move(folder / top, plan.root / top, undo)
        for changed, before, path in replaced:
            changed.replace(path)
            undo.callback(before.replace, path)
        undo.pop_all()


def _aside(path: Path, content: bytes, aside: ExitStack) -> Path:
    """A file beside ``path`` with that content and the same mode, gone at the end if it has not been moved."""
    path = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f"{ASIDE}{path.name}-", dir=path.parent)
    made = Path(name)
    aside.callback(made.unlink, missing_ok=True)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    shutil.copymode(path, made)
    return made


def _move(made: Path, target: Path, undo: ExitStack) -> None:
    for folder in reversed([parent for parent in target.parents if not parent.exists()]):
        folder.mkdir()
        undo.callback(_without_folder, folder)
    made.rename(target)
    undo.callback(_without, target)


def _without(target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    else:
        target.unlink()


def _without_folder(folder: Path) -> None:
    with suppress(OSError):  # somebody else uses it by now
        folder.rmdir()


@contextmanager
def _undisturbed() -> Iterator[None]:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
