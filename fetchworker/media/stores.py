"""Where media are kept: a folder, or any place that fsspec can write. A file is there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fetchworker.errors import ConfigError, StorageError, how_to_install

if TYPE_CHECKING:
    from collections.abc import Iterator

#: fsspec would write these aside on another disk, and a move between disks can end halfway
_FILES = ("file://", "local://")
_MODE = 0o644


class Store(Protocol):
    """Keeps files by their path; both methods block."""

    #: what a log may show
    label: str

    def put(self, path: str, content: bytes) -> bool:
        """Keep the content; False when it is there already.

        Raises:
            StorageError: it cannot be kept, and no part of it is.
        """
        ...


def open_store(place: str) -> Store:
    """The store of media at a folder or a URL.

    Raises:
        ConfigError: it cannot be written, or what it needs is not installed.
    """
    scheme = next((scheme for scheme in _FILES if place.startswith(scheme)), "")
    if scheme or "://" not in place:
        return FolderStore(Path(place.removeprefix(scheme)))
    return FsspecStore(place)


class FolderStore:
    """A folder of this machine.

    Args:
        folder: it; made with the first file.
        variable: what names it, for errors.
    """

    def __init__(self, folder: Path, variable: str = "FETCHWORKER_MEDIA_STORE") -> None:
        self._folder = folder.absolute()
        self.mode = _MODE
        self.label = str(folder)
        there = next(place for place in (self._folder, *self._folder.parents) if place.exists())
        if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
            raise ConfigError(f"{variable}: {folder} cannot be written; make it writable, or name another folder")

    def put(self, path: str, content: bytes) -> bool:
        """Write aside, then give it its name."""
        target = self._folder / path
        try:
            if target.exists() and target.stat().st_size == len(content):
                return False
            target.parent.mkdir(parents=True, exist_ok=True)
            self._write(target, content)
        except OSError as exc:
            raise StorageError(f"{self.label}: {exc.strerror or exc}") from exc
        return True

    def _write(self, target: Path, content: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix=".part-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(self.mode)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


class FsspecStore:
    """Any place that fsspec knows (``s3://bucket/folder``, ``memory://``); its errors are of many kinds.

    Args:
        url: it.
        variable: what names it, for errors.
        extra: what brings fsspec.
    """

    def __init__(self, url: str, variable: str = "FETCHWORKER_MEDIA_STORE", extra: str = "media") -> None:
        scheme = url.partition("://")[0]
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  # optional
        except ImportError:
            raise ConfigError(
                f"{variable}: {scheme}:// needs fsspec: {how_to_install(extra)}, or name a folder"
            ) from None
        try:
            self._system, self._root = url_to_fs(url)
        except (ImportError, ValueError) as exc:
            raise ConfigError(f"{variable}: {scheme}:// cannot be used: {_line(exc)}") from None
        self.label = f"{scheme}://"

    def put(self, path: str, content: bytes) -> bool:
        """Write in a transaction of one file."""
        target = f"{self._root.rstrip('/')}/{path}"
        try:
            if self._system.exists(target) and self._system.size(target) == len(content):
                return False
            self._system.makedirs(target.rpartition("/")[0], exist_ok=True)
            self._write(target, content)
        except Exception as exc:  # each system has its own errors
            raise StorageError(f"{self.label}: {type(exc).__name__}") from exc
        return True

    def _write(self, target: str, content: bytes) -> None:
        file: Any = self._system.open(target, "wb", autocommit=False)
        try:
            with file:
                file.write(content)
        except BaseException:
            file.discard()
            raise
        file.commit()


def _line(exc: BaseException) -> str:
    lines: Iterator[str] = iter(str(exc).splitlines())
    return next(lines, type(exc).__name__)
