"""What documents say: the same bytes are read once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    time = sa.String(27).with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
    op.create_table(
        "documents",
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("reader", sa.Text, nullable=False),
        sa.Column("read_as", sa.Text, nullable=False),
        sa.Column("first_read", time, nullable=False),
        sa.Column("reading", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("sha256", "reader", "read_as", name="pk_documents"),
    )


def downgrade() -> None:
    """Drop it; what it holds can be read again from the files."""
    op.drop_table("documents")
