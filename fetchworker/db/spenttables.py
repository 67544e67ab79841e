"""The tables of what runs have cost and of what was done on pages, as the newest migration leaves them.

They hold names and numbers: no cookie, no token, no password, nothing that was typed.
"""

from __future__ import annotations

from sqlalchemy import JSON, BigInteger, Column, Float, Index, Integer, Table, Text

from fetchworker.db.tables import Instant, metadata

#: what an attempt has cost, by operation and way out
usage = Table(
    "usage",
    metadata,
    Column("attempt_id", Text, primary_key=True),
    Column("site", Text, primary_key=True),
    Column("operation", Text, primary_key=True),
    Column("provider", Text, primary_key=True),
    Column("tier", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("workspace_id", Text, nullable=False),
    # tries, as docs/usage.md counts them
    Column("requests", BigInteger, nullable=False),
    Column("bytes_up", BigInteger, nullable=False),
    Column("bytes_down", BigInteger, nullable=False),
    Column("browser_ms", BigInteger, nullable=False),
    Column("at", Instant, nullable=False),
    Index(None, "run_id"),
)

#: the stored sessions that an attempt has used
sessions = Table(
    "sessions",
    metadata,
    Column("attempt_id", Text, primary_key=True),
    Column("site", Text, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("run_id", Text, nullable=False),
    Column("job_id", Text, nullable=False),
    Column("workspace_id", Text, nullable=False),
    Column("provider", Text, nullable=False),
    Column("tier", Text, nullable=False),
    # the last one, as logs name it, and how many there were
    Column("exit", Text),
    Column("country", Text),
    Column("exits", BigInteger, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("bytes_up", BigInteger, nullable=False),
    Column("bytes_down", BigInteger, nullable=False),
    # outcome → tries
    Column("outcomes", JSON, nullable=False),
    Column("at", Instant, nullable=False),
    Index(None, "run_id"),
)

#: what was done on pages by POST /browser/runs, each with its own outcome
actions = Table(
    "actions",
    metadata,
    # sorts by the time of the call
    Column("call_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("request_id", Text, nullable=False, index=True),
    Column("workspace_id", Text),
    Column("principal", Text),
    Column("site", Text, nullable=False),
    Column("session_id", Text),
    Column("kind", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    # the layer that a failure belongs to
    Column("layer", Text),
    Column("artifact_id", Text),
    Column("ms", Float),
    Column("at", Instant, nullable=False, index=True),
)
