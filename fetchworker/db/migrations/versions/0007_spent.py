"""What attempts have cost, which sessions they used, what was done on pages: empty tables are made anew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TIME = sa.String(27).with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Make them as they are filled now."""
    for table in ("actions", "sessions", "usage"):
        op.drop_table(table)
    _usage()
    _sessions()
    _actions()


def downgrade() -> None:
    """Make them as they were; what they hold goes."""
    for table in ("actions", "sessions", "usage"):
        op.drop_table(table)
    _former_actions()
    _former_sessions()
    _former_usage()


def _attempt() -> list[sa.Column[str]]:
    return [
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
    ]


def _sums() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in ("requests", "bytes_up", "bytes_down")]


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("attempt_id", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        *_attempt(),
        *_sums(),
        sa.Column("browser_ms", sa.BigInteger, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "site", "operation", "provider", "tier", name="pk_usage"),
    )
    op.create_index("ix_usage_run_id", "usage", ["run_id"], unique=False)


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("attempt_id", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        *_attempt(),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("tier", sa.Text, nullable=False),
        sa.Column("exit", sa.Text),
        sa.Column("country", sa.Text),
        sa.Column("exits", sa.BigInteger, nullable=False),
        *_sums(),
        sa.Column("outcomes", sa.JSON, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "site", "session_id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_run_id", "sessions", ["run_id"], unique=False)


def _actions() -> None:
    op.create_table(
        "actions",
        sa.Column("call_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text),
        sa.Column("principal", sa.Text),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("layer", sa.Text),
        sa.Column("artifact_id", sa.Text),
        sa.Column("ms", sa.Float),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("call_id", "number", name="pk_actions"),
    )
    op.create_index("ix_actions_at", "actions", ["at"], unique=False)
    op.create_index("ix_actions_request_id", "actions", ["request_id"], unique=False)


def _former_actions() -> None:
    op.create_table(
        "actions",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("job_id", sa.Text),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("layer", sa.Text),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("ended_at", TIME),
        sa.Column("error", sa.JSON(none_as_null=True)),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "number", name="pk_actions"),
    )


def _former_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("provider", sa.Text),
        sa.Column("country", sa.Text),
        sa.Column("profile", sa.Text),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("blocks", sa.BigInteger, nullable=False),
        sa.Column("created_at", TIME),
        sa.Column("used_at", TIME),
        sa.Column("mirrored_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("site", "session_id", name="pk_sessions"),
    )


def _former_usage() -> None:
    op.create_table(
        "usage",
        sa.Column("attempt_id", sa.Text, nullable=False),
        sa.Column("site", sa.Text, nullable=False),
        sa.Column("route", sa.Text, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("bytes_up", sa.BigInteger, nullable=False),
        sa.Column("bytes_down", sa.BigInteger, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "site", "route", "provider", name="pk_usage"),
    )
    op.create_index("ix_usage_run_id", "usage", ["run_id"], unique=False)
