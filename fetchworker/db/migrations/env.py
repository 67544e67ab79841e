"""What Alembic runs: the steps, on the connection and in the transaction that fetchworker.db.migrate hands over."""

from __future__ import annotations

from alembic import context

from fetchworker.db.runtables import metadata
from fetchworker.db.tables import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, version_table=VERSION_TABLE
)
context.run_migrations()
