"""What a run's callback says (pure)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Row

    from fetchworker.runs.states import RollUp

#: ids of deliveries are made of the run's and this
_SPACE = uuid.UUID("6f0f3d5e-8a55-4c7e-9d0a-2f6a3f1c7b11")
#: what the callback is about
EVENT = "run.ended"


def delivery_of(run: Row[Any], roll: RollUp, jobs: Sequence[Row[Any]], moment: str) -> dict[str, Any]:
    """The row of the outbox for a run that has just ended; its id is that of the run and its generation."""
    body = {
        "event": EVENT,
        "runId": run.run_id,
        "generation": run.generation,
        "workspaceId": run.workspace_id,
        "conversationId": run.conversation_id,
        "skillId": run.skill_id,
        "state": roll.state,
        "exitCauses": roll.exit_causes,
        "reasons": roll.reasons,
        "items": run.items,
        "rejects": run.rejects,
        "createdAt": run.created_at,
        "endedAt": moment,
        "jobs": [_job(job) for job in jobs],
    }
    return {
        "delivery_id": str(uuid.uuid5(_SPACE, f"{run.run_id}/{run.generation}")),
        "run_id": run.run_id,
        "workspace_id": run.workspace_id,
        "url": run.callback_webhook,
        "event": EVENT,
        "body": body,
        "state": "pending",
        "attempts": 0,
        "created_at": moment,
        "next_at": moment,
        "log": [],
    }


def _job(job: Row[Any]) -> dict[str, Any]:
    told = {"jobId": job.job_id, "number": job.number, "actor": job.actor, "state": job.state}
    return told | {"exitCause": job.exit_cause, "items": job.items, "rejects": job.rejects}
