from __future__ import annotations

import asyncio
import contextvars

import pytest

from fetchworker.telemetry import attribution
from fetchworker.telemetry.attribution import bind, bound, current, from_meta, set_process, unbind


@pytest.fixture(autouse=True)
def _no_process_fields():
    yield
    set_process(**dict.fromkeys(attribution.FIELDS))


def test_fields_hold_inside_the_block_only():
    assert current() == {}
    with bound(request_id="r1", site="shop"):
        assert current() == {"request_id": "r1", "site": "shop"}
    assert current() == {}


def test_blocks_nest_and_none_changes_nothing():
    with bound(request_id="r1", site="shop"):
        with bound(site="other", session="s1", request_id=None):
            assert current() == {"request_id": "r1", "session": "s1", "site": "other"}
        assert current() == {"request_id": "r1", "site": "shop"}


def test_the_block_ends_also_by_an_exception():
    with pytest.raises(ZeroDivisionError), bound(site="shop"):
        raise ZeroDivisionError
    assert current() == {}


def test_all_six_fields_can_be_bound():
    fields = {name: name.upper() for name in attribution.FIELDS}
    with bound(**fields):
        assert current() == fields
        assert list(current()) == list(attribution.FIELDS)


async def test_requests_side_by_side_do_not_mix():
    seen = {}
    meet = asyncio.Barrier(3)

    async def fetch(name):
        with bound(request_id=name):
            await meet.wait()
            seen[name] = current()["request_id"]
            await meet.wait()
        return current()

    assert await asyncio.gather(*map(fetch, "abc")) == [{}, {}, {}]
    assert seen == {"a": "a", "b": "b", "c": "c"}


async def test_a_task_inherits_the_fields_and_keeps_them():
    go = asyncio.Event()

    async def later():
        await go.wait()
        return current()

    with bound(request_id="r1"):
        task = asyncio.create_task(later())
        await asyncio.sleep(0)
    go.set()
    assert await task == {"request_id": "r1"}


def test_a_token_takes_back_what_it_bound():
    token = bind({"site": "shop"})
    assert current() == {"site": "shop"}
    unbind(token)
    assert current() == {}


def test_a_token_of_another_context_does_nothing():
    token = contextvars.copy_context().run(bind, {"site": "shop"})
    with bound(site="mine"):
        unbind(token)
        assert current() == {"site": "mine"}


def test_process_fields_stand_under_those_of_the_request():
    set_process(crawl_id="c1", trace_id="t1")
    with bound(trace_id="t2"):
        assert current() == {"trace_id": "t2", "crawl_id": "c1"}
    set_process(crawl_id=None)
    assert current() == {"trace_id": "t1"}


def test_an_unknown_process_field_is_an_error():
    with pytest.raises(TypeError, match="no such field: crawlid; known: request_id"):
        set_process(crawlid="c1")


def test_a_request_s_meta_tells_its_fields():
    meta = {"fw_request_id": "r1", "fw_session": "s1", "fw_call": {"operation": "profile"}, "depth": 1}
    assert from_meta(meta, "shop") == {"request_id": "r1", "session": "s1", "site": "shop", "operation": "profile"}
    assert from_meta({}) == {}
    assert from_meta({"fw_call": "odd", "fw_trace_id": 7}) == {"trace_id": "7"}
