"""What every database must do with items; each kind of database has a class at the end."""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from fetchworker.db.fields import text_of
from fetchworker.db.merge import join
from fetchworker.db.observation import fold
from fetchworker.errors import RefusedError, StorageError

KEY = ("instagram", "profile", "7")


async def count(store, table: str) -> int:
    async with store._engine.connect() as connection:
        return (await connection.execute(text(f"SELECT count(*) FROM {table}"))).scalar_one()


async def rows(store, query: str) -> list[tuple]:
    async with store._engine.connect() as connection:
        return [tuple(row) for row in (await connection.execute(text(query))).all()]


authors = st.fixed_dictionaries(
    {
        "id": st.sampled_from([None, "1", "2"]),
        "username": st.sampled_from([None, "a", "b"]),
        "name": st.none() | st.just("N"),
    }
)
posts = st.fixed_dictionaries(
    {"likes": st.none() | st.integers(0, 9), "author": st.none() | authors, "hashtags": st.sampled_from([[], ["x"]])}
)


class StoreContract:
    """The tests; ``url`` is the fixture that differs."""

    # ── what is known ────────────────────────────────────────────────────────────────────────────────────────────

    async def test_a_first_item_is_stored_whole(self, store, ann):
        seen = ann(
            "a", followers=5, username="ann", links=[{"title": "t", "url": "u"}], extra={"raw": {"x": [1, None]}}
        )
        await store.save([seen])
        state = await store.state(*KEY)
        assert state == seen.told
        assert state.values["links"] == [{"title": "t", "url": "u"}]
        assert state.seen["extra"] == {"raw": {"x": "2026-01-01T10:00:00Z"}}
        assert await store.history(*KEY) == [seen.told.values]

    async def test_nothing_known_is_none(self, store):
        assert await store.state(*KEY) is None
        assert await store.states() == []
        assert await store.history(*KEY) == []

    async def test_an_unknown_value_keeps_the_known_one_and_its_date(self, store, ann):
        await store.save([ann("a", day=1, followers=5, name="Ann", links=[{"url": "u"}])])
        await store.save([ann("b", day=2, followers=None, name="Anna", links=[])])
        state = await store.state(*KEY)
        assert (state.values["followers"], state.seen["followers"]) == (5, "2026-01-01T10:00:00Z")
        assert (state.values["name"], state.seen["name"]) == ("Anna", "2026-01-02T10:00:00Z")
        assert state.values["links"] == [{"title": None, "url": "u"}]
        assert (state.first_seen, state.last_seen) == ("2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z")
        assert state.values["item_id"] == "b"
        assert [item["followers"] for item in await store.history(*KEY)] == [None, 5], "history is what was observed"

    async def test_an_older_item_that_comes_late_changes_only_what_is_unknown(self, store, ann):
        await store.save([ann("b", day=2, followers=6)])
        await store.save([ann("a", day=1, followers=5, name="Ann")])
        state = await store.state(*KEY)
        assert (state.values["followers"], state.values["name"]) == (6, "Ann")
        assert (state.values["item_id"], state.last_seen) == ("b", "2026-01-02T10:00:00Z")
        assert state.first_seen == "2026-01-01T10:00:00Z"

    async def test_items_of_one_batch_about_one_thing_are_joined(self, store, ann):
        await store.save([ann("a", day=1, followers=5), ann("c", day=3), ann("b", day=2, followers=6, name="Ann")])
        state = await store.state(*KEY)
        assert (state.values["followers"], state.values["name"], state.values["item_id"]) == (6, "Ann", "c")
        assert await count(store, "observations") == 3

    async def test_items_without_an_id_are_observations_only(self, store, make_post):
        await store.save([make_post("a", text="one"), make_post("b", text="two")])
        assert await count(store, "items") == 0
        assert await count(store, "observations") == 2

    async def test_sites_and_kinds_keep_their_things_apart(self, store, ann, make_post):
        await store.save([ann("a", followers=1), ann("b", followers=2, site="linktree"), make_post("c", id="7")])
        assert (await store.state("instagram", "profile", "7")).values["followers"] == 1
        assert (await store.state("linktree", "profile", "7")).values["followers"] == 2
        assert (await store.state("instagram", "post", "7")).values["kind"] == "post"

    async def test_the_latest_things_are_listed_first(self, store, ann):
        await store.save([ann(f"w{n}", day=n, id=str(n)) for n in (2, 9, 4)])
        await store.save([ann("x", day=5, id="5", site="linktree")])
        assert [state.values["id"] for state in await store.states()] == ["9", "5", "4", "2"]
        assert [state.values["id"] for state in await store.states(site="instagram", limit=2)] == ["9", "4"]
        assert await store.states(kind="post") == []

    # ── twice is once ────────────────────────────────────────────────────────────────────────────────────────────

    async def test_the_same_batch_twice_changes_nothing(self, store, ann, make_post):
        batch = [ann("a", day=1, followers=5), ann("b", day=2), make_post("c", text="t")]
        await store.save(batch)
        before = (
            await rows(store, "SELECT * FROM items"),
            await rows(store, "SELECT * FROM observations ORDER BY item_id"),
        )
        await store.save(batch)
        after = (
            await rows(store, "SELECT * FROM items"),
            await rows(store, "SELECT * FROM observations ORDER BY item_id"),
        )
        assert before == after

    async def test_the_same_work_done_again_is_one_observation_the_latest(self, store, ann):
        await store.save([ann("a", day=1, followers=5)])
        await store.save([ann("a", day=2, followers=6)])
        await store.save([ann("a", day=1, followers=5)])
        assert [item["followers"] for item in await store.history(*KEY)] == [6]
        assert (await store.state(*KEY)).values["followers"] == 6

    async def test_the_same_work_in_another_round_is_history(self, store, ann):
        for day in (1, 2, 2):
            await store.save([ann("a", day=day, followers=day, round_id=f"nightly-{day}")])
        assert [item["followers"] for item in await store.history(*KEY)] == [2, 1]

    # ── whole or not at all ──────────────────────────────────────────────────────────────────────────────────────

    async def test_a_refused_item_leaves_nothing_of_its_batch(self, store, ann):
        refused = await self.refused(store, ann)
        with pytest.raises(RefusedError):
            await store.save([ann("a", followers=5), refused, ann("z", id="9")])
        assert (await count(store, "items"), await count(store, "observations")) == (0, 0)
        await store.save([ann("a", followers=5)])
        assert await count(store, "items") == 1

    async def refused(self, store, ann):
        """An item that the database will not take, for a rule that the test adds."""
        async with store._engine.begin() as connection:
            await self.forbid(connection)
        return ann("forbidden", id="8")

    async def forbid(self, connection):
        raise NotImplementedError

    async def test_many_writers_at_once_lose_nothing(self, url, open_store, ann):
        batches = [
            [ann(f"w{n}-{k}", day=n, id=str(k), followers=n, name=f"n{n}") for k in range(8)] for n in range(1, 13)
        ]
        order = random.Random(5)
        for batch in batches:
            order.shuffle(batch)

        async def write(some):
            async with open_store(url) as store:
                for batch in some:
                    await store.save(batch)

        await asyncio.gather(*(write(batches[n::4]) for n in range(4)))
        async with open_store(url) as store:
            assert await count(store, "observations") == 96
            states = await store.states()
        assert len(states) == 8
        assert {(s.values["followers"], s.first_seen[:10], s.last_seen[:10]) for s in states} == {
            (12, "2026-01-01", "2026-01-12")
        }

    @settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(seen=st.lists(st.tuples(st.integers(1, 3), posts), min_size=1, max_size=6), data=st.data())
    async def test_batches_of_any_cut_and_order_tell_the_same(self, store, make_post, seen, data):
        thing = f"t{next(_things)}"
        parts = [make_post(f"{thing}-{n % 4}", day=day, id=thing, **values) for n, (day, values) in enumerate(seen)]
        expected = functools.reduce(join, [part.told for part in parts])
        latest: dict[str, tuple[str, str]] = {}
        for part in parts:
            latest[part.item_id] = max(latest.get(part.item_id, ("", "")), (part.told.last_seen, part.text))
        parts = data.draw(st.permutations(parts))
        cuts = sorted(data.draw(st.lists(st.integers(0, len(parts)), max_size=4)))
        for start, end in itertools.pairwise([0, *cuts, len(parts)]):
            if start < end:
                await store.save(parts[start:end])
        assert await store.state("instagram", "post", thing) == expected
        history = await store.history("instagram", "post", thing)
        assert sorted(map(text_of, history)) == sorted(text_of(json.loads(text)) for _, text in latest.values())

    # ── odd values ───────────────────────────────────────────────────────────────────────────────────────────────

    @pytest.mark.parametrize(
        "value", ["nul \x00 in it", "emoji 🙂", "quote ' \" \\ ;--", "line\nend\ttab", "e\u0301 \u202e", "x" * 100_000]
    )
    async def test_texts_come_back_as_they_were(self, store, ann, value):
        await store.save([ann("a", biography=value, extra={value[:20]: value[:20]})])
        state = await store.state(*KEY)
        assert state.values["biography"] == value
        assert state.values["extra"] == {value[:20]: value[:20]}

    async def test_numbers_come_back_as_they_were(self, store, ann):
        values = {"big": 2**80, "small": -1, "pi": 3.25, "none": None, "yes": True}
        await store.save([ann("a", followers=2**70, extra=values)])
        state = await store.state(*KEY)
        assert state.values["followers"] == 2**70
        assert state.values["extra"] == values

    async def test_an_id_with_a_nul_has_a_key(self, store, ann):
        await store.save([ann("a\x00b", id="7\x00", url="u\x00", operation="o\x00")])
        assert (await store.state("instagram", "profile", "7\ufffd")).values["id"] == "7\x00"

    async def test_times_in_columns_sort_and_are_utc(self, store, ann):
        for number, time in enumerate(["2026-01-01T10:00:00.5Z", "2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z"]):
            await store.save([ann(f"w{number}", id=str(number), fetched_at=time)])
        assert [state.last_seen for state in await store.states()] == [
            "2026-01-01T10:00:01Z",
            "2026-01-01T10:00:00.500000Z",
            "2026-01-01T10:00:00Z",
        ]


