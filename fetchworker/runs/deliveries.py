"""Callbacks as callers see them: a list, and another try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from fetchworker.db.runtables import webhook_deliveries
from fetchworker.errors import RunNotFoundError
from fetchworker.runs.models import DeliveryPage, DeliveryView
from fetchworker.runs.store import now

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Row
    from sqlalchemy.ext.asyncio import AsyncConnection

    from fetchworker.runs.store import RunStore

_W = webhook_deliveries.c


def _view(row: Row[Any]) -> DeliveryView:
    names = [name for name in DeliveryView.model_fields if name != "tries"]
    return DeliveryView(**{name: getattr(row, name) for name in names}, tries=row.log)


async def listed(
    store: RunStore,
    *,
    workspaces: Collection[str] | None = None,
    run_id: str | None = None,
    state: str | None = None,
    after: str | None = None,
    limit: int = 50,
) -> DeliveryPage:
    """Deliveries by their runs, the newest first; ``after`` is the ``next`` of the page before."""
    # a run has a delivery for each time it has ended: the order has to tell those apart
    query = select(webhook_deliveries).order_by(_W.run_id.desc(), _W.delivery_id.desc()).limit(limit + 1)
    if workspaces is not None:
        query = query.where(_W.workspace_id.in_(list(workspaces)))
    for column, value in ((_W.run_id, run_id), (_W.state, state)):
        query = query if value is None else query.where(column == value)
    if after is not None:
        run, _, delivery = after.partition(":")
        query = query.where((_W.run_id < run) | ((_W.run_id == run) & (_W.delivery_id < delivery)))
    rows = await store.read(query)
    last = rows[limit - 1] if len(rows) > limit else None
    following = f"{last.run_id}:{last.delivery_id}" if last else None
    return DeliveryPage(deliveries=[_view(row) for row in rows[:limit]], next=following)


async def replayed(store: RunStore, delivery_id: str, *, workspaces: Collection[str] | None = None) -> DeliveryView:
    """Have a delivery made again, with all its tries before it; its id stays.

    Raises:
        RunNotFoundError: there is none that the caller sees.
    """
    mine = _W.delivery_id == delivery_id
    if workspaces is not None:
        mine &= _W.workspace_id.in_(list(workspaces))
    values = {"state": "pending", "attempts": 0, "next_at": now(), "delivered_at": None}
    query = update(webhook_deliveries).where(mine).values(values).returning(webhook_deliveries)

    async def write(connection: AsyncConnection) -> Row[Any] | None:
        row: Row[Any] | None = (await connection.execute(query)).one_or_none()
        return row

    found = await store.write(write)
    if found is None:
        raise RunNotFoundError(f"there is no delivery {delivery_id}", delivery_id=delivery_id)
    return _view(found)
