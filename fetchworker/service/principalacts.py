"""What ``scrapy runs principals`` does; each act gives the exit code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fetchworker.errors import ArgumentError
from fetchworker.runs.place import opened
from fetchworker.runs.saying import complain, say
from fetchworker.service import principals

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings
    from sqlalchemy import Row

DONE = 0


async def act(settings: BaseSettings, opts: argparse.Namespace) -> int:
    """``add``, ``list`` or ``revoke``."""
    async with opened(settings) as runs:
        if opts.what == "add":
            scopes = tuple(scope.strip() for scope in opts.scopes.split(","))
            key = await principals.add(runs.store, opts.name, scopes, opts.workspace)
            complain("the key, which is shown this once, follows")
            say(key)
        elif opts.what == "revoke":
            if not await principals.revoke(runs.store, opts.name):
                raise ArgumentError(f"no principal {opts.name!r} has a key that is good")
            say(f"{opts.name}: revoked")
        else:
            found = await principals.listed(runs.store)
            say(*(json.dumps(_told(row)) if opts.json else _line(row) for row in found))
    return DONE


def _told(row: Row[Any]) -> dict[str, Any]:
    """A principal without its hash."""
    names = ("principal_id", "name", "scopes", "workspaces", "created_at", "used_at", "revoked_at")
    return {name: getattr(row, name) for name in names}


def _line(row: Row[Any]) -> str:
    where = ", ".join(row.workspaces) if row.workspaces else "all workspaces"
    state = f"revoked {row.revoked_at[:19]}" if row.revoked_at else f"used {(row.used_at or 'never')[:19]}"
    return f"{row.name}  {', '.join(row.scopes)}  {where}  since {row.created_at[:19]}  {state}"
