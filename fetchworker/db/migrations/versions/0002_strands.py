"""What a field held by turns is kept, so that the order of arrival does not matter."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; things that are there hold one strand of each field."""
    op.add_column("items", sa.Column("strands", sa.JSON))


def downgrade() -> None:
    """Drop it; what the fields show stays."""
    op.drop_column("items", "strands")
