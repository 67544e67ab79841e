"""Where the bytes are: a folder, or any place that fsspec can write. All methods block."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fetchworker.errors import ArtifactError, StorageError
from fetchworker.exports.private import PRIVATE_FILE, private_folder
from fetchworker.media.stores import FolderStore, FsspecStore

if TYPE_CHECKING:
    from collections.abc import Iterator

_VARIABLE = "FETCHWORKER_ARTIFACTS_STORE"
_EXTRA = "artifacts"
_FILES = ("file://", "local://")
_PART = ".part-"
#: bytes that are read at a time
CHUNK = 256 * 1024
#: seconds after which a file that is not whole is nobody's any more
_ABANDONED = 3600.0


class Files(Protocol):
    """Files by their path (``a/b/c``); one is there as a whole or not at all."""

    #: what a log may show
    label: str

    def put(self, path: str, content: bytes) -> bool:
        """Keep the content; False when it is there already.

        Raises:
            StorageError: it cannot be kept, and no part of it is.
        """
        ...

    def renew(self, path: str, content: bytes) -> None:
        """Make a file young again: :meth:`modified` is now."""
        ...

    def modified(self, path: str) -> float | None:
        """When a file came, POSIX seconds; None: there is none."""
        ...

    def read(self, path: str) -> Iterator[bytes]:
        """The content, part by part.

        Raises:
            ArtifactError: there is none, or it cannot be read.
        """
        ...

    def delete(self, path: str) -> bool:
        """Remove a file; whether there was one."""
        ...

    def names(self, folder: str) -> list[str]:
        """Names of what is in a folder, in no order; none when there is no such folder."""
        ...


def open_files(place: str) -> Files:
    """The files at a folder or a URL.

    Raises:
        ConfigError: it cannot be written, or what it needs is not installed.
    """
    scheme = next((scheme for scheme in _FILES if place.startswith(scheme)), "")
    if scheme or "://" not in place:
        return FolderFiles(Path(place.removeprefix(scheme)))
    return FsspecFiles(place)


class FolderFiles(FolderStore):
    """A folder of this machine that nobody else may read: pages are of all kinds."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, _VARIABLE)
        self.mode = PRIVATE_FILE

    def put(self, path: str, content: bytes) -> bool:
        """Write aside, then give it its name."""
        try:
            private_folder(self._folder)
        except OSError as exc:
            raise self._error(exc) from exc
        return super().put(path, content)

    def renew(self, path: str, content: bytes) -> None:
        """Set its time."""
        try:
            os.utime(self._folder / path)
        except FileNotFoundError:
            self.put(path, content)
        except OSError as exc:
            raise self._error(exc) from exc

    def modified(self, path: str) -> float | None:
        """When it came."""
        try:
            return (self._folder / path).stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as exc:
            raise self._error(exc) from exc

    def read(self, path: str) -> Iterator[bytes]:
        """The content."""
        try:
            with (self._folder / path).open("rb") as file:
                while part := file.read(CHUNK):
                    yield part
        except OSError as exc:
            raise self._error(exc) from exc

    def delete(self, path: str) -> bool:
        """Remove it, and its folder when that is empty then."""
        target = self._folder / path
        try:
            target.unlink()
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise self._error(exc) from exc
        with suppress(OSError):  # others are in it
            target.parent.rmdir()
        return True

    def names(self, folder: str) -> list[str]:
        """What is there; what a killed process left unfinished goes."""
        try:
            with os.scandir(self._folder / folder) as found:
                entries = list(found)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as exc:
            raise self._error(exc) from exc
        for entry in entries:
            if entry.name.startswith(_PART):
                with suppress(OSError):
                    if time.time() - entry.stat().st_mtime > _ABANDONED:
                        Path(entry.path).unlink()
        return [entry.name for entry in entries if not entry.name.startswith(_PART)]

    def _error(self, exc: OSError) -> ArtifactError:
        return ArtifactError(f"{self.label}: {exc.strerror or exc}")


class FsspecFiles(FsspecStore):
    """Any place that fsspec knows; each system has errors of its own."""

    def __init__(self, url: str) -> None:
        super().__init__(url, _VARIABLE, _EXTRA)

    def renew(self, path: str, content: bytes) -> None:
        """Write it once more: there is no other way that all systems know."""
        target = self._at(path)
        try:
            self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._write(target, content)
        except Exception as exc:
            raise self._error(exc) from exc

    def modified(self, path: str) -> float | None:
        """When it came; where the system does not tell, long ago."""
        try:
            moment: Any = self._system.modified(self._at(path))
        except FileNotFoundError:
            return None
        except NotImplementedError:
            return 0.0 if self._system.exists(self._at(path)) else None
        except Exception as exc:
            raise self._error(exc) from exc
        return float(moment.timestamp())

    def read(self, path: str) -> Iterator[bytes]:
        """The content."""
        try:
            with self._system.open(self._at(path), "rb") as file:
                while part := file.read(CHUNK):
                    yield part
        except Exception as exc:
            raise self._error(exc) from exc

    def delete(self, path: str) -> bool:
        """Remove it."""
        try:
            self._system.rm_file(self._at(path))
        except FileNotFoundError:
            return False
        except Exception as exc:
            raise self._error(exc) from exc
        return True

    def names(self, folder: str) -> list[str]:
        """What is there now: the system may remember what was."""
        try:
            self._system.invalidate_cache()
            found = self._system.ls(self._at(folder), detail=False)
        except FileNotFoundError:
            return []
        except Exception as exc:
            raise self._error(exc) from exc
        return [name for path in found if (name := str(path).rstrip("/").rpartition("/")[2])]

    def _at(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}"

    def _error(self, exc: Exception) -> StorageError:
        return exc if isinstance(exc, StorageError) else ArtifactError(f"{self.label}: {type(exc).__name__}")
