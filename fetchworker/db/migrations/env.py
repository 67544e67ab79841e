"""What Alembic runs: the steps, on the connection and in the transaction that fetchworker.db.migrate hands over."""

from __future__ import annotations

from alembic import context

from fetchworker.db import runtables  # noqa: F401  # its tables are part of the metadata
from fetchworker.db.tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, version_table=VERSION_TABLE
)
context.run_migrations()
