"""Rows that a batch touches are found by their keys, however large the tables are."""

from __future__ import annotations

import pytest
from sqlalchemy import event, text

THINGS = 20_000

#: tables of a size at which a planner would not read them whole
FILL = """
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {things})
    INSERT INTO {table} ({columns}) SELECT {values} FROM numbers
"""
AT = "'2026-01-01T10:00:00.000000Z'"
ITEMS = {
    "site": "'instagram'", "kind": "'profile'", "id": "'i' || n", "item_id": "'w' || n", "operation": "'profile'",
    "crawl_id": "'c'", "first_seen": AT, "last_seen": AT, "seen": "'{}'",
    "item": f"""'{{"item_id":"w", "operation":"profile", "text":"{"x" * 1500}"}}'""",
}  # fmt: skip
OBSERVATIONS = {
    "site": "'instagram'", "kind": "'profile'", "id": "'i' || n", "item_id": "'w' || n", "round_id": "''",
    "operation": "'profile'", "crawl_id": "'c'", "fetched_at": AT, "item": "'{}'",
}  # fmt: skip


@pytest.fixture(params=[True, False], ids=["statistics", "no-statistics"])
async def full(store, request):
    """A store with many rows, of which the planner knows; or does not yet, as when a crawl fills new tables."""
    async with store._engine.begin() as connection:
        postgresql = connection.dialect.name == "postgresql"
        casts = {"first_seen": "timestamptz", "last_seen": "timestamptz", "fetched_at": "timestamptz"}
        casts |= {"item": "json", "seen": "json"}
        for table, columns in (("items", ITEMS), ("observations", OBSERVATIONS)):
            values = [
                f"CAST({value} AS {casts[name]})" if postgresql and name in casts else value
                for name, value in columns.items()
            ]
            query = FILL.format(things=THINGS, table=table, columns=", ".join(columns), values=", ".join(values))
            await connection.exec_driver_sql(query)
        if request.param:
            await connection.execute(text("ANALYZE"))
    return store


async def plans(store, work) -> dict[str, str]:
    """How the database does each statement of some work: the plan by the statement's first word and table."""
    said = []

    def keep(_connection, _cursor, statement, parameters, _context, _many):
        said.append((statement, parameters[0] if isinstance(parameters, list) else parameters))

    event.listen(store._engine.sync_engine, "before_cursor_execute", keep)
    await work
    event.remove(store._engine.sync_engine, "before_cursor_execute", keep)
    found = {}
    async with store._engine.begin() as connection:
        explain = "EXPLAIN" if connection.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN"
        for statement, parameters in said:
            if statement.startswith(("SELECT", "UPDATE", "INSERT")):
                rows = await connection.exec_driver_sql(f"{explain} {statement}", parameters)
                table = "observations" if "observations" in statement else "items"
                found[f"{statement.split()[0]} {table}"] = "\n".join(str(row[-1]) for row in rows.all())
    return found


def assert_by_key(plan: str) -> None:
    """No table is read whole; SQLite says SEARCH and SCAN, PostgreSQL Index Scan and Seq Scan."""
    assert "SCAN" not in plan, plan
    assert "Seq Scan" not in plan, plan
    assert "SEARCH" in plan or "Index Scan" in plan, plan


async def test_a_batch_finds_what_is_there_by_its_keys(full, ann):
    batch = [ann(f"w{n}", id=f"i{n}", followers=n) for n in range(1, THINGS, THINGS // 200)]
    batch += [ann(f"x{n}", id=f"i{n}", site="linktree") for n in range(50)]
    found = await plans(full, full.save(batch))
    assert set(found) == {"SELECT items", "UPDATE items", "INSERT items", "INSERT observations"}
    assert_by_key(found["SELECT items"])
    assert_by_key(found["UPDATE items"])
    if full._engine.dialect.name == "postgresql":  # SQLite does not tell, it knows no other way
        assert "Conflict Arbiter Indexes: pk_observations" in found["INSERT observations"]


async def test_one_thing_and_its_history_are_found_by_the_key(full):
    for read in (full.state("instagram", "profile", "i77"), full.history("instagram", "profile", "i77")):
        [plan] = (await plans(full, read)).values()
        assert_by_key(plan)
