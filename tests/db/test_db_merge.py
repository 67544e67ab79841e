"""The rule by which observations are joined: an unknown value never takes the place of a known one."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fetchworker.db.fields import MOST_STRANDS, text_of
from fetchworker.db.merge import ENVELOPE, Known, instant, join, known

EARLY = datetime(1000, 1, 1)  # noqa: DTZ001  # hypothesis wants it so
UNKNOWN = (None, [], {})

leaves = st.sampled_from([None, [], {}, 0, False, "", "a", "b", 5, [1], ["x", "y"]])
# objects that are told apart and that are not, and things that are an object at one time and a text at another
identities = {"id": st.sampled_from([None, "", "1", "2", 1]), "username": st.sampled_from([None, "a", "b"])}
things = st.fixed_dictionaries({}, optional=identities | {"name": leaves, "p": leaves})
objects = things | st.fixed_dictionaries({}, optional=identities | {"name": things | leaves, "q": things | leaves})
values = st.fixed_dictionaries(
    {},
    optional={
        "followers": leaves,
        "name": leaves,
        "links": leaves,
        "author": objects | leaves,
        "extra": st.fixed_dictionaries({}, optional={"id": leaves, "x": leaves | objects, "deep": objects}),
    },
)


def item(at: int, fields: dict[str, Any]) -> dict[str, Any]:
    """An observation's values at a second."""
    stamp = f"2026-01-01T00:{at // 60:02d}:{at % 60:02d}Z"
    return {"kind": "profile", "item_id": f"w{at}", "fetched_at": stamp, "partial": None, **fields}


def seen(at: int, fields: dict[str, Any]) -> Known:
    return known(item(at, fields), crawl_id=f"c{at}")


def joined(parts: list[Known]) -> Known:
    result = parts[0]
    for part in parts[1:]:
        result = join(result, part)
    return result


def told(result: Known) -> str:
    """All that it is, but for the order of the names; ``0`` is not ``False``."""
    return text_of([result.values, result.seen, result.first_seen, result.last_seen, result.crawl_id, result.strands])


observed = st.lists(values, min_size=1, max_size=6).map(lambda all_: [seen(n, each) for n, each in enumerate(all_)])
# all that one page tells has one time
at_any_time = st.lists(st.tuples(st.integers(0, 3), values), min_size=1, max_size=6).map(
    lambda all_: [seen(at, each) for at, each in all_]
)
# a busy machine is no fault of the rule
unhurried = settings(deadline=None)


@unhurried
@given(at_any_time)
def test_joining_twice_changes_nothing(parts):
    result = joined(parts)
    assert told(join(result, result)) == told(result)
    assert told(joined([result, *parts])) == told(result)


@unhurried
@given(at_any_time, st.randoms())
def test_the_order_of_arrival_does_not_matter(parts, random):
    shuffled = list(parts)
    random.shuffle(shuffled)
    assert told(joined(shuffled)) == told(joined(parts))


@unhurried
@given(at_any_time, st.data())
def test_how_they_are_grouped_does_not_matter(parts, data):
    cut = data.draw(st.integers(0, len(parts) - 1))
    left, right = parts[:cut], parts[cut:]
    grouped = join(joined(left), joined(right)) if left else joined(right)
    assert told(grouped) == told(joined(parts))


@unhurried
@given(observed)
def test_a_known_value_never_becomes_unknown(parts):
    result = joined(parts)
    for each in parts:
        for name, value in each.values.items():
            if name not in ENVELOPE and name in each.seen:
                assert name in result.seen, (name, value)
                assert result.values[name] not in UNKNOWN or result.values[name] is False


@unhurried
@given(observed)
def test_each_top_value_is_the_latest_known_one_with_its_date(parts):
    result = joined(parts)
    for name in ("followers", "name", "links"):
        with_it = [each for each in parts if name in each.seen]
        if with_it:
            assert result.values[name] == with_it[-1].values[name]
            assert result.seen[name] == with_it[-1].last_seen
        else:
            assert name not in result.seen
    assert result.crawl_id == parts[-1].crawl_id
    assert {name: result.values[name] for name in ENVELOPE if name in result.values} == {
        name: parts[-1].values[name] for name in ENVELOPE if name in parts[-1].values
    }


@unhurried
@given(observed)
def test_the_arguments_are_left_as_they_were(parts):
    before = repr(parts)
    joined(parts)
    assert repr(parts) == before