_things = itertools.count()


class TestSqlite(StoreContract):
    @pytest.fixture
    def url(self, sqlite_url):
        return sqlite_url

    async def forbid(self, connection):
        await connection.execute(
            text("CREATE TRIGGER f BEFORE INSERT ON items WHEN NEW.id = '8' BEGIN SELECT RAISE(ABORT, 'no'); END")
        )

    async def test_commits_are_synced(self, store):
        async with store._engine.connect() as connection:
            pragma = [
                (await connection.execute(text(f"PRAGMA {name}"))).scalar() for name in ("journal_mode", "synchronous")
            ]
        assert pragma == ["wal", 2]

    async def test_readers_do_not_wait_for_a_writer(self, store, ann):
        await store.save([ann("a", followers=1)])
        async with store._engine.begin() as connection:
            await connection.execute(text("UPDATE items SET item_id = 'b'"))
            assert (await store.state(*KEY)).values["item_id"] == "a"

    async def test_a_file_that_is_no_database_is_told(self, open_store, tmp_path):
        (tmp_path / "x.db").write_bytes(b"no database, " * 100)
        with pytest.raises(StorageError, match=r"x\.db.*not a database"):
            async with open_store(f"sqlite:///{tmp_path}/x.db"):
                pass

    async def test_a_folder_in_the_way_is_told(self, open_store, tmp_path):
        (tmp_path / "x.db").mkdir()
        with pytest.raises(StorageError, match=r"x\.db.*unable to open"):
            async with open_store(f"sqlite:///{tmp_path}/x.db"):
                pass
        (tmp_path / "file").touch()
        with pytest.raises(StorageError, match="file"):
            async with open_store(f"sqlite:///{tmp_path}/file/x.db"):
                pass


