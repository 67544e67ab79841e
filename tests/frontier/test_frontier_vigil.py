"""Patience with a Redis that is away: one warning, another try each time it answers, and an end."""

from __future__ import annotations

import logging

import pytest

from fetchworker.errors import RedisUnavailableError
from fetchworker.frontier.vigil import Vigil


async def answers(limit: float) -> None:
    pass


def made(look=answers, *, patience=30.0) -> tuple[Vigil, list]:
    changes: list = []
    vigil = Vigil(look, patience=patience, changed=lambda: changes.append(vigil.lost))
    return vigil, changes


async def test_work_is_tried_again_until_it_is_done_and_one_warning_is_given(caplog):
    caplog.set_level(logging.INFO)
    vigil, changes = made()
    errors = [OSError("gone"), RedisUnavailableError("no Redis"), ConnectionError("gone")]

    async def work() -> str:
        if errors:
            raise errors.pop(0)
        return "done"

    assert await vigil.patiently(work) == "done"
    assert changes == [None] * 3
    vigil.well()
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert vigil.up


async def test_one_that_stays_away_is_lost(caplog):
    async def silence(limit: float) -> None:
        raise RedisUnavailableError("no Redis at all")

    vigil, changes = made(silence)
    vigil.failed(OSError("gone"))
    with pytest.raises(RedisUnavailableError, match="at all"):
        await vigil.wait()
    assert changes == [vigil.lost]
    assert not vigil.up
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]


async def test_one_that_answers_and_is_of_no_use_is_lost_in_the_end():
    vigil, _ = made(patience=0)

    async def full() -> None:
        raise OSError("MISCONF Errors writing to the AOF file")

    with pytest.raises(RedisUnavailableError, match=r"of no use for 0 s: .*MISCONF"):
        await vigil.patiently(full)


async def test_a_look_that_breaks_lets_nobody_wait_for_ever():
    async def broken(limit: float) -> None:
        raise KeyError("bug")

    vigil, _ = made(broken)
    vigil.failed(OSError("gone"))
    with pytest.raises(RedisUnavailableError, match="KeyError"):
        await vigil.wait()
