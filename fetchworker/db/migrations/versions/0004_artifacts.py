"""Artifacts: what is known of each, beside the store that has their bytes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_TEXTS = ("site", "operation", "request_id", "run_id", "job_id", "session", "workspace", "url")


def upgrade() -> None:
    """Make the table."""
    time = sa.String(27).with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
    op.create_table(
        "artifacts",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("created_at", time, nullable=False),
        sa.Column("expires_at", time, nullable=False),
        *(sa.Column(name, sa.Text) for name in _TEXTS),
        sa.Column("place", sa.Text, nullable=False),
        sa.Column("about", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_artifacts"),
    )
    for column in ("sha256", "expires_at", "request_id", "run_id"):
        op.create_index(f"ix_artifacts_{column}", "artifacts", [column])


def downgrade() -> None:
    """Drop it; the bytes stay in their store."""
    op.drop_table("artifacts")
