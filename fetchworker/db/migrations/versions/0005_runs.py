"""Runs, their jobs and attempts, rows and events; callbacks, principals, schedules; mirrors of sessions and usage."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TIME = sa.String(27).with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_TABLES = (
    "scrape_runs",
    "scrape_jobs",
    "scrape_attempts",
    "scrape_items",
    "scrape_events",
    "scrape_rejects",
    "actions",
    "sessions",
    "usage",
    "webhook_deliveries",
    "api_principals",
    "schedules",
)


def upgrade() -> None:
    """Make the tables."""
    for make in (
        _scrape_runs,
        _scrape_jobs,
        _scrape_attempts,
        _scrape_items,
        _scrape_events,
        _scrape_rejects,
        _actions,
        _sessions,
        _usage,
        _webhook_deliveries,
        _api_principals,
        _schedules,
    ):
        make()


def downgrade() -> None:
    """Drop them, with all they hold."""
    for table in _TABLES:
        op.drop_table(table)


def _scrape_runs() -> None:
    op.create_table(
        "scrape_runs",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("conversation_id", sa.Text),
        sa.Column("skill_id", sa.Text),
        sa.Column("principal", sa.Text),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("request_hash", sa.Text, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("exit_causes", sa.JSON, nullable=False),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("callback_webhook", sa.Text),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("deadline_at", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("abort_at", TIME),
        sa.Column("wake_at", TIME),
        sa.Column("jobs", sa.Integer, nullable=False),
        sa.Column("items", sa.BigInteger, nullable=False),
        sa.Column("rejects", sa.BigInteger, nullable=False),
        sa.Column("item_seq", sa.BigInteger, nullable=False),
        sa.Column("event_seq", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_scrape_runs"),
        sa.UniqueConstraint("workspace_id", "idempotency_key", name="uq_scrape_runs_workspace_id_idempotency_key"),
    )
    op.create_index("ix_scrape_runs_state", "scrape_runs", ["state"], unique=False)
    op.create_index(
        "ix_scrape_runs_workspace_id_created_at", "scrape_runs", ["workspace_id", "created_at"], unique=False
    )


def _scrape_jobs() -> None:
    op.create_table(
        "scrape_jobs",
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("input", sa.JSON, nullable=False),
        sa.Column("memory_mb", sa.Integer),
        sa.Column("timeout_sec", sa.Float),
        sa.Column("priority", sa.Float, nullable=False),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("exit_cause", sa.Text),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("started_at", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("items", sa.BigInteger, nullable=False),
        sa.Column("rejects", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("job_id", name="pk_scrape_jobs"),
    )
    op.create_index("ix_scrape_jobs_run_id_number", "scrape_jobs", ["run_id", "number"], unique=True)


def _scrape_attempts() -> None:
    op.create_table(
        "scrape_attempts",
        sa.Column("attempt_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("node", sa.Text),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("spawned_at", TIME),
        sa.Column("silent_at", TIME),
        sa.Column("started_at", TIME),
        sa.Column("ended_at", TIME),
        sa.Column("exit_cause", sa.Text),
        sa.Column("exit_code", sa.Integer),
        sa.Column("signal", sa.Integer),
        sa.Column("reasons", sa.JSON, nullable=False),
        sa.Column("peak_rss", sa.BigInteger),
        sa.Column("stats", sa.JSON, nullable=False),
        sa.Column("stop_why", sa.Text),
        sa.Column("stop_at", TIME),
        sa.Column("items_offset", sa.BigInteger, nullable=False),
        sa.Column("items_bytes", sa.BigInteger, nullable=False),
        sa.Column("items", sa.BigInteger, nullable=False),
        sa.Column("rejects", sa.BigInteger, nullable=False),
        sa.Column("cleared", sa.Boolean, server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", name="pk_scrape_attempts"),
    )
    op.create_index("ix_scrape_attempts_node_cleared", "scrape_attempts", ["node", "cleared"], unique=False)
    op.create_index(
        "ix_scrape_attempts_run_id_job_id_number", "scrape_attempts", ["run_id", "job_id", "number"], unique=True
    )


def _scrape_items() -> None:
    op.create_table(
        "scrape_items",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("item_id", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("conversation_id", sa.Text),
        sa.Column("skill_id", sa.Text),
        sa.Column("site", sa.Text),
        sa.Column("kind", sa.Text),
        sa.Column("ingested_at", TIME, nullable=False),
        sa.Column("item", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "item_id", name="pk_scrape_items"),
    )
    op.create_index("ix_scrape_items_run_id_seq", "scrape_items", ["run_id", "seq"], unique=True)


def _scrape_events() -> None:
    op.create_table(
        "scrape_events",
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("seq", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("job_id", sa.Text),
        sa.Column("attempt", sa.Integer),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("state_from", sa.Text),
        sa.Column("state_to", sa.Text),
        sa.Column("detail", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("run_id", "seq", name="pk_scrape_events"),
    )


def _scrape_rejects() -> None:
    op.create_table(
        "scrape_rejects",
        sa.Column("attempt_id", sa.Text, nullable=False),
        sa.Column("line_offset", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("job_id", sa.Text, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("line_bytes", sa.BigInteger, nullable=False),
        sa.Column("line", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("attempt_id", "line_offset", name="pk_scrape_rejects"),
    )
    op.create_index("ix_scrape_rejects_run_id", "scrape_rejects", ["run_id"], unique=False)


def _actions() -> None:
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


def _sessions() -> None:
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


def _usage() -> None:
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


def _webhook_deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("delivery_id", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("body", sa.JSON, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("next_at", TIME),
        sa.Column("tried_at", TIME),
        sa.Column("delivered_at", TIME),
        sa.Column("status", sa.Integer),
        sa.Column("error", sa.Text),
        sa.Column("log", sa.JSON, nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", name="pk_webhook_deliveries"),
    )
    op.create_index("ix_webhook_deliveries_run_id", "webhook_deliveries", ["run_id"], unique=False)
    op.create_index("ix_webhook_deliveries_state_next_at", "webhook_deliveries", ["state", "next_at"], unique=False)


def _api_principals() -> None:
    op.create_table(
        "api_principals",
        sa.Column("principal_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key_hash", sa.Text, nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("workspaces", sa.JSON(none_as_null=True)),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("used_at", TIME),
        sa.Column("revoked_at", TIME),
        sa.PrimaryKeyConstraint("principal_id", name="pk_api_principals"),
        sa.UniqueConstraint("key_hash", name="uq_api_principals_key_hash"),
        sa.UniqueConstraint("name", name="uq_api_principals_name"),
    )


def _schedules() -> None:
    op.create_table(
        "schedules",
        sa.Column("schedule_id", sa.Text, nullable=False),
        sa.Column("workspace_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("principal", sa.Text),
        sa.Column("cron", sa.Text, nullable=False),
        sa.Column("timezone", sa.Text, nullable=False),
        sa.Column("request", sa.JSON, nullable=False),
        sa.Column("overlap", sa.Text, nullable=False),
        sa.Column("misfire", sa.Text, nullable=False),
        sa.Column("enabled", sa.Boolean, nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("next_at", TIME),
        sa.Column("last_at", TIME),
        sa.Column("last_run_id", sa.Text),
        sa.PrimaryKeyConstraint("schedule_id", name="pk_schedules"),
        sa.UniqueConstraint("workspace_id", "name", name="uq_schedules_workspace_id_name"),
    )
    op.create_index("ix_schedules_enabled_next_at", "schedules", ["enabled", "next_at"], unique=False)