class TestPostgres(StoreContract):
    @pytest.fixture
    def url(self, postgres_url):
        return postgres_url

    async def forbid(self, connection):
        await connection.execute(text("ALTER TABLE items ADD CONSTRAINT f CHECK (id <> '8')"))

    async def test_json_can_be_asked(self, store, ann):
        await store.save([ann("a", followers=5)])
        assert await rows(store, "SELECT (item->>'followers')::int, seen->>'followers' FROM items") == [
            (5, "2026-01-01T10:00:00Z")
        ]

    async def test_an_id_longer_than_an_index_takes_is_refused(self, store, ann):
        noise = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=20_000))
        with pytest.raises(RefusedError):
            await store.save([ann("a", id=noise)])

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"demo-postgres-password": "wrong-password-1"}, "password authentication failed"),
            ({"/test": "/absent"}, "does not exist"),
        ],
    )
    async def test_a_wrong_login_is_told_at_once_and_without_the_password(self, postgres, open_store, change, told):
        url = postgres.url("test", tcp=True)
        for old, new in change.items():
            url = url.replace(old, new)
        with pytest.raises(StorageError, match=told) as caught:
            async with open_store(url, patience=600):
                pass
        assert "password-1" not in str(caught.value)
        assert "demo-postgres-password" not in str(caught.value)
        assert f"127.0.0.1:{postgres.port}" in str(caught.value)

    async def test_options_of_the_url_hold(self, postgres, postgres_url, open_store, ann):
        async with open_store(f"{postgres_url}&application_name=nightly") as store:
            assert await rows(store, "SHOW application_name") == [("nightly",)]


def test_a_batch_is_written_in_one_order(ann):
    batch = [ann(f"w{n}", id=str(n)) for n in (3, 1, 2)]
    folded = fold(batch)
    assert [key[2] for key in folded.states] == ["1", "2", "3"]
    assert [each.item_id for each in folded.observations] == ["w1", "w2", "w3"]
