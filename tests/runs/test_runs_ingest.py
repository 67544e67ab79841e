"""Rows come home once, whatever happens in between; lines that are none go into quarantine."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select, update

from fetchworker.db.runtables import scrape_attempts, scrape_runs
from fetchworker.errors import PlatformError
from fetchworker.platforms import Chunk
from fetchworker.runs import ingest as module
from fetchworker.runs.cleaning import Cleaner
from fetchworker.runs.ingest import Ingest, Source
from fetchworker.runs.lines import ItemLine
from fetchworker.runs.models import RowPage
from fetchworker.runs.rows import add_rows
from fetchworker.runs.store import now
from fetchworker.runs.terms import Terms

from .conftest import ask, opened, rows_of


class File:
    """A job's lines; ``fail_at``: the read that fails."""

    def __init__(self, data: bytes = b"") -> None:
        self.data = data
        self.reads: list[tuple[int, int]] = []
        self.fail_at = -1

    async def items(self, node, job_id, *, offset, limit):
        self.reads.append((offset, limit))
        if len(self.reads) == self.fail_at:
            raise PlatformError("the node is away")
        return Chunk(self.data[offset : offset + limit], offset, len(self.data))


def line(number: int, **more) -> bytes:
    return json.dumps({"item_id": f"i{number}", "kind": "post"} | more).encode() + b"\n"


@pytest.fixture
async def asked(url, nodes):
    """Runs without an engine, and one that nobody begins."""
    async with opened(url, nodes, engine=False) as runs:
        yield runs, await runs.start(ask("rows=1", "rows=1"))


async def source_of(runs, run, job=0) -> Source:
    table = scrape_attempts.c
    attempt_id = f"{run.run_id}-{job}.1"
    [row] = await runs._store.read(select(table.items_offset).where(table.attempt_id == attempt_id))
    return Source(run.run_id, f"{run.run_id}-{job}", attempt_id, "n1", row.items_offset)


async def bring(runs, run, file, job=0, *, whole=True, **options):
    ingest = Ingest(runs._store, file, **options)
    await ingest.bring(await source_of(runs, run, job), whole=whole)
    return await runs.get(run.run_id)


async def test_lines_are_stored_in_pieces_and_each_once(asked):
    runs, run = asked
    file = File(b"".join(line(number) for number in range(100)))
    found = await bring(runs, run, file, chunk=500)
    assert (found.items, found.rejects, found.job_list[0].items) == (100, 0, 100)
    stored = await rows_of(runs, run.run_id)
    assert [row.item_id for row in stored] == [f"i{number}" for number in range(100)]
    assert [row.seq for row in stored] == list(range(1, 101))
    assert stored[0].item == {"item_id": "i0", "kind": "post"}
    assert (await bring(runs, run, file, chunk=500)).items == 100


async def test_a_job_begun_anew_doubles_nothing(asked):
    runs, run = asked
    await bring(runs, run, File(line(1) + line(2)))
    found = await bring(runs, run, File(line(2) + line(2) + line(3)), job=1)
    assert (found.items, [job.items for job in found.job_list]) == (3, [2, 1])


async def test_it_goes_on_where_it_stopped(asked):
    runs, run = asked
    file = File(b"".join(line(number) for number in range(60)))
    file.fail_at = 3
    with pytest.raises(PlatformError):
        await bring(runs, run, file, chunk=500)
    had = (await runs.get(run.run_id)).items
    assert 0 < had < 60
    offset = (await source_of(runs, run)).offset
    file.fail_at, file.reads = -1, []
    assert (await bring(runs, run, file, chunk=500)).items == 60
    assert file.reads[0][0] == offset > 0


async def test_what_another_watcher_has_stored_is_not_stored_again(asked):
    runs, run = asked
    file = File(line(1) + line(2))
    stale = await source_of(runs, run)
    await bring(runs, run, file)
    await Ingest(runs._store, file).bring(stale, whole=True)
    found = await runs.get(run.run_id)
    assert (found.items, found.rejects) == (2, 0)


