"""Lines of jobs: rows, and lines that are none."""

from __future__ import annotations

import json

import hypothesis.strategies as st
from hypothesis import given

from fetchworker.runs.lines import KEPT, cut


def test_whole_lines_are_read_and_a_half_one_waits():
    data = b'{"item_id": "a", "kind": "post", "site": "s"}\n{"item_id": "b"}\n{"item_id": "c'
    made = cut(data, 100, job_id="j", whole=False)
    assert [(row.item_id, row.kind, row.site, row.offset) for row in made.rows] == [
        ("a", "post", "s", 100),
        ("b", None, None, 146),
    ]
    assert (made.end, made.refused) == (100 + data.rindex(b"\n") + 1, [])


def test_a_half_line_that_nobody_will_end_is_refused():
    data = b'{"item_id": "a"}\n{"item_id": "c"}'
    made = cut(data, 0, job_id="j", whole=True)
    assert (len(made.rows), made.end) == (1, len(data))
    [line] = made.refused
    assert (line.offset, line.length, line.line) == (17, 16, b'{"item_id": "c"}')
    assert "no end" in line.reason


def test_blank_lines_are_nothing():
    made = cut(b'\n  \n{"item_id": "a"}\n\n   ', 0, job_id="j", whole=True)
    assert (len(made.rows), made.refused, made.end) == (1, [], 25)


def test_what_is_no_object_is_refused_and_says_why():
    made = cut(b'{"a": \n[1]\n"x"\n\xff\xfe\n{"item_id": "a"}\n', 0, job_id="j", whole=False)
    assert [line.reason.partition(":")[0] for line in made.refused] == [
        "it is not JSON",
        "it is JSON, but no object",
        "it is JSON, but no object",
        "it is not JSON",
    ]
    assert [row.item_id for row in made.rows] == ["a"]


def test_of_a_long_refused_line_the_beginning_is_kept():
    [line] = cut(b"x" * 200_000 + b"\n", 0, job_id="j", whole=False).refused
    assert (line.length, len(line.line)) == (200_000, KEPT)


def test_a_line_without_an_id_has_one_of_its_job_and_its_text():
    data = b'{"title": "x"}\n{"title": "y"}\n{"title": "x"}\n{"item_id": 7}\n{"item_id": ""}\n'
    first, second, third, *odd = cut(data, 0, job_id="j1", whole=False).rows
    assert first.item_id == third.item_id != second.item_id
    assert all(row.item_id.startswith("j1/") for row in (first, *odd))
    assert cut(data, 900, job_id="j1", whole=False).rows[0].item_id == first.item_id
    assert cut(data, 0, job_id="j2", whole=False).rows[0].item_id != first.item_id


def test_a_nul_has_no_place_in_a_column_and_stays_in_the_item():
    [row] = cut(b'{"item_id": "a\\u0000b", "kind": "k\\u0000"}\n', 0, job_id="j", whole=False).rows
    assert (row.item_id, row.kind) == ("a\ufffdb", "k\ufffd")
    assert json.loads(row.text)["item_id"] == "a\x00b"


@given(
    st.lists(st.sampled_from([b'{"item_id": "a"}', b'{"item_id": "b"}', b"", b"[]", b"{", b'{"x": "\xc3\xa9"}'])),
    st.lists(st.integers(1, 30), min_size=1),
)
def test_however_the_bytes_come_in_the_same_is_found(lines, sizes):
    data = b"\n".join(lines)
    whole = cut(data, 0, job_id="j", whole=True)
    rows, refused, offset, end, turn = [], [], 0, 0, 0
    while end < len(data):
        end = min(len(data), end + sizes[turn % len(sizes)])
        turn += 1
        made = cut(data[offset:end], offset, job_id="j", whole=end == len(data))
        rows, refused, offset = rows + made.rows, refused + made.refused, made.end
    assert (rows, refused, offset) == (whole.rows, whole.refused, whole.end)


def nested(depth: int) -> bytes:
    """An item with so many objects within each other, itself included."""
    return b'{"item_id":"a","x":' + b'{"x":' * (depth - 1) + b"1" + b"}" * depth + b"\n"


def test_a_line_that_is_nested_too_deep_is_refused_and_says_so():
    wide = b'{"item_id":"w","x":[' + b"{}," * 500 + b"{}]}\n"
    made = cut(nested(200) + nested(201) + nested(5000) + wide, 0, job_id="j", whole=True)
    assert [row.item_id for row in made.rows] == ["a", "w"]
    assert [line.reason for line in made.refused] == ["more than 200 objects and lists lie in each other"] * 2
