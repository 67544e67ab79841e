"""Items and observations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    # SQLite has no type for times; texts of one length sort as times do
    time = sa.String(27).with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
    op.create_table(
        "items",
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("crawl_id", sa.Text, nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("first_seen", time, nullable=False),
        sa.Column("last_seen", time, nullable=False),
        sa.Column("item", sa.JSON, nullable=False),
        sa.Column("seen", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("site", "kind", "id", name="pk_items"),
    )
    op.create_table(
        "observations",
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("round_id", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("id", sa.Text),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("crawl_id", sa.Text, nullable=False),
        sa.Column("url", sa.Text),
        sa.Column("fetched_at", time, nullable=False),
        sa.Column("item", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("item_id", "round_id", name="pk_observations"),
    )
    op.create_index("ix_observations_site_kind_id_fetched_at", "observations", ["site", "kind", "id", "fetched_at"])


def downgrade() -> None:
    """Drop them, with all they hold."""
    op.drop_table("observations")
    op.drop_table("items")
