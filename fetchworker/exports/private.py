"""Files and folders that only their owner may read: they hold what callers sent, credentials included."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
_OTHERS = 0o077


def private_folder(folder: Path) -> None:
    """Make a folder for its owner alone; one of ours that is there already is closed to others."""
    folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_mode & _OTHERS and status.st_uid == os.geteuid():
        folder.chmod(_PRIVATE_FOLDER)


def private_opener(path: str, flags: int) -> int:
    """For ``open(…, opener=…)``: a new file is its owner's alone."""
    return os.open(path, flags, PRIVATE_FILE)
