"""What an item may hold: only what can be written to a file and to a database."""

from __future__ import annotations

import orjson
import pytest

from fetchworker.errors import ItemInvalidError
from fetchworker.items import LARGEST, Post, Product, plain, validate

STAMP = {"item_id": "i-0", "site": "s", "operation": "o", "fetched_at": "2026-01-31T10:00:00Z"}


def post(**values):
    return Post.draft(**STAMP, **values)


def test_the_largest_count_is_that_of_64_bits():
    assert validate(post(likes=LARGEST)).likes == LARGEST
    with pytest.raises(ItemInvalidError, match="likes"):
        validate(post(likes=LARGEST + 1))


@pytest.mark.parametrize("rating", [float("inf"), float("nan")])
def test_a_number_is_finite(rating):
    with pytest.raises(ItemInvalidError, match="rating"):
        validate(Product.draft(**STAMP, rating=rating))


@pytest.mark.parametrize(
    ("odd", "kept"), [("a\ud83d", "a?"), ({"a": [2**64]}, {"a": [str(2**64)]}), ({"\ud83d": 1}, {"?": 1})]
)
def test_a_site_s_own_values_are_kept_such_that_they_can_be_written(odd, kept):
    item = validate(post(extra={"odd": odd, "even": [1, "a"]}))
    assert item.extra == {"odd": kept, "even": [1, "a"]}
    assert orjson.loads(orjson.dumps(item.model_dump(mode="json")))["extra"] == item.extra


def test_what_is_kept_for_later_can_be_written():
    kept = plain(vars(post(text="a\ud83d", likes=2**70, extra={"\ud83d": [True, 1.5, {"far": -(2**70)}]})))
    assert (kept["text"], kept["likes"], kept["extra"]) == (
        "a?",
        str(2**70),
        {"?": [True, 1.5, {"far": str(-(2**70))}]},
    )
    assert orjson.loads(orjson.dumps(kept)) == kept
