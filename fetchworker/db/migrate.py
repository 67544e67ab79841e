"""Brings the tables to the newest form, once, however many processes start at the same moment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect, text

from fetchworker.db.tables import HEAD, VERSION_TABLE
from fetchworker.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy import Connection

SCRIPTS = Path(__file__).with_name("migrations")
#: the number of PostgreSQL's advisory lock; any other program's would do as well, as long as it is always the same
LOCK = 0x66_65_74_63_68_77


def migrate(connection: Connection) -> None:
    """Run the steps that are missing, in the transaction that the connection is in.

    The lock ends with the transaction: PostgreSQL's advisory lock, and SQLite's write lock, which an IMMEDIATE
    transaction holds from its beginning.

    Raises:
        StorageError: a newer version of fetchworker has been here.
    """
    if revision(connection) == HEAD:
        return
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
    found = revision(connection)
    if found != HEAD:
        _upgrade(connection, found)


def revision(connection: Connection) -> str | None:
    """The step that the database is at, None for a new one."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()  # noqa: S608
    return found


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, without an ini file."""
    from alembic.config import Config  # noqa: PLC0415  # heavy, and needed once in a database's life

    made = Config()
    made.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    made.attributes["connection"] = connection
    return made


def _upgrade(connection: Connection, found: str | None) -> None:
    from alembic import command  # noqa: PLC0415  # as above
    from alembic.script import ScriptDirectory  # noqa: PLC0415  # as above

    known = {script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()}
    if found is not None and found not in known:
        raise StorageError(
            f"the database is of a newer fetchworker (its tables are at {found}, this version knows {HEAD}): "
            "update fetchworker, or use another database"
        )
    command.upgrade(config(connection), "head")
