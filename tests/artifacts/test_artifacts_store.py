"""Artifacts are kept whole, found again, and let go, wherever they are kept."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
import time
from datetime import timedelta

import pytest
from pydantic import SecretStr

from fetchworker.artifacts import ArtifactContext, ArtifactStore, Expired, Filters, is_id
from fetchworker.artifacts.model import Entry
from fetchworker.artifacts.store import YOUNG, overdue
from fetchworker.errors import ArtifactError, ConfigError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
ABOUT = ArtifactContext(
    site="linktree", operation="profile", request_id="r1", run_id="run1", job_id="j1", session="ada",
    workspace="w1", url="https://ann:pw@site.example/ann?access_token=0123456789", more={"action": 3},
)  # fmt: skip


async def content(store, artifact):
    return b"".join([part async for part in store.open(artifact)])


def everything(tmp_path):
    return [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".db"]


async def test_what_is_kept_is_there(store):
    made = await store.put("screenshot", PNG, "image/png", about=ABOUT)
    assert is_id(made.id)
    assert (made.sha256, made.size) == (hashlib.sha256(PNG).hexdigest(), len(PNG))
    found = await store.get(made.id)
    assert found == made
    assert await content(store, found) == PNG
    told = found.to_json()
    assert "place" not in told
    assert told["about"] == {"action": 3}
    assert told["url"] == "https://***@site.example/ann?access_token=***"
    assert (told["site"], told["run_id"], told["workspace"]) == ("linktree", "run1", "w1")
    assert await store.get("20260101000000000000-00000000") is None


async def test_a_file_is_taken_by_its_path(store, tmp_path):
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.7")
    made = await store.put("pdf", tmp_path / "page.pdf", "application/pdf")
    assert await content(store, made) == b"%PDF-1.7"
    with pytest.raises(ArtifactError, match=r"page\.none cannot be read"):
        await store.put("pdf", tmp_path / "page.none", "application/pdf")


async def test_pages_of_a_list_are_whole_and_in_order(store):
    made = [
        await store.put("html" if n % 2 else "pdf", b"%d" % n, "text/html", about=ArtifactContext(site=f"s{n % 3}"))
        for n in range(7)
    ]
    newest_first = [one.id for one in reversed(made)]
    assert [one.id for one in await store.list()] == newest_first
    first = await store.list(limit=3)
    rest = await store.list(limit=10, before=first[-1].id)
    assert [one.id for one in (*first, *rest)] == newest_first
    assert [one.id for one in await store.list(Filters(kind="html", site="s1"))] == [made[1].id]
    assert [one.id for one in await store.list(Filters(sha256=made[4].sha256))] == [made[4].id]
    assert await store.list(Filters(workspace="other")) == []


async def test_the_same_bytes_are_kept_once_and_go_with_the_last(stored, monkeypatch):
    store = stored()
    one, two = await asyncio.gather(*(store.put("pdf", b"same", "application/pdf") for _ in range(2)))
    assert one.place == two.place
    later = time.time() + YOUNG + 5
    monkeypatch.setattr("fetchworker.artifacts.store.time.time", lambda: later)
    assert await store.drop(one.id)
    assert not await store.drop(one.id)
    assert await store.get(one.id) is None
    assert await content(store, two) == b"same"
    assert await store.drop(two.id)
    with pytest.raises(ArtifactError):
        await content(store, two)
    await store.close()


async def test_bytes_that_somebody_may_be_keeping_stay_until_the_sweep(store, monkeypatch):
    made = await store.put("pdf", b"young", "application/pdf")
    assert await store.drop(made.id)
    assert await content(store, made) == b"young"  # another process may have found it, and told nobody yet
    later = time.time() + 3700
    monkeypatch.setattr("fetchworker.artifacts.store.time.time", lambda: later)
    assert await store.expire() == Expired(0, 0)
    with pytest.raises(ArtifactError):
        await content(store, made)


async def test_what_has_had_its_time_is_gone(stored, monkeypatch):
    store = stored(artifacts_ttl=1000)
    made = await store.put("pdf", b"old", "application/pdf")
    longer = stored(artifacts_ttl=10_000)
    kept = await longer.put("pdf", b"kept", "application/pdf")
    later = time.time() + 2000
    monkeypatch.setattr("fetchworker.artifacts.store.time.time", lambda: later)
    assert await store.expire() == Expired(1, 3)
    assert [one.id for one in await store.list()] == [kept.id]
    with pytest.raises(ArtifactError):
        await content(store, made)
    await store.close()
    await longer.close()


async def test_an_artifact_that_is_over_is_told_to_nobody(stored):
    store = stored()
    store._life = timedelta(0)
    made = await store.put("pdf", b"old", "application/pdf")
    assert await store.get(made.id) is None
    assert await store.list() == []
    await store.close()


async def test_what_is_over_leaves_no_gap_in_a_page(stored):
    store = stored()
    kept = [await store.put("pdf", b"%d" % n, "application/pdf") for n in range(2)]
    store._life = timedelta(0)
    for n in range(3):
        await store.put("pdf", b"over %d" % n, "application/pdf")
    assert [one.id for one in await store.list(limit=2)] == [kept[1].id, kept[0].id]
    assert [one.id for one in await store.list(limit=1)] == [kept[1].id]
    await store.close()


async def test_the_oldest_go_when_all_are_too_much(stored):
    store = stored(artifacts_total_bytes=2048)
    made = [await store.put("pdf", bytes([n]) * 1000, "application/pdf") for n in range(4)]
    assert await store.expire() == Expired(2, 2000)
    assert [one.id for one in await store.list()] == [made[3].id, made[2].id]
    await store.close()


def test_the_same_object_counts_once():
    entries = [Entry("4", "a", 60, 9), Entry("3", "a", 60, 9), Entry("2", "b", 60, 1), Entry("1", "c", 60, 9)]
    assert [entry.id for entry in overdue(entries, 5, 100)] == ["2", "1"]
    assert [entry.id for entry in overdue(entries, 5, 0)] == ["2"]


async def test_too_big_is_refused_before_anything_is_written(environment, tmp_path):
    store = ArtifactStore.of(environment(artifacts_max_bytes=1024))
    (tmp_path / "big").write_bytes(bytes(2000))
    for given in (bytes(1025), tmp_path / "big"):
        with pytest.raises(ArtifactError, match=r"screenshot: .* is more than the 1.0 KiB") as failed:
            await store.put("screenshot", given, "image/png")
        assert failed.value.context["reason"] == "too_big"
    assert not (tmp_path / "state").exists()


async def test_nobody_else_may_read_them(environment, tmp_path):
    made = await ArtifactStore.of(environment()).put("html", b"<p>", "text/html")
    folder = tmp_path / "state" / "artifacts"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / made.place).stat().st_mode) == 0o600


async def test_a_disk_that_refuses_leaves_nothing_behind(environment, monkeypatch, tmp_path):
    store = ArtifactStore.of(environment())

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArtifactError, match="No space left on device"):
        await store.put("html", b"<p>one</p>", "text/html")
    assert everything(tmp_path) == []
    monkeypatch.undo()
    assert await store.list() == []
    await store.put("html", b"<p>one</p>", "text/html")
    assert len(await store.list()) == 1


async def test_what_a_killed_process_left_is_swept(environment, tmp_path):
    store = ArtifactStore.of(environment())
    made = await store.put("html", b"kept", "text/html")
    folder = (tmp_path / "state" / "artifacts" / made.place).parent
    orphan, half, fresh = folder / f"{'0' * 64}", folder / ".part-old", folder / ".part-new"
    for path in (orphan, half, fresh):
        path.write_bytes(b"x")
    for path in (orphan, half):
        os.utime(path, (0, 0))
    await store.expire()
    assert sorted(path.name for path in folder.iterdir()) == sorted([fresh.name, made.sha256])


async def test_odd_files_beside_ours_are_left_alone(environment, tmp_path):
    store = ArtifactStore.of(environment())
    made = await store.put("html", b"kept", "text/html")
    day = tmp_path / "state" / "artifacts" / "meta" / made.id[:8]
    (day / "notes.txt").write_text("mine")
    (day / f"{made.id[:-8]}00000000_{made.sha256}_1_9999999999.json").write_text("{broken")
    assert [one.id for one in await store.list()] == [made.id]
    await store.expire()
    assert (day / "notes.txt").exists()


@pytest.mark.parametrize(("place", "told"), [("none://x", "none:// cannot be used"), ("", "cannot be written")])
def test_a_place_that_cannot_be_is_told_at_once(environment, tmp_path, place, told):
    (tmp_path / "file").write_text("in the way")
    place = place or f"{tmp_path}/file/artifacts"
    with pytest.raises(ConfigError, match=f"FETCHWORKER_ARTIFACTS_STORE: .*{told}"):
        ArtifactStore.of(environment(artifacts_store=SecretStr(place)))


@pytest.mark.parametrize("place", ["/proc/nope", "http://nowhere.invalid/artifacts"])
def test_a_place_that_takes_nothing_is_told_by_a_trial(environment, place):
    store = ArtifactStore.of(environment(artifacts_store=SecretStr(place)))
    with pytest.raises(ConfigError, match=r"FETCHWORKER_ARTIFACTS_STORE cannot be written: .*; make it writable"):
        store.check()


def test_a_trial_leaves_nothing(environment, tmp_path):
    ArtifactStore.of(environment()).check()
    assert not [path for path in (tmp_path / "state").rglob("*") if path.is_file()]


async def test_many_at_once(store):
    made = await asyncio.gather(*(store.put("pdf", b"%d" % (n % 5), "application/pdf") for n in range(40)))
    assert len({one.id for one in made}) == 40
    assert len({one.place for one in made}) == 5
    assert len(await store.list(limit=100)) == 40
    for one in made[:5]:
        assert hashlib.sha256(await content(store, one)).hexdigest() == one.sha256


async def test_a_database_that_is_away_is_an_error_and_the_bytes_go_later(environment, tmp_path):
    (tmp_path / "no.db").mkdir()
    store = ArtifactStore.of(environment(database_url=SecretStr(f"sqlite:///{tmp_path}/no.db"), store_patience=0))
    with pytest.raises(ArtifactError, match=r"no\.db"):
        await store.put("pdf", b"x", "application/pdf")
    await store.close()