async def test_a_half_line_waits_for_its_end_and_is_refused_when_none_comes(asked):
    runs, run = asked
    file = File(line(1) + b'{"item_id": "i2"')
    assert (await bring(runs, run, file, whole=False)).items == 1
    file.data += b', "kind": "post"}\n{"item_id'
    assert (await bring(runs, run, file, whole=False)).items == 2
    found = await bring(runs, run, file, whole=True)
    assert (found.items, found.rejects, found.job_list[0].rejects) == (2, 1, 1)
    [refused] = await runs.rejects(run.run_id)
    assert (refused.line, refused.line_offset, refused.job_id) == (
        '{"item_id',
        file.data.rindex(b"\n") + 1,
        f"{run.run_id}-0",
    )
    assert (await bring(runs, run, file, whole=True)).rejects == 1


async def test_bad_lines_are_counted_and_the_good_ones_stored(asked):
    runs, run = asked
    file = File(line(1) + b"{broken\n\xff\xfe\n[1, 2]\n" + line(2))
    found = await bring(runs, run, file)
    assert (found.items, found.rejects) == (2, 3)
    assert [refused.reason.split(":")[0] for refused in await runs.rejects(run.run_id)] == [
        "it is not JSON",
        "it is not JSON",
        "it is JSON, but no object",
    ]


async def test_a_line_longer_than_a_piece_is_read_and_one_longer_than_all_is_refused(asked):
    runs, run = asked
    file = File(line(1, text="x" * 3000) + line(2, text="y" * 50_000) + line(3))
    found = await bring(runs, run, file, chunk=1000, line_max=8000)
    assert (found.items, found.rejects) == (2, 1)
    [refused] = await runs.rejects(run.run_id)
    assert (refused.line_bytes, refused.reason) == (len(line(2, text="y" * 50_000)), "it is longer than 8000 bytes")


async def test_what_the_database_does_not_take_is_refused_alone(asked, monkeypatch):
    runs, run = asked
    write = module.add_rows

    async def refusing(connection, shared, lines, *, after):
        if any("poison" in each.text for each in lines):
            # as a value would that this database has no word for
            await connection.exec_driver_sql("INSERT INTO scrape_runs (run_id) VALUES (NULL)")
        return await write(connection, shared, lines, after=after)

    monkeypatch.setattr(module, "add_rows", refusing)
    texts = [line(number, text="poison" if number == 5 else "") for number in range(9)]
    found = await bring(runs, run, File(b"".join(texts) + b"[]\n"))
    assert (found.items, found.rejects) == (8, 2)
    assert sorted(row.item_id for row in await rows_of(runs, run.run_id)) == [f"i{n}" for n in range(9) if n != 5]
    assert "does not take it" in (await runs.rejects(run.run_id))[0].reason


async def test_odd_texts_come_back_as_they_were(asked):
    runs, run = asked
    odd = 'tab\there "quotes" back\\slash new\nline cr\r nul\x00 zażółć 🦊 \\N \\. {}'
    file = File(line(1, text=odd, site="a\tb\\c\x00") + line(2).replace(b": ", b":\t").replace(b"{", b"{ \r"))
    assert (await bring(runs, run, file)).items == 2
    page = await runs.items(run.run_id)
    assert (page.rows[0].item["text"], page.rows[0].item["site"]) == (odd, "a\tb\\c\x00")
    assert page.rows[1].item == {"item_id": "i2", "kind": "post"}
    streamed = b"".join([piece async for piece in runs.stream(run.run_id)])
    assert [json.loads(text) for text in streamed.decode().split("\n")[:-1]] == [row.item for row in page.rows]


