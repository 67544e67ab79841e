"""What was done on pages by ``POST /browser/runs``: stored with the call, told by workspace, the newest calls first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import insert, select

from fetchworker.db.spenttables import actions
from fetchworker.runs.store import at
from fetchworker.runs.writing import new_run_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Row

    from fetchworker.actions import ActionOutcome
    from fetchworker.runs.store import RunStore

_C = actions.c


class Caller(NamedTuple):
    """Whose call it is: ``principal`` is the name of the key, ``session_id`` that of the stored session."""

    request_id: str
    workspace_id: str | None
    principal: str | None
    site: str
    session_id: str | None


async def record(store: RunStore, caller: Caller, done: Sequence[ActionOutcome], *, begun: float) -> None:
    """Store the actions of a call, all of them or none: kinds and outcomes, nothing that was typed or found.

    Args:
        store: the database.
        caller: whose call it was.
        done: what has become of its actions.
        begun: when the call began, POSIX seconds.

    Raises:
        StorageError: nothing is stored.
    """
    call_id = new_run_id()
    rows = [
        {
            **caller._asdict(),
            "call_id": call_id,
            "number": one.index,
            "kind": one.type,
            "outcome": one.outcome,
            "layer": one.layer,
            "artifact_id": one.artifact,
            "ms": one.ms,
            "at": at(begun),
        }
        for one in done
    ]
    if rows:
        await store.write(lambda connection: connection.execute(insert(actions), rows))


async def listed(
    store: RunStore, narrow: Mapping[str, str | None], *, after: tuple[str, int] | None = None, limit: int = 100
) -> Sequence[Row[Any]]:
    """Actions, call by call, the newest call first.

    Args:
        store: the database.
        narrow: column → what it has to be, None: anything.
        after: the call and the number of the last one that is known.
        limit: so many at most.
    """
    query = select(actions).order_by(_C.call_id.desc(), _C.number).limit(limit)
    for name, value in narrow.items():
        query = query if value is None else query.where(_C[name] == value)
    if after is not None:
        call, number = after
        query = query.where((_C.call_id < call) | ((_C.call_id == call) & (_C.number > number)))
    return await store.read(query)
