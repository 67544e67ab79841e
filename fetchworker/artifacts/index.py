"""What is known of the artifacts: in the database, or in small files beside the bytes."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from fetchworker.artifacts.model import Artifact, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fetchworker.artifacts.files import Files
    from fetchworker.artifacts.model import Filters
    from fetchworker.db import Place
    from fetchworker.db.artifacts import ArtifactTable

_META = "meta"
_DAY = 8  # characters of an id that are its day
_PARTS = 4


class Index(Protocol):
    """Keeps artifacts by their id."""

    async def add(self, artifact: Artifact) -> None:
        """Keep one.

        Raises:
            StorageError: it is not kept.
        """
        ...

    async def get(self, id_: str) -> Artifact | None:
        """One, None when there is none."""
        ...

    async def page(self, filters: Filters, *, before: str | None, limit: int) -> list[Artifact]:
        """Those for which the filters hold, the latest first, older than ``before``, ``limit`` at most."""
        ...

    async def remove(self, id_: str) -> bool:
        """Forget one; whether there was one."""
        ...

    async def entries(self, sha256: str | None = None) -> list[Entry]:
        """All, or those with the same bytes; the latest first."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class TableIndex:
    """The table of a database, which is opened when it is first needed."""

    def __init__(self, place: Place, *, patience: float) -> None:
        self._place = place
        self._patience = patience
        self._table: ArtifactTable | None = None
        self._opening = asyncio.Lock()

    async def add(self, artifact: Artifact) -> None:
        """Keep one."""
        await (await self._open()).insert(artifact.row())

    async def get(self, id_: str) -> Artifact | None:
        """One."""
        row = await (await self._open()).row(id_)
        return None if row is None else Artifact.of(row)

    async def page(self, filters: Filters, *, before: str | None, limit: int) -> list[Artifact]:
        """Some."""
        rows = await (await self._open()).page(filters.given(), before=before, limit=limit)
        return [Artifact.of(row) for row in rows]

    async def remove(self, id_: str) -> bool:
        """Forget one."""
        return await (await self._open()).remove(id_)

    async def entries(self, sha256: str | None = None) -> list[Entry]:
        """All."""
        return [Entry(*entry) for entry in await (await self._open()).entries(sha256)]

    async def close(self) -> None:
        """Let go of the connections; the next need opens some again."""
        async with self._opening:
            table, self._table = self._table, None
            if table is not None:
                await table.close()

    async def _open(self) -> ArtifactTable:
        async with self._opening:
            if self._table is None:
                from fetchworker.db.artifacts import ArtifactTable  # noqa: PLC0415  # SQLAlchemy is heavy

                self._table = await ArtifactTable.open(self._place, patience=self._patience)
            return self._table


class FileIndex:
    """Files ``meta/<day>/<id>_<sha256>_<size>_<end>.json``: most questions are answered by the names alone."""

    def __init__(self, files: Files) -> None:
        self._files = files

    async def add(self, artifact: Artifact) -> None:
        """Keep one."""
        end = int(datetime.fromisoformat(artifact.expires_at).timestamp())
        name = f"{artifact.id}_{artifact.sha256}_{artifact.size}_{end}.json"
        content = orjson.dumps(artifact.row(), default=str)
        await asyncio.to_thread(self._files.put, f"{_folder(artifact.id)}/{name}", content)

    async def get(self, id_: str) -> Artifact | None:
        """One."""
        return await asyncio.to_thread(self._get, id_)

    async def page(self, filters: Filters, *, before: str | None, limit: int) -> list[Artifact]:
        """Some: days are looked through until there are enough."""
        return await asyncio.to_thread(self._page, filters, before, limit)

    async def remove(self, id_: str) -> bool:
        """Forget one."""
        return await asyncio.to_thread(self._remove, id_)

    async def entries(self, sha256: str | None = None) -> list[Entry]:
        """All."""
        return await asyncio.to_thread(lambda: [e for _, e in self._walk() if sha256 in (None, e.sha256)])

    async def close(self) -> None:
        """Nothing is held."""

    def _get(self, id_: str) -> Artifact | None:
        path = self._path(id_)
        return self._artifact(path) if path is not None else None

    def _page(self, filters: Filters, before: str | None, limit: int) -> list[Artifact]:
        found: list[Artifact] = []
        for path, entry in self._walk(before):
            if filters.sha256 not in (None, entry.sha256):
                continue
            artifact = self._artifact(path)
            if artifact is not None and filters.hold(artifact):
                found.append(artifact)
            if len(found) >= limit:
                break
        return found

    def _remove(self, id_: str) -> bool:
        path = self._path(id_)
        return path is not None and self._files.delete(path)

    def _path(self, id_: str) -> str | None:
        folder = _folder(id_)
        names = self._files.names(folder)
        return next((f"{folder}/{name}" for name in names if name.startswith(f"{id_}_")), None)

    def _walk(self, before: str | None = None) -> Iterator[tuple[str, Entry]]:
        """Paths and what their names tell, the latest first."""
        for day in sorted(self._files.names(_META), reverse=True):
            if before is not None and day > before[:_DAY]:
                continue
            for name in sorted(self._files.names(f"{_META}/{day}"), reverse=True):
                entry = _entry(name)
                if entry is not None and (before is None or entry.id < before):
                    yield f"{_META}/{day}/{name}", entry

    def _artifact(self, path: str) -> Artifact | None:
        """None: it was dropped meanwhile, or is none of ours."""
        if self._files.modified(path) is None:
            return None
        try:
            row: Any = orjson.loads(b"".join(self._files.read(path)))
            return Artifact.of(row)
        except (orjson.JSONDecodeError, TypeError):
            return None


def _folder(id_: str) -> str:
    return f"{_META}/{id_[:_DAY]}"


def _entry(name: str) -> Entry | None:
    parts = name.removesuffix(".json").split("_")
    if len(parts) != _PARTS or not parts[2].isdigit() or not parts[3].isdigit():
        return None
    return Entry(parts[0], parts[1], int(parts[2]), float(parts[3]))