class TestObjects:
    def author(self, *observations: dict[str, Any]) -> dict[str, Any]:
        return joined([seen(n, {"author": each}) for n, each in enumerate(observations)]).values["author"]

    def test_parts_of_the_same_person_come_together(self):
        first = {"id": "1", "username": "ann", "name": None}
        assert self.author(first, {"id": "1", "username": None, "name": "Ann"}) == {
            "id": "1",
            "username": "ann",
            "name": "Ann",
        }

    def test_another_person_takes_the_place_whole(self):
        second = {"id": "2", "username": None, "name": None}
        assert self.author({"id": "1", "username": "ann", "name": "Ann"}, second) == second

    def test_a_new_name_of_the_same_id_is_the_same_person(self):
        assert self.author({"id": "1", "name": "Ann"}, {"id": "1", "name": "Anna"}) == {"id": "1", "name": "Anna"}

    def test_a_person_that_is_told_less_of_is_known_still(self):
        assert self.author({"id": "1", "username": "ann"}, {"id": None, "username": "ann"}) == {
            "id": "1",
            "username": "ann",
        }

    def test_no_order_makes_one_person_of_two(self):
        seen_parts = [{"id": "1", "name": "Ann"}, {"username": "bob"}, {"id": "2", "name": None}]
        for places in itertools.permutations(range(3)):
            result = joined([seen(place, {"author": seen_parts[place]}) for place in places])
            assert result.values["author"] == {"id": "2", "name": None, "username": "bob"}

    def test_who_comes_back_is_known_again(self):
        ann, bob = {"id": "1", "name": "Ann"}, {"id": "2", "name": "Bob"}
        assert self.author(ann, bob, {"id": "1", "name": None}) == ann

    def test_a_row_does_not_grow_with_every_new_identity(self):
        result = joined([seen(n, {"author": {"id": str(n), "name": "x"}}) for n in range(50)])
        assert len(result.strands["author"]) == MOST_STRANDS
        assert result.values["author"] == {"id": "49", "name": "x"}

    def test_what_the_site_says_beyond_the_model_is_joined_whatever_its_id(self):
        result = joined([seen(0, {"extra": {"id": 1, "x": 2}}), seen(1, {"extra": {"id": 3, "x": None}})])
        assert result.values["extra"] == {"id": 3, "x": 2}
        assert result.seen["extra"] == {"id": "2026-01-01T00:00:01Z", "x": "2026-01-01T00:00:00Z"}

    def test_a_value_that_becomes_an_object_is_the_later_one(self):
        assert joined([seen(0, {"name": "a"}), seen(1, {"name": {"p": 1}})]).values["name"] == {"p": 1}
        assert joined([seen(1, {"name": {"p": 1}}), seen(0, {"name": "a"})]).values["name"] == {"p": 1}


@pytest.mark.parametrize("value", [0, False, "", "0"])
def test_nought_is_known(value):
    assert joined([seen(0, {"followers": 5}), seen(1, {"followers": value})]).values["followers"] == value


def test_why_the_site_gave_less_belongs_to_the_observation():
    walled = seen(0, {}).values | {"partial": "logged_out_limit"}
    later = known(walled | {"fetched_at": "2026-01-01T00:00:09Z"}, crawl_id="c")
    assert join(seen(1, {}), later).values["partial"] == "logged_out_limit"
    assert join(later, seen(10, {})).values["partial"] is None


def test_of_two_at_the_same_time_one_stays_whichever_came_first():
    one, other = seen(3, {"name": "a"}), seen(3, {"name": "b"})
    assert join(one, other).values["name"] == join(other, one).values["name"] == "b"


def test_a_word_for_unknown_is_unknown():
    in_stock = known(item(0, {"availability": "in_stock"}), crawl_id="c")
    result = join(in_stock, known(item(1, {"availability": "unknown"}), crawl_id="c"))
    assert (result.values["availability"], result.seen["availability"]) == ("in_stock", "2026-01-01T00:00:00Z")
    assert join(result, known(item(2, {"availability": "ended"}), crawl_id="c")).values["availability"] == "ended"


class TestTimes:
    def test_all_spellings_have_one_form(self):
        assert instant("2026-01-31T10:00:00Z") == "2026-01-31T10:00:00Z"
        assert instant("2026-01-31T10:00:00.000Z") == "2026-01-31T10:00:00Z"
        assert instant("2026-01-31T10:00:00.5Z") == "2026-01-31T10:00:00.500000Z"
        assert instant("2026-01-31T11:00:00+01:00") == "2026-01-31T10:00:00Z"

    @given(st.lists(st.datetimes(min_value=EARLY), min_size=2, max_size=2))
    def test_they_sort_as_texts(self, moments):
        early, late = sorted(moments)
        texts = [instant(f"{moment.isoformat()}Z") for moment in (early, late)]
        merged = [
            known(item(0, {"name": n}) | {"fetched_at": t}, crawl_id="c") for n, t in zip("ab", texts, strict=True)
        ]
        for order in itertools.permutations(merged):
            assert joined(list(order)).last_seen == texts[1]
            assert joined(list(order)).first_seen == texts[0]

    @pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T99:00:00Z"])
    def test_what_is_none_is_told(self, text):
        with pytest.raises(ValueError, match=r"isoformat|must be in|month"):
            instant(text)
