"""Rows as they are told: each item as the text that it is stored as, which nobody reads and writes anew."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, cast, select

from fetchworker.db.runtables import scrape_items, scrape_runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Row

_I, _R = scrape_items.c, scrape_runs.c
#: columns → what they are called
_NAMES = {
    "run_id": "runId",
    "seq": "seq",
    "item_id": "itemId",
    "job_id": "jobId",
    "workspace_id": "workspaceId",
    "conversation_id": "conversationId",
    "skill_id": "skillId",
}
_TEXTS = select(*(_I[name] for name in _NAMES), cast(_I["item"], Text).label("text"))


def of_run(run_id: str, after: int, limit: int) -> Any:
    """The query of a run's rows behind a number."""
    return _TEXTS.where(_I.run_id == run_id, _I.seq > after).order_by(_I.seq).limit(limit)


def across(workspace: str, narrow: Mapping[str, str | None], after: tuple[str, int] | None, limit: int) -> Any:
    """The query of the rows of all runs of a workspace, narrowed by ``conversation``, ``skill`` and ``kind``."""
    query = _TEXTS.join(scrape_runs, _R.run_id == _I.run_id).where(_R.workspace_id == workspace)
    columns = {"conversation": _R.conversation_id, "skill": _R.skill_id, "kind": _I.kind}
    for name, value in narrow.items():
        query = query if value is None else query.where(columns[name] == value)
    if after is not None:
        query = query.where((_I.run_id > after[0]) | ((_I.run_id == after[0]) & (_I.seq > after[1])))
    return query.order_by(_I.run_id, _I.seq).limit(limit)


def page(rows: Sequence[Row[Any]], following: int | str | None) -> bytes:
    """A page of rows as JSON; ``following`` is what the next one is asked for with."""
    texts = ",".join(_row(row) for row in rows)
    return f'{{"rows":[{texts}],"next":{json.dumps(following)}}}'.encode()


def _row(row: Row[Any]) -> str:
    own = json.dumps({told: getattr(row, name) for name, told in _NAMES.items()}, separators=(",", ":"))
    return f'{own[:-1]},"item":{row.text.strip()}}}'
