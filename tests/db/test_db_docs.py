"""What docs/database.md tells to do, done."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from fetchworker.db.tables import VERSION_TABLE, metadata

#: those that crawls store into; tests/runs looks at those of runs
TABLES = ("documents", "items", "observations")
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "database.md").read_text()
QUERIES = [
    query.strip()
    for block in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    for query in block.split(";")
    if query.strip()
]


def name_of(query: str) -> str:
    """Its comment."""
    return query.splitlines()[0].removeprefix("-- ")


@pytest.fixture
async def filled(store, ann, make_post):
    """What the queries ask for."""
    named = {"id": "528817151", "username": "nasa"}
    nights = [ann("w1", day=day, followers=day, round_id=f"nightly-2026-01-{day}", **named) for day in (30, 31)]
    await store.save([*nights, make_post("w2", id="p1", text="t", author={"id": "1", "username": "nasa"})])
    async with store._engine.begin() as connection:
        await connection.execute(text("UPDATE observations SET crawl_id = 'nightly-2026-01-31'"))
    return store


@pytest.mark.parametrize("query", QUERIES, ids=name_of)
async def test_the_queries_run_as_they_are(filled, query):
    async with filled._engine.connect() as connection:
        assert (await connection.exec_driver_sql(query)).all()


async def test_the_history_query_tells_how_it_grew(filled):
    [query] = [query for query in QUERIES if "how it grew" in query]
    async with filled._engine.connect() as connection:
        assert [row[1] for row in (await connection.exec_driver_sql(query)).all()] == [30, 31]


@pytest.mark.parametrize("table", TABLES)
def test_all_columns_are_described(table):
    described = PAGE[PAGE.index(f"**`{table}`**") :].split("\n\n")[1]
    first_cells = " ".join(line.split("|")[1] for line in described.splitlines())
    assert set(re.findall(r"`(\w+)`", first_cells)) == set(metadata.tables[table].columns.keys())


async def test_a_copy_that_sqlite_makes_while_items_are_stored_is_whole(sqlite_url, open_store, ann, tmp_path):
    async with open_store(sqlite_url) as store:
        await store.save([ann("a", id="1")])
        with closing(sqlite3.connect(store._place.path)) as source, closing(sqlite3.connect(tmp_path / "c.db")) as copy:
            async with store._engine.begin() as connection:
                await connection.execute(text("DELETE FROM observations"))
                source.backup(copy)
        await store.save([ann("b", id="2")])
    async with open_store(f"sqlite:///{tmp_path}/c.db") as store:
        assert [state.values["id"] for state in await store.states()] == ["1"]
        assert len(await store.history("instagram", "profile", "1")) == 1
        await store.save([ann("b", id="2")])


async def test_after_the_first_crawl_reading_and_writing_rows_is_all_that_a_user_needs(postgres_url, open_store, ann):
    async with open_store(postgres_url) as store, store._engine.begin() as connection:
        tables = ", ".join([*TABLES, VERSION_TABLE])
        role = (
            f"writer_{postgres_url.partition('@/')[2].partition('?')[0]}"  # roles are the server's, not the database's
        )
        await connection.execute(text(f"CREATE ROLE {role} LOGIN"))
        await connection.execute(text(f"GRANT SELECT, INSERT, UPDATE ON {tables} TO {role}"))
        await connection.execute(text("REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
    async with open_store(postgres_url.replace("postgres@", f"{role}@")) as store:
        await store.save([ann("a", followers=1)])
        await store.save([ann("a", day=2, followers=2)])
        assert (await store.state("instagram", "profile", "7")).values["followers"] == 2


async def test_the_search_path_names_the_schema(postgres_url, open_store, ann):
    async with open_store(postgres_url) as store, store._engine.begin() as connection:
        await connection.execute(text("CREATE SCHEMA crawls"))
    async with open_store(f"{postgres_url}&options=-csearch_path%3Dcrawls") as store:
        await store.save([ann("a")])
    async with open_store(postgres_url) as store, store._engine.connect() as connection:
        counts = [
            (await connection.execute(text(f"SELECT count(*) FROM {schema}.items"))).scalar()
            for schema in ("crawls", "public")
        ]
    assert counts == [1, 0]
