"""Schedules: what waits for the run before it, and why the last start failed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    op.add_column("schedules", sa.Column("waiting", sa.JSON(none_as_null=True)))
    op.add_column("schedules", sa.Column("error", sa.Text))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("schedules", "error")
    op.drop_column("schedules", "waiting")
