"""Who may call, kept in the database beside the list of keys: the same keys, known by the same hashes."""

from __future__ import annotations

import logging
import secrets
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from sqlalchemy import insert, select, update

from fetchworker.db.runtables import api_principals
from fetchworker.errors import ArgumentError, RefusedError
from fetchworker.runs.store import now
from fetchworker.service.callers import Key, new_key

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.runs.store import RunStore

logger = logging.getLogger(__name__)
_P = api_principals.c


async def add(store: RunStore, name: str, scopes: tuple[str, ...], workspace: str | None = None) -> str:
    """Make a key; it is shown this once.

    Args:
        store: the database.
        name: of the principal.
        scopes: what the key opens.
        workspace: the only one that it sees; None: all of them.

    Raises:
        ConfigError: a name, scope or workspace that cannot be.
        ArgumentError: there is a principal of this name, perhaps a revoked one.
    """
    key, entry = new_key(name, scopes, workspace=workspace)
    row: dict[str, Any] = {
        "principal_id": secrets.token_hex(8),
        "name": name,
        "key_hash": entry["hash"],
        "scopes": entry["scopes"],
        "workspaces": None if workspace is None else [workspace],
        "created_at": now(),
    }

    async def write(connection: AsyncConnection) -> bool:
        if (await connection.execute(select(_P.name).where(_P.name == name))).first() is not None:
            return False
        await connection.execute(insert(api_principals), [row])
        return True

    try:
        made = await store.write(write)
    except RefusedError:
        made = False
    if not made:
        raise ArgumentError(f"there is a principal {name!r} already; a revoked one keeps its name", fields=["name"])
    return key


async def listed(store: RunStore) -> Sequence[Row[Any]]:
    """All principals, the oldest first."""
    return await store.read(select(api_principals).order_by(_P.created_at, _P.name))


async def revoke(store: RunStore, name: str) -> bool:
    """Take a key's rights away, for ever; whether it had any. Services learn of it within seconds."""
    query = update(api_principals).where(_P.name == name, _P.revoked_at.is_(None)).values(revoked_at=now())

    async def write(connection: AsyncConnection) -> bool:
        return (await connection.execute(query)).rowcount == 1

    return await store.write(write)


async def keys(store: RunStore) -> list[Key]:
    """The keys that are good now."""
    rows = await store.read(select(api_principals).where(_P.revoked_at.is_(None)).order_by(_P.created_at))
    return [key for row in rows if (key := _key(row)) is not None]


async def used(store: RunStore, names: Collection[str]) -> None:
    """Note that keys have been used."""
    if names:
        await store.execute(update(api_principals).where(_P.name.in_(list(names))).values(used_at=now()))


def _key(row: Row[Any]) -> Key | None:
    """A row as a key; one that a newer version wrote opens nothing here."""
    workspaces = row.workspaces or [None]
    try:
        return Key(name=row.name, hash=row.key_hash, scopes=tuple(row.scopes), workspace=workspaces[0])
    except ValidationError:
        logger.warning("the principal %s is none that this version knows: its key opens nothing", row.name)
        return None
