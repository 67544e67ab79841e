"""The tables, as the newest migration leaves them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, TIMESTAMP, BigInteger, Column, Index, MetaData, String, Table, Text, TypeDecorator

from fetchworker.db.merge import instant

if TYPE_CHECKING:
    from sqlalchemy import Dialect
    from sqlalchemy.types import TypeEngine

#: the newest migration
HEAD = "0007"
#: where the database keeps which migration it has seen
VERSION_TABLE = "fetchworker_version"


class Instant(TypeDecorator[str]):
    """A time as items write it: a timestamp where there is such a type, else a text that sorts."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column's type."""
        return dialect.type_descriptor(TIMESTAMP(timezone=True) if dialect.name == "postgresql" else String(27))

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """From an item to the database."""
        if value is None:
            return None
        moment = datetime.fromisoformat(value)
        if dialect.name == "postgresql":
            return moment
        return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:  # noqa: ARG002  # SQLAlchemy's signature
        """From the database to an item."""
        if value is None:
            return None
        return instant(value if isinstance(value, str) else value.isoformat())


metadata = MetaData(naming_convention={"pk": "pk_%(table_name)s", "ix": "ix_%(table_name)s_%(column_0_N_name)s"})

#: the latest known state of each thing
items = Table(
    "items",
    metadata,
    Column("site", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    # of the latest observation
    Column("item_id", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("crawl_id", Text, nullable=False),
    Column("url", Text),
    Column("first_seen", Instant, nullable=False),
    Column("last_seen", Instant, nullable=False),
    # not jsonb: it refuses the NULs that pages hold
    Column("item", JSON, nullable=False),
    Column("seen", JSON, nullable=False),
    # of fields that held different things by turns, each of these; NULL for most things
    Column("strands", JSON(none_as_null=True)),
)

#: what was observed, as it was
observations = Table(
    "observations",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("round_id", Text, primary_key=True),
    Column("site", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("id", Text),
    Column("operation", Text, nullable=False),
    Column("crawl_id", Text, nullable=False),
    Column("url", Text),
    Column("fetched_at", Instant, nullable=False),
    Column("item", JSON, nullable=False),
    Index(None, "site", "kind", "id", "fetched_at"),
)

#: what documents say, by the bytes of their file and what read them
documents = Table(
    "documents",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("reader", Text, primary_key=True),
    Column("read_as", Text, primary_key=True),
    Column("first_read", Instant, nullable=False),
    Column("reading", JSON, nullable=False),
)

#: what calls and crawls left behind; the bytes are in the store of artifacts
artifacts = Table(
    "artifacts",
    metadata,
    # sorts by time
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("sha256", Text, nullable=False, index=True),
    Column("size", BigInteger, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False, index=True),
    Column("site", Text),
    Column("operation", Text),
    Column("request_id", Text, index=True),
    Column("run_id", Text, index=True),
    Column("job_id", Text),
    Column("session", Text),
    Column("workspace", Text),
    Column("url", Text),
    # the object in the store
    Column("place", Text, nullable=False),
    Column("about", JSON, nullable=False),
)