async def test_rows_are_paged_and_asked_for_across_runs(url, nodes):
    async with opened(url, nodes, engine=False) as runs:
        first = await runs.start(ask("rows=1", conversationId="c1", skillId="s1"))
        second = await runs.start(ask("rows=1", conversationId="c2", skillId="s1"))
        other = await runs.start(ask("rows=1", workspaceId="w2", conversationId="c1"))
        for run in (first, second, other):
            await bring(runs, run, File(line(1) + line(2, kind="profile") + line(3)))
        page = await runs.items(first.run_id, limit=2)
        assert [row.item_id for row in page.rows] == ["i1", "i2"]
        assert [row.item_id for row in (await runs.items(first.run_id, after=page.next)).rows] == ["i3"]

        async def asked_for(**terms):
            return [(row.run_id, row.item_id) for row in (await runs.items_across(workspace="w1", **terms)).rows]

        assert len(await asked_for(skill="s1")) == 6
        assert await asked_for(conversation="c2", kind="profile") == [(second.run_id, "i2")]
        assert await asked_for(after=(first.run_id, 2), limit=2) == [(first.run_id, "i3"), (second.run_id, "i1")]
        page = await runs.list(limit=2)
        assert [run.run_id for run in page.runs] == [other.run_id, second.run_id]
        assert [run.run_id for run in (await runs.list(limit=2, after=page.next)).runs] == [first.run_id]


async def test_runs_of_long_ago_are_deleted_with_all_they_had(asked, nodes):
    runs, run = asked
    await bring(runs, run, File(line(1) + b"bad\n"))
    old = "2020-01-01T00:00:00Z"
    await runs._store.execute(update(scrape_attempts).values(node="n1"))
    await runs._store.execute(update(scrape_runs).values(state="succeeded", ended_at=old))
    await Cleaner(runs._store, nodes, Terms(keep=0)).turn()
    assert len((await runs.list()).runs) == 1
    await Cleaner(runs._store, nodes, Terms(keep=3600)).turn()
    assert (await runs.list()).runs == []
    for table in ("scrape_jobs", "scrape_attempts", "scrape_items", "scrape_events", "scrape_rejects"):
        async with runs._store.engine.connect() as connection:
            assert (await connection.exec_driver_sql(f"SELECT count(*) FROM {table}")).scalar() == 0
    assert [call for call in nodes.calls if call[0] == "forget"] == [
        ("forget", f"{run.run_id}-0.1"),
        ("forget", f"{run.run_id}-1.1"),
    ]


async def test_items_are_told_as_they_were_stored_however_deep(asked):
    runs, run = asked
    own = {"run_id": run.run_id, "job_id": f"{run.run_id}-0", "workspace_id": "w1", "ingested_at": now()}
    deep = '{"x":' * 900 + "1" + "}" * 900  # stored before such lines were refused
    lines = [ItemLine("a", None, "post", 0, deep), ItemLine("b\n", None, "post", 1, '{"n": 1.50}\r')]
    shared = {**own, "conversation_id": "c1", "skill_id": None}
    await runs.store.write(lambda connection: add_rows(connection, shared, lines, after=0))
    page = await runs.items_json(run.run_id, limit=10)
    assert page.endswith(b'"item":{"n": 1.50}}],"next":2}')
    assert f'"item":{deep}}},'.encode() in page
    [row] = RowPage.model_validate_json(await runs.items_json(run.run_id, after=1)).rows
    assert (row, row.item_id, row.conversation_id) == ((await runs.items(run.run_id, after=1)).rows[0], "b\n", "c1")
    first = await runs.items_across_json("w1", {"kind": "post", "skill": None}, after=None, limit=1)
    assert first.endswith(f'"next":"{run.run_id}:1"}}'.encode())
    rest = json.loads(await runs.items_across_json("w1", {"kind": "post"}, after=(run.run_id, 1), limit=9))
    assert [row["itemId"] for row in rest["rows"]] == ["b\n"]
    assert json.loads(await runs.items_across_json("w2", {}, after=None, limit=9)) == {"rows": [], "next": None}
