"""Background tasks end, whatever becomes of their cancellation."""

from __future__ import annotations

import asyncio

from fetchworker.tasks import end, within


async def forever(begun: asyncio.Event) -> None:
    begun.set()
    await asyncio.Event().wait()


async def test_tasks_are_cancelled_and_waited_for():
    begun = asyncio.Event()
    task = asyncio.create_task(forever(begun))
    await begun.wait()
    await end(task, None)
    assert task.cancelled()
    await end(task)


async def test_a_lost_cancellation_is_made_again():
    begun, lost = asyncio.Event(), []

    async def loses() -> None:
        try:
            await forever(begun)
        except asyncio.CancelledError as exc:
            lost.append(exc)
        await asyncio.Event().wait()

    task = asyncio.create_task(loses())
    await begun.wait()
    await end(task, again=0.01)
    assert task.cancelled()
    assert len(lost) == 1


async def test_a_task_that_broke_is_told_of(caplog):
    async def breaks() -> None:
        raise ValueError("no such thing")

    task = asyncio.create_task(breaks())
    await asyncio.wait([task])
    await end(task)
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert "no such thing" in caplog.text


async def test_the_time_to_clear_up_is_given():
    begun, cleared = asyncio.Event(), asyncio.Event()

    async def clears_up() -> None:
        try:
            await forever(begun)
        finally:
            await asyncio.sleep(0)
            cleared.set()

    task = asyncio.create_task(clears_up())
    await begun.wait()
    await end(task, again=60)
    assert cleared.is_set()


async def test_a_part_of_an_ending_that_never_ends_is_left():
    assert not await within(0.01, asyncio.Event().wait(), "forever")
    assert await within(5, asyncio.sleep(0), "at once")
