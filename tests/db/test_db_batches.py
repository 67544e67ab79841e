"""The writer that gathers batches: what waits, what is stored, and who hears of errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fetchworker.db.batches import BatchWriter
from fetchworker.errors import RefusedError, StorageError


class Database:
    """Keeps batches; holds each one until it is let go, when told to."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.refused: set[str] = set()
        self.error: BaseException | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.called = asyncio.Event()

    @property
    def stored(self) -> list[str]:
        return [name for batch in self.batches for name in batch]

    async def save(self, batch: list[Any]) -> None:
        self.called.set()
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        if self.refused & set(batch):
            raise RefusedError("refused")
        self.batches.append(list(batch))


@pytest.fixture
async def database():
    return Database()


def writer(database: Database, size: int = 4, delay: float = 0) -> BatchWriter:
    return BatchWriter(database.save, size=size, delay=delay)


async def all_of(made: BatchWriter, names: str) -> list[BaseException | None]:
    return await asyncio.gather(*(made.write(name) for name in names), return_exceptions=True)


async def test_a_write_returns_when_its_batch_is_stored(database):
    made = writer(database)
    database.gate.clear()
    write = asyncio.create_task(made.write("a"))
    await database.called.wait()
    assert not write.done()
    database.gate.set()
    await write
    assert database.stored == ["a"]
    await made.close()


async def test_what_comes_together_is_stored_together_in_its_order(database):
    made = writer(database, size=4, delay=60)
    assert await all_of(made, "abcdefgh") == [None] * 8
    assert database.batches == [list("abcd"), list("efgh")]
    assert (made.stored, made.batches) == (8, 2)
    await made.close()


async def test_a_batch_that_is_not_full_goes_after_its_time(database):
    made = writer(database, size=100, delay=0.001)
    assert await all_of(made, "abc") == [None] * 3
    assert database.batches == [list("abc")]
    await made.close()


async def test_what_comes_while_a_batch_is_stored_waits_for_the_next(database):
    made = writer(database, size=10)
    database.gate.clear()
    first = asyncio.create_task(made.write("a"))
    await database.called.wait()
    later = asyncio.gather(*(made.write(name) for name in "bcd"))
    await asyncio.sleep(0)
    database.gate.set()
    await asyncio.gather(first, later)
    assert database.batches == [["a"], ["b", "c", "d"]]
    await made.close()


async def test_writers_wait_for_room(database):
    made = writer(database, size=2)
    database.gate.clear()
    writes = [asyncio.create_task(made.write(str(n))) for n in range(20)]
    await database.called.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(made._waiting) <= 4, "two batches wait at most, beside the one on its way"
    database.gate.set()
    await asyncio.gather(*writes)
    assert sorted(database.stored, key=int) == [str(n) for n in range(20)]
    await made.close()


async def test_closing_stores_what_waits(database):
    made = writer(database, size=100, delay=60)
    writes = [asyncio.create_task(made.write(name)) for name in "abc"]
    await asyncio.sleep(0)
    await made.close()
    await asyncio.gather(*writes)
    assert database.batches == [list("abc")]


async def test_closing_a_writer_that_wrote_nothing(database):
    await writer(database).close()
    assert database.batches == []


async def test_one_refused_item_does_not_take_the_others_with_it(database):
    made = writer(database, size=8, delay=60)
    database.refused = {"c", "f"}
    ends = await all_of(made, "abcdefgh")
    assert [type(end) for end in ends if end is not None] == [RefusedError] * 2
    assert [name for name, end in zip("abcdefgh", ends, strict=True) if end] == ["c", "f"]
    assert database.stored == list("abdegh")
    database.refused = set()
    assert await all_of(made, "abcdefgh") == [None] * 8, "and it goes on"
    await made.close()


async def test_an_error_reaches_all_who_wait_and_all_who_come(database):
    made = writer(database, size=2, delay=0)
    database.error = StorageError("disk full")
    ends = await all_of(made, "abcdefghij")
    assert [(type(end), str(end)) for end in ends] == [(StorageError, "disk full")] * 10
    assert len({id(end) for end in ends}) == 10, "each has an error of its own"
    database.error = None
    with pytest.raises(StorageError, match="disk full"):
        await made.write("k")
    await made.close()
    assert database.batches == []


async def test_a_fault_of_the_code_does_not_leave_anybody_waiting(database, caplog):
    made = writer(database)
    database.error = ZeroDivisionError("oops")
    ends = await all_of(made, "ab")
    assert [str(end) for end in ends] == ["storing failed: ZeroDivisionError('oops')"] * 2
    assert "ZeroDivisionError" in caplog.text
    await made.close()


async def test_a_writer_that_is_cancelled_disturbs_nobody(database):
    made = writer(database, size=10)
    database.gate.clear()
    writes = [asyncio.create_task(made.write(name)) for name in "abc"]
    await database.called.wait()
    writes[1].cancel()
    await asyncio.sleep(0)
    database.gate.set()
    ends = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(end) for end in ends] == [type(None), asyncio.CancelledError, type(None)]
    assert await all_of(made, "d") == [None]
    await made.close()
