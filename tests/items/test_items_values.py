"""What an item may hold: only what can be written to a file and to a database."""

from __future__ import annotations

import orjson
import pytest

from fetchworker.errors import ItemInvalidError
from fetchworker.items import Post, Product, plain, validate

STAMP = {"item_id": "i-0", "site": "s", "operation": "o", "fetched_at": "2026-01-31T10:00:00Z"}


def post(**values):
    return Post.draft(**STAMP, **values)


@pytest.mark.parametrize("rating", [float("inf"), float("nan")])
def test_a_number_is_finite(rating):
    with pytest.raises(ItemInvalidError, match="rating"):
        validate(Product.draft(**STAMP, rating=rating))


def test_what_is_kept_for_later_can_be_written():
    kept = plain(vars(post(text="a\ud83d", likes=2**70, extra={"\ud83d": [True, 1.5, {"far": -(2**70)}]})))
    assert (kept["text"], kept["likes"], kept["extra"]) == (
        "a?",
        str(2**70),
        {"?": [True, 1.5, {"far": str(-(2**70))}]},
    )
    assert orjson.loads(orjson.dumps(kept)) == kept
