"""The tables of runs, beside those of items, as the newest migration leaves them.

Everything that belongs to a run has its ``run_id``; rows of one run are numbered by the run's own counters, which the
lock of its row guards, so that who pages by number misses none.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from fetchworker.db.spenttables import actions, sessions, usage  # noqa: F401  # who has these tables has those
from fetchworker.db.tables import Instant, metadata

#: what was asked for by one call, and how it ended
scrape_runs = Table(
    "scrape_runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("workspace_id", Text, nullable=False),
    Column("conversation_id", Text),
    Column("skill_id", Text),
    # who asked for it: the id of a row of api_principals, or a name
    Column("principal", Text),
    Column("idempotency_key", Text),
    # of what was asked for: the same key with another request is refused
    Column("request_hash", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("exit_causes", JSON, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("callback_webhook", Text),
    # how often it was begun: 1, and 1 more for each resume
    Column("generation", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("deadline_at", Instant),
    Column("ended_at", Instant),
    Column("abort_at", Instant),
    # somebody wants the watcher to look now
    Column("wake_at", Instant),
    Column("jobs", Integer, nullable=False),
    # counters: rows stored, lines refused, and the last numbers given to items and events
    Column("items", BigInteger, nullable=False),
    Column("rejects", BigInteger, nullable=False),
    Column("item_seq", BigInteger, nullable=False),
    Column("event_seq", BigInteger, nullable=False),
    UniqueConstraint("workspace_id", "idempotency_key", name="uq_scrape_runs_workspace_id_idempotency_key"),
    Index(None, "workspace_id", "created_at"),
    Index(None, "state"),
)

#: the jobs of a run; state and end are those of the latest attempt
scrape_jobs = Table(
    "scrape_jobs",
    metadata,
    Column("job_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("actor", Text, nullable=False),
    Column("input", JSON, nullable=False),
    Column("memory_mb", Integer),
    Column("timeout_sec", Float),
    Column("priority", Float, nullable=False),
    Column("tags", JSON, nullable=False),
    Column("state", Text, nullable=False),
    Column("exit_cause", Text),
    Column("reasons", JSON, nullable=False),
    # the number of the latest attempt, 0 before the first
    Column("attempt", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("items", BigInteger, nullable=False),
    Column("rejects", BigInteger, nullable=False),
    Index(None, "run_id", "number", unique=True),
)

#: each process that was to do a job, and how far its lines are ingested
scrape_attempts = Table(
    "scrape_attempts",
    metadata,
    # the id that the platform knows it by
    Column("attempt_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    # that of the run when it was made
    Column("generation", Integer, nullable=False),
    # queued, spawning (its platform may know it), spawned, running, ended, lost
    Column("state", Text, nullable=False),
    Column("node", Text),
    Column("created_at", Instant, nullable=False),
    Column("spawned_at", Instant),
    # since when its node has not answered about it, NULL while it does
    Column("silent_at", Instant),
    Column("started_at", Instant),
    Column("ended_at", Instant),
    Column("exit_cause", Text),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("reasons", JSON, nullable=False),
    Column("peak_rss", BigInteger),
    Column("stats", JSON, nullable=False),
    # why we told it to stop: abort, deadline, lost
    Column("stop_why", Text),
    Column("stop_at", Instant),
    # bytes of its lines that are stored or refused, and how many of them there are
    Column("items_offset", BigInteger, nullable=False),
    Column("items_bytes", BigInteger, nullable=False),
    Column("items", BigInteger, nullable=False),
    Column("rejects", BigInteger, nullable=False),
    # its node has been told to end it, should it come back, and to delete its files
    Column("cleared", Boolean, nullable=False, server_default=false()),
    Index(None, "run_id", "job_id", "number", unique=True),
    Index(None, "node", "cleared"),
)

#: the data set: each row of a run once
scrape_items = Table(
    "scrape_items",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("item_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("workspace_id", Text, nullable=False),
    Column("conversation_id", Text),
    Column("skill_id", Text),
    Column("site", Text),
    Column("kind", Text),
    Column("ingested_at", Instant, nullable=False),
    # not jsonb: it refuses the NULs that pages hold
    Column("item", JSON, nullable=False),
    Index(None, "run_id", "seq", unique=True),
)

#: every change, in order
scrape_events = Table(
    "scrape_events",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("job_id", Text),
    Column("attempt", Integer),
    # state, spawn, respawn, abort, resume …
    Column("type", Text, nullable=False),
    Column("state_from", Text),
    Column("state_to", Text),
    Column("detail", JSON, nullable=False),
)

#: lines of data sets that are no items
scrape_rejects = Table(
    "scrape_rejects",
    metadata,
    Column("attempt_id", Text, primary_key=True),
    Column("line_offset", BigInteger, primary_key=True, autoincrement=False),
    Column("run_id", Text, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("at", Instant, nullable=False),
    Column("reason", Text, nullable=False),
    Column("line_bytes", BigInteger, nullable=False),
    # its beginning
    Column("line", LargeBinary, nullable=False),
    Index(None, "run_id"),
)

#: the outbox of callbacks: a row is made in the transaction that ends a run
webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    # stable, whatever becomes of the tries: receivers tell doubles by it
    Column("delivery_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("workspace_id", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("body", JSON, nullable=False),
    # pending, delivered, dead
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("next_at", Instant),
    Column("tried_at", Instant),
    Column("delivered_at", Instant),
    Column("status", Integer),
    Column("error", Text),
    # each try: when, status or error, milliseconds
    Column("log", JSON, nullable=False),
    Index(None, "state", "next_at"),
    Index(None, "run_id"),
)

#: who may call, for which workspaces; the key itself is nowhere
api_principals = Table(
    "api_principals",
    metadata,
    Column("principal_id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("key_hash", Text, nullable=False),
    Column("scopes", JSON, nullable=False),
    # NULL: all of them
    Column("workspaces", JSON(none_as_null=True)),
    Column("created_at", Instant, nullable=False),
    Column("used_at", Instant),
    Column("revoked_at", Instant),
    UniqueConstraint("name", name="uq_api_principals_name"),
    UniqueConstraint("key_hash", name="uq_api_principals_key_hash"),
)

#: runs to be started by the clock
schedules = Table(
    "schedules",
    metadata,
    Column("schedule_id", Text, primary_key=True),
    Column("workspace_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("principal", Text),
    Column("cron", Text, nullable=False),
    Column("timezone", Text, nullable=False),
    Column("request", JSON, nullable=False),
    # skip, queue, allow … and skip, once, all
    Column("overlap", Text, nullable=False),
    Column("misfire", Text, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("next_at", Instant),
    Column("last_at", Instant),
    Column("last_run_id", Text),
    # times whose runs wait for the one before them to end
    Column("waiting", JSON(none_as_null=True)),
    # why the last start failed
    Column("error", Text),
    UniqueConstraint("workspace_id", "name", name="uq_schedules_workspace_id_name"),
    Index(None, "enabled", "next_at"),
)
