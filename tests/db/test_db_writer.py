"""The writer of batches on real databases: who waits for what, and what a slow database does to a crawl."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, closing

import pytest
from sqlalchemy import text

from fetchworker.db.batches import BatchWriter
from fetchworker.errors import RefusedError

SIZE = 4


@asynccontextmanager
async def busy(store):
    """Another program keeps the tables to itself."""
    if store._place.path is not None:
        with closing(sqlite3.connect(store._place.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    async with store._engine.begin() as other:
        await other.execute(text("LOCK TABLE items IN ACCESS EXCLUSIVE MODE"))
        yield


@pytest.fixture
def make_writer(store):
    started = asyncio.Event()

    async def save(batch):
        started.set()
        await store.save(batch)

    def make(delay=0.001):
        made = BatchWriter(save, size=SIZE, delay=delay)
        made.started = started
        return made

    return make


async def stored(store) -> int:
    return len(await store.states(limit=1000))


async def test_who_writes_goes_on_when_others_can_see_it(store, open_store, url, make_writer, ann):
    writer = make_writer()
    async with open_store(url) as other:
        await writer.write(ann("a"))
        assert await stored(other) == 1
    await writer.close()


async def test_while_the_database_is_busy_three_batches_are_held_at_most(store, make_writer, ann):
    writer = make_writer()
    async with busy(store):
        writes = [asyncio.create_task(writer.write(ann(f"w{n}", id=str(n)))) for n in range(10 * SIZE)]
        await writer.started.wait()
        for _ in range(200):
            await asyncio.sleep(0)
        assert not any(write.done() for write in writes)
        assert len(writer._waiting) <= 2 * SIZE, "beside the batch on its way"
    await asyncio.gather(*writes)
    assert (await stored(store), writer.stored, writer.batches) == (10 * SIZE, 10 * SIZE, 10)
    await writer.close()


async def test_one_refused_item_leaves_the_others_of_its_batch(store, make_writer, ann):
    async with store._engine.begin() as connection:
        rule = (
            "ALTER TABLE items ADD CONSTRAINT f CHECK (id <> '2')"
            if connection.dialect.name == "postgresql"
            else "CREATE TRIGGER f BEFORE INSERT ON items WHEN NEW.id = '2' BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        await connection.execute(text(rule))
    writer = make_writer(delay=60)
    ends = await asyncio.gather(*(writer.write(ann(f"w{n}", id=str(n))) for n in range(SIZE)), return_exceptions=True)
    assert [type(end) for end in ends] == [type(None), type(None), RefusedError, type(None)]
    assert await stored(store) == SIZE - 1
    await writer.close()


async def test_closing_stores_what_waits(store, make_writer, ann):
    writer = make_writer(delay=60)
    writes = [asyncio.create_task(writer.write(ann(f"w{n}", id=str(n)))) for n in range(SIZE - 1)]
    await asyncio.sleep(0)
    await writer.close()
    await asyncio.gather(*writes)
    assert await stored(store) == SIZE - 1


async def test_a_batch_of_nothing_is_nothing(store):
    await store.save([])
    assert await stored(store) == 0


@pytest.mark.slow
async def test_the_largest_batch_is_stored_and_joined(store, ann):
    """As large as FETCHWORKER_STORE_BATCH may be: databases limit the values of a statement."""
    for day in (1, 2):
        await store.save([ann(f"w{n}-{day}", day=day, id=str(n), site=f"s{n % 11}") for n in range(5000)])
    states = await store.states(limit=10_000)
    assert len(states) == 5000
    assert {state.last_seen[:10] for state in states} == {"2026-01-02"}
