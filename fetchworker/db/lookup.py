"""Queries for the rows of many keys, made so that each database finds them by its index.

What both understand, ``(site, kind, id) IN (…)``, makes SQLite read the whole table; and what SQLite does well makes
PostgreSQL read it as long as it has no statistics, which is when a crawl fills new tables.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import ARRAY, Select, Text, and_, bindparam, func, or_, select

from fetchworker.db.tables import items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.db.observation import Key

_ORDER = (items.c.site, items.c.kind, items.c.id)
_wanted = func.unnest(*(bindparam(name, type_=ARRAY(Text)) for name in ("sites", "kinds", "ids")))
_WANTED = _wanted.table_valued("site", "kind", "id", name="wanted").render_derived()
_POSTGRESQL = (
    select(items)
    .join_from(
        _WANTED, items, and_(*(column == _WANTED.c[column.name] for column in (items.c.site, items.c.kind, items.c.id)))
    )
    .order_by(*_ORDER)
    .with_for_update(of=items)
)


def locked_by_keys(keys: Sequence[Key], dialect: str) -> tuple[Select[Any], dict[str, Any]]:
    """A query for the rows of some keys, and its parameters.

    The rows come, and are locked, in the order of their keys; SQLite's transaction has the write lock already.
    """
    if dialect == "postgresql":
        sites, kinds, ids = zip(*keys, strict=True)
        return _POSTGRESQL, {"sites": list(sites), "kinds": list(kinds), "ids": list(ids)}
    groups = groupby(sorted(keys), key=lambda key: key[:2])
    parts = [
        and_(items.c.site == site, items.c.kind == kind, items.c.id.in_([key[2] for key in group]))
        for (site, kind), group in groups
    ]
    return select(items).where(or_(*parts)).order_by(*_ORDER), {}
