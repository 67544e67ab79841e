"""Odd items, on both kinds of database: stored as they were, or refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from fetchworker.errors import ItemInvalidError

KEY = ("instagram", "profile", "7")


def deep(levels: int, value: Any) -> dict[str, Any]:
    for _ in range(levels):
        value = {"d": value}
    return {"deep": value}


@pytest.mark.parametrize(
    "values",
    [
        {"biography": "\x00", "extra": {"\x00": ["\x00", {"\x00": "\x00"}]}},
        {"biography": "🙂" * 2_500_000},  # 10 MB
        {"followers": 2**64, "extra": {"big": 2**63, "bigger": 10**400, "small": -(2**100)}},
        {"extra": {"numbers": [1e308, -0.0, 5e-324, 0.1]}},
        {"extra": deep(240, 1)},
        {"extra": {"": {"": ""}, "a.b": 1, "$ref": 2, "__proto__": {"x": 3}}},
        {"name": "'; DROP TABLE items; --", "extra": {"%s": "%(x)s", ":name": "?"}},
    ],
    ids=["nul", "10-mb", "beyond-64-bit", "floats", "deep", "names", "sql"],
)
async def test_what_json_can_hold_comes_back_as_it_was(store, ann, values):
    first, again = ann("a", day=1, **values), ann("b", day=2, **values)
    await store.save([first])
    assert await store.state(*KEY) == first.told
    await store.save([again])
    assert (await store.state(*KEY)).values == again.told.values
    assert await store.history(*KEY) == [again.told.values, first.told.values]


async def test_deep_objects_are_joined_to_their_ends(store, ann):
    await store.save([ann("a", day=1, extra=deep(240, {"x": 1, "y": 1}))])
    await store.save([ann("b", day=2, extra=deep(240, {"x": None, "y": 2}))])
    assert (await store.state(*KEY)).values["extra"] == deep(240, {"x": 1, "y": 2})


@pytest.mark.parametrize(
    "values",
    [
        {"biography": "half a pair: \ud83d"},
        {"id": "7\ud800"},
        {"extra": deep(5_000, 1)},
        {"extra": {"number": 10**5_000}},
        {"extra": {"bytes": b"\xff"}},
        {"fetched_at": "2026-13-01T10:00:00Z"},
    ],
    ids=[
        "surrogate",
        "surrogate-in-the-id",
        "too-deep",
        "too-long-a-number",
        "bytes",
        "no-time",
    ],
)
def test_what_json_cannot_hold_is_refused_before_it_meets_others(ann, values):
    with pytest.raises(ItemInvalidError, match="profile: cannot be stored"):
        ann("a", **values)


async def test_half_a_pair_in_a_name_becomes_the_sign_for_it(store, ann):
    await store.save([ann("a", extra={"x\ud800": 1})])
    assert set((await store.state(*KEY)).values["extra"]) == {"x" + "\ufffd" * 3}
