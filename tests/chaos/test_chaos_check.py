"""The chaos run would see a loss: its own judgement, on runs made up here."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def judge(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import _chaos_check

    return _chaos_check


@pytest.fixture
def tree(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    from _chaos_tree import Tree

    return Tree(100, faults=0.3, seed=4)


class TestRepeats:
    def repeats(self, judge, answers, *disturbances):
        return judge._repeats(answers, [judge.Disturbance(*each) for each in disturbances])

    def test_a_page_of_a_killed_worker_may_come_again(self, judge):
        answers = {"/page/1": [(10.0, "0.1"), (14.0, "1.1")]}
        assert self.repeats(judge, answers, (11.0, "kill", "0.1")) == (1, [])

    def test_a_page_of_a_worker_that_nobody_killed_may_not(self, judge):
        answers = {"/page/1": [(10.0, "0.1"), (14.0, "1.1")], "/page/2": [(10.0, "0.1")]}
        again, wrong = self.repeats(judge, answers, (11.0, "kill", "2.1"))
        assert (again, len(wrong)) == (1, 1)

    def test_a_kill_long_after_or_before_explains_nothing(self, judge):
        answers = {"/page/1": [(100.0, "0.1"), (190.0, "1.1")]}
        assert self.repeats(judge, answers, (180.0, "kill", "0.1"), (50.0, "redis", ""))[1]

    def test_who_was_stopped_may_fetch_what_others_have_done(self, judge):
        answers = {"/page/1": [(10.0, "0.1"), (14.0, "1.1")]}
        assert self.repeats(judge, answers, (8.0, "stop", "1.1"))[1] == []
        assert self.repeats(judge, answers, (8.0, "stop", "0.1"))[1] == []
        assert self.repeats(judge, answers, (8.0, "kill", "1.1"))[1] != []

    def test_an_outage_of_redis_explains_it(self, judge):
        answers = {"/page/1": [(10.0, "0.1"), (14.0, "0.1")]}
        assert self.repeats(judge, answers, (12.0, "redis", ""))[1] == []


def test_a_worker_says_when_its_leases_have_lapsed(judge, tmp_path):
    events = ["Scrapy 2.19.0 started (bot: x)"] * 2 + ["this worker was silent for too long: others have got it"]
    lines = [f'{{"ts":"2026-01-01T00:00:0{place}.000Z","event":"{event}"}}' for place, event in enumerate(events)]
    (tmp_path / "log").write_text("\n".join(["Traceback", *lines, '{"ts":"2026-']))
    [found] = judge._lapses(tmp_path / "log", 7, 3.0)
    assert (found.worker, found.kind, round(found.until - found.at, 3)) == ("7.2", "lapse", 3.0)


class TestWhatWasKept:
    def test_lines_twice_and_torn(self, judge, tmp_path):
        (tmp_path / "worker-0.jsonl").write_text('{"item_id": "page-1"}\n{"item_id": "page-2"}\n')
        (tmp_path / "worker-1.jsonl").write_text('{"item_id": "page-1"}\n{"item_')
        ids, torn = judge._lines(tmp_path)
        assert ids == {"page-1": 2, "page-2": 1}
        assert torn == ["worker-1.jsonl:2"]

    def test_only_what_has_both_its_state_and_its_observation_is_stored(self, judge, tmp_path):
        with closing(sqlite3.connect(tmp_path / "items.db")) as database:
            database.execute("CREATE TABLE items (id TEXT)")
            database.execute("CREATE TABLE observations (item_id TEXT)")
            database.executemany("INSERT INTO items VALUES (?)", [("page-1",), ("page-2",)])
            database.executemany("INSERT INTO observations VALUES (?)", [("page-1",), ("page-1",), ("page-3",)])
            database.commit()
        assert judge._stored(tmp_path / "items.db") == {"page-1": 2}

    def test_no_database_holds_nothing(self, judge, tmp_path):
        assert judge._stored(tmp_path / "items.db") == {}


class TestTree:
    def test_every_page_is_listed_by_another(self, tree):
        listed = {link for page in range(tree.pages) for link in tree.children(page)}
        assert listed == set(range(1, tree.pages))

    def test_pages_list_what_others_list_as_well(self, tree):
        links = [link for page in range(tree.pages) for link in tree.links(page)]
        assert len(links) > 2 * tree.pages
        assert set(links) <= set(range(tree.pages))

    def test_a_try_succeeds_after_two_that_failed(self, tree):
        for path in tree.paths():
            faults = [tree.fault(path, attempt) is not None for attempt in range(30)]
            assert not any(all(faults[first : first + 3]) for first in range(28))

    def test_a_share_of_the_tries_fails_in_every_way(self, tree):
        kinds = [tree.fault(path, attempt) for path in tree.paths() for attempt in range(20)]
        assert 0.25 < sum(kind is not None for kind in kinds) / len(kinds) < 0.3
        assert set(kinds) == {None, "unavailable", "reset", "truncated", "slow"}
