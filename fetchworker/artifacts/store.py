"""Keeps artifacts, gives them back, and lets them go.

The order of writing is the guard against halves: first the object, then what is known of it. An object that nobody
knows of is swept away later; what is known of always has its object. Two processes may keep and drop the same bytes at
the same moment: an object that is younger than :data:`YOUNG` seconds is never deleted, and who finds one that is older
than half of that makes it young again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Self

from fetchworker.artifacts.files import open_files
from fetchworker.artifacts.index import FileIndex, TableIndex
from fetchworker.artifacts.model import Artifact, ArtifactContext, Filters, instant_of, is_id, new_id
from fetchworker.artifacts.redact import redacted
from fetchworker.config.sizes import show_size
from fetchworker.db import default_url, place_of
from fetchworker.errors import ArtifactError, ConfigError, StorageError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Iterator
    from pathlib import Path

    from fetchworker.artifacts.files import Files
    from fetchworker.artifacts.index import Index
    from fetchworker.artifacts.model import Entry, Kind
    from fetchworker.config import Environment

logger = logging.getLogger(__name__)

#: seconds for which an object is safe, whoever knows of it
YOUNG = 120.0
#: seconds after which an object that nobody knows of is nobody's
_ORPHAN = 3600.0
_OBJECTS = "objects"
#: the longest life: a calendar ends in the year 9999
_FOREVER = timedelta(days=365 * 1000)


class Expired(NamedTuple):
    """What :meth:`ArtifactStore.expire` let go of."""

    artifacts: int
    bytes: int


class ArtifactStore:
    """The artifacts of a project. Made with :meth:`of`; opens nothing before it is needed.

    Args:
        files: where the bytes are.
        index: what is known of them.
        max_bytes: of an artifact at most.
        total_bytes: of all, above which the oldest go with :meth:`expire`; 0: no bound.
        ttl: seconds that an artifact is kept.
    """

    def __init__(self, files: Files, index: Index, *, max_bytes: int, total_bytes: int, ttl: float) -> None:
        self._files = files
        self._index = index
        self.max_bytes = max_bytes
        self._total_bytes = total_bytes
        self._life = min(timedelta(seconds=ttl), _FOREVER)

    @classmethod
    def of(cls, environment: Environment) -> Self:
        """The store that is configured.

        Raises:
            ConfigError: its place cannot be written, or what it needs is not installed.
        """
        named = environment.artifacts_store
        files = open_files(named.get_secret_value() if named else str(environment.state_dir / "artifacts"))
        index: Index = FileIndex(files)
        if environment.stores:
            database = place_of(environment.database_url or default_url(environment.state_dir))
            index = TableIndex(database, patience=environment.store_patience)
        return cls(
            files, index, max_bytes=environment.artifacts_max_bytes, total_bytes=environment.artifacts_total_bytes,
            ttl=environment.artifacts_ttl,
        )  # fmt: skip

    @property
    def label(self) -> str:
        """The place, as a log may show it."""
        return self._files.label

    def check(self) -> None:
        """See that something can be written there; blocks.

        Raises:
            ConfigError: it cannot.
        """
        trial = f"trial-{new_id(datetime.now(UTC))}"
        try:
            self._files.put(trial, b"")
            self._files.delete(trial)
        except StorageError as exc:
            raise ConfigError(
                f"FETCHWORKER_ARTIFACTS_STORE cannot be written: {exc.message}; make it writable, or name another place"
            ) from exc

    async def close(self) -> None:
        """Let go of connections; the store can still be used, and opens them again."""
        await self._index.close()

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def put(
        self,
        kind: Kind,
        content: bytes | Path,
        media_type: str,
        *,
        about: ArtifactContext | None = None,
        secrets: Iterable[str] = (),
    ) -> Artifact:
        """Keep an artifact, without what is secret in it.

        Args:
            kind: what it is. HARs, traces and pages are redacted here; those who make bundles and WARCs do it.
            content: its bytes, or the file that has them.
            media_type: of the bytes.
            about: where it comes from.
            secrets: values that are masked wherever they stand in text.

        Raises:
            ArtifactError: it is too big, or cannot be kept; nothing of it is.
        """
        try:
            data = await asyncio.to_thread(self._prepared, kind, content, frozenset(secrets))
            now = datetime.now(UTC)
            digest = hashlib.sha256(data).hexdigest()
            artifact = Artifact(
                id=new_id(now), kind=kind, sha256=digest, size=len(data), media_type=media_type,
                created_at=instant_of(now), expires_at=instant_of(now + self._life), place=_object(digest),
                **(about or ArtifactContext()).safe(),
            )  # fmt: skip
            await self._keep(artifact, data)
        except ArtifactError:
            raise
        except StorageError as exc:
            raise ArtifactError(exc.message) from exc
        return artifact

    def _prepared(self, kind: Kind, content: bytes | Path, secrets: frozenset[str]) -> bytes:
        size = len(content) if isinstance(content, bytes) else _size(content)
        self._check(kind, size)
        data = content if isinstance(content, bytes) else content.read_bytes()
        data = redacted(kind, data, secrets)
        self._check(kind, len(data))
        return data

    def _check(self, kind: Kind, size: int) -> None:
        if size > self.max_bytes:
            most = show_size(self.max_bytes)
            told = f"{kind}: {show_size(size)} is more than the {most} of FETCHWORKER_ARTIFACTS_MAX_BYTES"
            raise ArtifactError(told, reason="too_big", limit=self.max_bytes)

    async def _keep(self, artifact: Artifact, data: bytes) -> None:
        started = time.monotonic()
        new = await asyncio.to_thread(self._write, artifact.place, data)
        await self._index.add(artifact)
        if not new or time.monotonic() - started > YOUNG / 2:  # somebody may have dropped the same bytes meanwhile
            await asyncio.to_thread(self._write, artifact.place, data)

    def _write(self, place: str, data: bytes) -> bool:
        """Whether the object is new."""
        if self._files.put(place, data):
            return True
        came = self._files.modified(place)
        if came is None or time.time() - came > YOUNG / 2:
            self._files.renew(place, data)
        return False

    # ── giving back ──────────────────────────────────────────────────────────────────────────────────────────────

    async def get(self, id_: str) -> Artifact | None:
        """What is known of an artifact; None when there is none, or its time is over.

        Raises:
            StorageError: the place or the database does not answer.
        """
        artifact = await self._index.get(id_) if is_id(id_) else None
        return artifact if artifact is not None and not _over(artifact) else None

    async def list(
        self, filters: Filters | None = None, *, before: str | None = None, limit: int = 100
    ) -> list[Artifact]:
        """Artifacts, the latest first.

        Args:
            filters: which.
            before: the id of the last one of the page before.
            limit: how many at most.

        Raises:
            StorageError: as above.
        """
        found: list[Artifact] = []
        while len(found) < limit:
            page = await self._index.page(filters or Filters(), before=before, limit=limit)
            found += [artifact for artifact in page if not _over(artifact)]
            if len(page) < limit:
                break
            before = page[-1].id
        return found[:limit]

    async def open(self, artifact: Artifact) -> AsyncGenerator[bytes, None]:
        """The bytes, part by part.

        Raises:
            ArtifactError: they cannot be read.
        """
        parts = self._files.read(artifact.place)
        try:
            while (part := await asyncio.to_thread(next, parts, None)) is not None:
                yield part
        finally:
            _closed(parts)

    # ── letting go ───────────────────────────────────────────────────────────────────────────────────────────────

    async def drop(self, id_: str) -> bool:
        """Drop an artifact; whether there was one. Bytes that came in the last minutes go with the next sweep.

        Raises:
            StorageError: as above.
        """
        artifact = await self._index.get(id_) if is_id(id_) else None
        if artifact is None or not await self._index.remove(id_):
            return False
        if not await self._index.entries(artifact.sha256):
            await asyncio.to_thread(self._delete, artifact.place, YOUNG)
        return True

    async def expire(self, now: float | None = None) -> Expired:
        """Let go of what has had its time, of the oldest where all are too much, and of bytes that nobody knows of.

        Args:
            now: POSIX seconds.

        Raises:
            StorageError: as above.
        """
        entries = await self._index.entries()
        gone = overdue(entries, time.time() if now is None else now, self._total_bytes)
        for entry in gone:
            await self._index.remove(entry.id)
        if gone:
            logger.info("%d artifacts have had their time", len(gone))
        kept = {entry.sha256 for entry in await self._index.entries()}
        await asyncio.to_thread(self._sweep, kept, {entry.sha256 for entry in gone} - kept)
        return Expired(len(gone), sum(entry.size for entry in gone))

    def _sweep(self, kept: set[str], gone: set[str]) -> None:
        for digest in gone:
            self._delete(_object(digest), YOUNG)
        for folder in self._files.names(_OBJECTS):
            for digest in self._files.names(f"{_OBJECTS}/{folder}"):
                if digest not in kept:
                    self._delete(f"{_OBJECTS}/{folder}/{digest}", _ORPHAN)

    def _delete(self, place: str, age: float) -> None:
        came = self._files.modified(place)
        if came is not None and time.time() - came > age:
            self._files.delete(place)


def overdue(entries: Iterable[Entry], now: float, most: int) -> list[Entry]:
    """What has to go, of entries that come the latest first (pure).

    Args:
        entries: all.
        now: POSIX seconds.
        most: bytes that may stay, each object counted once; 0: any number.
    """
    gone, seen, total = [], set(), 0
    for entry in entries:
        if entry.expires <= now:
            gone.append(entry)
            continue
        total += 0 if entry.sha256 in seen else entry.size
        seen.add(entry.sha256)
        if most and total > most:
            gone.append(entry)
    return gone


def _object(digest: str) -> str:
    return f"{_OBJECTS}/{digest[:2]}/{digest}"


def _over(artifact: Artifact) -> bool:
    return datetime.fromisoformat(artifact.expires_at) <= datetime.now(UTC)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as exc:
        raise ArtifactError(f"{path.name} cannot be read: {exc.strerror or exc}") from exc


def _closed(parts: Iterator[bytes]) -> None:
    close = getattr(parts, "close", None)
    if close is not None:
        close()
