"""Requests through the queue: every value back as it was, nothing that is code, nothing of one try."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.utils.request import request_from_dict

from fetchworker.frontier import codec

keys = st.text(max_size=8).filter(lambda key: not key.startswith("$b"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(keys, values, max_size=4), st.binary(max_size=50))
def test_round_trip(meta, body):
    request = Request(
        "https://shop.example/a?b=%2F", method="POST", body=body, headers={"X-A": ["1", "2"]}, meta=meta, priority=3
    )
    back = request_from_dict(codec.loads(codec.dumps(request.to_dict())))
    assert back.body == body
    assert back.meta == {key: value for key, value in meta.items() if key not in codec.VOLATILE}
    assert back.headers == request.headers
    assert (back.url, back.method, back.priority) == (request.url, "POST", 3)


def test_what_belongs_to_one_try_is_left_out():
    request = Request("https://shop.example/", meta={"fw_wire": object(), "fw_session": "s"})
    assert codec.loads(codec.dumps(request.to_dict()))["meta"] == {"fw_session": "s"}


def test_a_value_that_is_no_json_is_named():
    with pytest.raises(TypeError, match=r"request\.meta\.cart\[1\] is a set"):
        codec.dumps(Request("https://shop.example/", meta={"cart": [1, {2}]}).to_dict())


def test_a_key_that_could_be_mistaken_is_refused():
    with pytest.raises(TypeError, match=r"\$bytes"):
        codec.dumps(Request("https://shop.example/", meta={"$bytes": "x"}).to_dict())


def test_it_is_json_and_nothing_else():
    raw = codec.dumps(Request("https://shop.example/").to_dict())
    assert orjson.loads(raw)["url"] == "https://shop.example/"
    with pytest.raises(orjson.JSONDecodeError):
        codec.loads(b"\x80\x04\x95")
