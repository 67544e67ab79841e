"""What the port promises, on both adapters, with real processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from fetchworker.errors import ConfigError, PlatformError
from fetchworker.jobs.folder import JobFolder
from fetchworker.jobs.processes import Process, kin
from fetchworker.platforms import JobSpec, JobState

from .conftest import SECRET, Place, ended, odd, state, there

pytestmark = pytest.mark.slow


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


async def test_jobs_end_with_their_causes(place):
    async with place.open(slots=4) as platform:
        jobs = {
            "ok": odd("ok", "lines"),
            "start": odd("start", "starts"),
            "import": odd("import", "broken"),
            "oom": odd("oom", "grows", memory_mb=250),
            "dies": odd("dies", "dies"),
            "late": odd("late", "hangs", {"told": str(place.folder / "late")}, timeout_sec=4),
        }
        placed = {name: await platform.spawn(spec) for name, spec in jobs.items()}
        assert all(placement.fresh for placement in placed.values())
        ends = {name: await ended(platform, placement) for name, placement in placed.items()}
        causes = {name: end.exit_cause for name, end in ends.items()}
        assert causes == {
            "ok": "ok", "start": "failed", "import": "failed", "oom": "oom", "dies": "killed", "late": "timed_out",
        }  # fmt: skip
        assert ends["ok"].exit_code == 0
        assert ends["ok"].stats["item_scraped_count"] == 3
        assert (ends["dies"].exit_code, ends["dies"].signal) == (None, signal.SIGKILL)
        assert "250 are allowed" in ends["oom"].reasons[0]
        assert ends["oom"].peak_rss > 250 * 1024 * 1024
        assert "longer than 4 seconds" in ends["late"].reasons[0]
        assert all(end.started_at <= end.ended_at for end in ends.values())
        log = await platform.log(placed["import"].node, "import", offset=0, limit=1 << 20)
        assert b"no_such_module" in log.data


async def test_a_job_that_hears_nothing_is_killed_with_all_it_has(place):
    told = place.folder / "deaf"
    async with place.open() as platform:
        placement = await platform.spawn(odd("deaf", "hangs", {"told": str(told), "deaf": "yes"}))
        pids = [int(pid) for pid in (await there(told)).split()]
        assert (await state(platform, placement, JobState.RUNNING)).exit_cause is None
        with pytest.raises(PlatformError, match="has not ended"):
            await platform.forget(placement.node, "deaf")
        await platform.cancel(placement.node, "deaf", grace=0.3)
        end = await ended(platform, placement)
        assert (end.exit_cause, end.reasons, end.signal) == ("aborted", ("it was told to end",), signal.SIGKILL)
        assert not end.interrupted
        assert all(gone(pid) for pid in pids)
        await platform.cancel(placement.node, "deaf", grace=0)  # it has
        await platform.forget(placement.node, "deaf")
        assert (await platform.statuses(placement.node, ["deaf"]))["deaf"].state is JobState.UNKNOWN


async def test_a_job_that_hears_ends_by_itself_and_its_child_with_it(place):
    told = place.folder / "told"
    async with place.open() as platform:
        placement = await platform.spawn(odd("hears", "hangs", {"told": str(told)}))
        pids = [int(pid) for pid in (await there(told)).split()]
        await platform.cancel(placement.node, "hears", grace=30)
        end = await ended(platform, placement)
        assert (end.exit_cause, end.signal) == ("aborted", None)
        assert end.stats["finish_reason"] == "shutdown"
        assert all(gone(pid) for pid in pids)


async def test_a_killed_supervisor_leaves_nobody_behind(place):
    told = place.folder / "told"
    async with place.open() as platform:
        placement = await platform.spawn(odd("alone", "hangs", {"told": str(told), "deaf": "yes"}))
        pids = [int(pid) for pid in (await there(told)).split()]
        folder = JobFolder(place.jobs / "alone")
        spent = {"site": "odd", "costs": [], "sessions": []}
        folder.write("spent", spent)
        os.kill(folder.supervisor(), signal.SIGKILL)
        end = await ended(platform, placement)
        assert end.spent == spent, "what it had told before"
        assert (end.exit_cause, end.reasons) == ("killed", ("its supervisor was killed, or the machine went down",))
        assert end.interrupted
        assert all(gone(pid) for pid in pids)
        # its place is free
        assert (await ended(platform, await platform.spawn(odd("next", "lines")))).exit_cause == "ok"


async def test_a_job_whose_supervisor_is_told_to_end_was_killed_and_not_aborted(place):
    told = place.folder / "told"
    async with place.open() as platform:
        placement = await platform.spawn(odd("reboot", "hangs", {"told": str(told)}))
        pids = [int(pid) for pid in (await there(told)).split()]
        os.kill(JobFolder(place.jobs / "reboot").supervisor(), signal.SIGTERM)
        end = await ended(platform, placement)
        assert (end.exit_cause, end.interrupted) == ("killed", True)
        assert end.reasons == ("its supervisor was told to end, as when the machine goes down",)
        assert all(gone(pid) for pid in pids)


async def test_a_killed_supervisor_leaves_nobody_behind_who_hides(project_folder):
    place = Place("local", project_folder)
    told = place.folder / "told"
    async with place.open() as platform:
        placement = await platform.spawn(odd("hidden", "hangs", {"told": str(told), "deaf": "yes", "bare": "yes"}))
        pids = [int(pid) for pid in (await there(told)).split()]
        folder = JobFolder(place.jobs / "hidden")
        while pids[-1] not in [pid for pid, _ in (folder.read("family") or {}).get("processes", ())]:
            await asyncio.sleep(0.05)
        os.kill(folder.supervisor(), signal.SIGKILL)
        assert (await ended(platform, placement)).exit_cause == "killed"
        assert all(gone(pid) for pid in pids)


def test_kin_is_known_by_number_and_begin_and_by_session():
    first, child, grandchild = Process(10, 1, 0, 10, 100), Process(11, 10, 0, 11, 110), Process(12, 11, 0, 11, 120)
    stranger, older = Process(20, 1, 0, 20, 500), Process(30, 1, 0, 10, 50)
    there = [first, child, grandchild, stranger, older]
    assert kin([(10, 100)], there) == [10, 11, 12]
    assert kin([(11, 110)], [grandchild, stranger]) == [12]  # its leader is gone, it is not
    assert kin([(20, 90)], there) == []  # the number is somebody else's now
    assert kin([], there) == []


async def test_one_id_is_one_job(place):
    async with place.open() as platform:
        specs = [odd("twin", "lines", {"count": "2"}) for _ in range(6)]
        placements = await asyncio.gather(*map(platform.spawn, specs))
        assert sorted(placement.fresh for placement in placements) == [False] * 5 + [True]
        await ended(platform, placements[0])
        assert (await platform.spawn(specs[0])).fresh is False
        chunk = await platform.items(placements[0].node, "twin", offset=0, limit=1 << 20)
        assert len(chunk.data.splitlines()) == 2
        with pytest.raises(ConfigError, match=r"twin is another job's, whose arguments differ"):
            await platform.spawn(odd("twin", "lines", {"count": "3"}))


async def test_wrong_jobs_are_refused_by_the_field(place):
    wrong = {
        "job_id": [odd(text, "lines") for text in ("", "../x", "x" * 65, "-x", "a/b", "a\n", ".hidden")],
        "spider": [odd("a", ""), odd("b", "../lines"), odd("c", "-h")],
        "project": [JobSpec("a", "lines", project="../odd")],
        "arguments": [odd("a", "lines", {"-s": "X"}), odd("b", "lines", {"a=b": "c"}), odd("c", "lines", {"a": "\0"})],
        "settings": [
            JobSpec("a", "lines", {}, {"FEEDS": "{}"}, project="odd"),
            *(
                JobSpec("b", "lines", {}, {"FETCHWORKER_CRAWL_ID": id_}, project="odd")
                for id_ in ("../../../x", "", "a\n")
            ),
        ],
        "options.memory_mb": [odd("a", "lines", memory_mb=0)],
        "options.timeout_sec": [odd("a", "lines", timeout_sec=float("nan"))],
        "options.priority": [odd("a", "lines", priority=float("inf"))],
        "options.tags": [odd("a", "lines", tags=frozenset({"small"}))],
    }
    async with place.open(slots=1) as platform:
        for field, specs in wrong.items():
            for spec in specs:
                with pytest.raises(ConfigError) as refused:
                    await platform.spawn(spec)
                assert refused.value.context["field"] == field
        [node] = await platform.nodes()
        assert (node.up, node.slots, node.running, node.queued) == (True, 1, 0, 0)
        assert node.tags == {"big", "eu"}
        tagged = odd("tagged", "lines", tags=frozenset({"eu"}))
        assert (await ended(platform, await platform.spawn(tagged))).exit_cause == "ok"  # no place was lost
        with pytest.raises(PlatformError):
            await platform.spawn(odd("elsewhere", "lines"), avoid=frozenset({node.name}))


async def test_ids_that_there_are_not_are_unknown(place):
    ids = ["never", "../../etc/passwd", "", "x" * 70]
    async with place.open() as platform:
        [node] = await platform.nodes()
        found = await platform.statuses(node.name, ids)
        assert {job_id: status.state for job_id, status in found.items()} == dict.fromkeys(ids, JobState.UNKNOWN)
        for job_id in ("never", "..", "../lines"):
            for ask in (platform.items, platform.log):
                with pytest.raises(PlatformError):
                    await ask(node.name, job_id, offset=0, limit=10)
        await platform.forget(node.name, "never")
        await platform.cancel(node.name, "never", grace=0)
        with pytest.raises(PlatformError, match="no node"):
            await platform.statuses("moon", ["never"])


async def test_items_and_log_are_read_while_they_are_written(place):
    gate = place.folder / "gate"
    async with place.open() as platform:
        placement = await platform.spawn(odd("writes", "lines", {"count": "10", "gate": str(gate)}))
        read = b""
        while read.count(b"\n") < 5:
            read += (await platform.items(placement.node, "writes", offset=len(read), limit=7)).data
            await asyncio.sleep(0)
        status = await state(platform, placement, JobState.RUNNING)
        assert status.items_bytes == len(read)
        beyond = await platform.items(placement.node, "writes", offset=len(read) + 5, limit=100)
        assert (beyond.data, beyond.size) == (b"", len(read))
        gate.touch()
        end = await ended(platform, placement)
        while True:
            chunk = await platform.items(placement.node, "writes", offset=len(read), limit=64)
            assert chunk.offset == len(read)
            read += chunk.data
            if len(read) == chunk.size:
                break
        assert [json.loads(line)["number"] for line in read.splitlines()] == list(range(10))
        assert end.items_bytes == len(read)
        whole = await platform.log(placement.node, "writes", offset=0, limit=1 << 20)
        tail = await platform.log(placement.node, "writes", offset=-50, limit=1 << 20)
        assert (tail.data, tail.offset, tail.size) == (whole.data[-50:], whole.size - 50, whole.size)
        assert (await platform.log(placement.node, "writes", offset=-(1 << 30), limit=9)).data == whole.data[:9]


async def test_places_are_filled_by_priority_and_what_waits_can_be_ended(place):
    gate = place.folder / "gate"
    async with place.open(slots=1) as platform:
        first = await platform.spawn(odd("first", "lines", {"gate": str(gate)}))
        await state(platform, first, JobState.RUNNING)
        low = await platform.spawn(odd("low", "lines", priority=-1))
        high = await platform.spawn(odd("high", "lines", priority=5))
        never = await platform.spawn(odd("never", "lines"))
        [node] = await platform.nodes()
        assert (node.running, node.queued) == (1, 3)
        assert (await state(platform, never, JobState.QUEUED)).started_at is None
        await platform.cancel(never.node, "never", grace=0)
        end = await ended(platform, never)
        assert (end.exit_cause, end.started_at) == ("aborted", None)
        gate.touch()
        ends = [await ended(platform, placement) for placement in (first, high, low)]
        assert [end.exit_cause for end in ends] == ["ok"] * 3
        assert [end.started_at for end in ends] == sorted(end.started_at for end in ends)


async def test_secrets_come_by_the_environment_and_nothing_by_the_command_line(place, monkeypatch):
    monkeypatch.setenv("SHOP_TOKEN", "open-sesame")
    monkeypatch.setenv("FETCHWORKER_CONTROL_SECRET", SECRET)
    async with place.open() as platform:
        spec = JobSpec("env", "environment", {"told": "word of mouth"}, {"LOG_LEVEL": "DEBUG"}, project="odd")
        placement = await platform.spawn(spec)
        await ended(platform, placement)
        [line] = (await platform.items(placement.node, "env", offset=0, limit=1 << 20)).data.splitlines()
    item = json.loads(line)
    assert item["environment"]["SHOP_TOKEN"] == "open-sesame"
    assert item["told"] == "word of mouth"
    assert SECRET not in json.dumps(item["environment"])
    told = " ".join(item["command"] + item["above"])
    assert "environment" not in told
    assert "mouth" not in told
    assert str(place.jobs / "env") in told


async def test_jobs_outlive_whoever_started_them(place):
    gate = place.folder / "gate"
    async with place.open(slots=1) as platform:
        runs = await platform.spawn(odd("runs", "lines", {"gate": str(gate)}))
        await state(platform, runs, JobState.RUNNING)
        waits = await platform.spawn(odd("waits", "lines"))
        seen = {(await platform.nodes())[0].incarnation}
    for kill in (False, True):
        if place.node:
            place.node.end(kill=kill)
        async with place.open(slots=1) as platform:
            [node] = await platform.nodes()
            assert (node.running, node.queued) == (1, 1)
            seen.add(node.incarnation)
    assert len(seen) == 3
    gate.touch()
    async with place.open(slots=1) as platform:
        assert (await platform.spawn(odd("runs", "lines", {"gate": str(gate)}))).fresh is False
        assert [(await ended(platform, placement)).exit_cause for placement in (runs, waits)] == ["ok", "ok"]
        chunk = await platform.items(runs.node, "runs", offset=0, limit=1 << 20)
        assert len(chunk.data.splitlines()) == 3


async def test_items_that_cannot_be_written_are_a_storage_error(place):
    gate = place.folder / "gate"
    async with place.open(slots=1) as platform:
        first = await platform.spawn(odd("first", "lines", {"gate": str(gate)}))
        await state(platform, first, JobState.RUNNING)
        closed, full = [await platform.spawn(odd(name, "lines")) for name in ("closed", "full")]
        for name in ("closed", "full"):
            (place.jobs / name / "items.jsonl").unlink()
        (place.jobs / "closed" / "items.jsonl").mkdir()
        (place.jobs / "full" / "items.jsonl").symlink_to("/dev/full")
        gate.touch()
        for placement in (closed, full):
            end = await ended(platform, placement)
            assert end.exit_cause == "storage_error", end
        assert (await ended(platform, first)).exit_cause == "ok"


async def test_the_projects_own_crawls_end_with_their_causes(place, calm, walls, project, monkeypatch):
    """Against demo sites: what a crawl's outcomes make of a job."""
    project.use(calm)
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)
    sites = json.loads((project.folder / "sites.yaml").read_text())["sites"]
    required = project.folder / "required.yaml"
    required.write_text(json.dumps({"sites": {name: {**site, "proxy": "required"} for name, site in sites.items()}}))
    dead = project.folder / "dead.txt"
    dead.write_text("http://127.0.0.1:9\n")
    direct = project.folder / "direct.yaml"
    direct.write_text(json.dumps({"sites": {name: {**site, "proxy": "none"} for name, site in sites.items()}}))
    open_to = {"FETCHWORKER_EGRESS_ALLOW": walls, "FETCHWORKER_SITES_FILE": str(direct)}
    out = {"FETCHWORKER_PROXIES_FILE": str(dead), "FETCHWORKER_SITES_FILE": str(required)}
    specs = [
        JobSpec("good", "instagram", {"user": "nasa"}),
        JobSpec("few", "instagram", {"user": "nasa"}, {"FETCHWORKER_JOB_ITEMS_MIN": "900"}),
        JobSpec("wrong", "instagram", {"usr": "nasa"}),
        JobSpec("walled", "fetch", {"url": f"http://{walls}/"}, open_to),
        JobSpec("out", "instagram", {"user": "nasa"}, {**out, "FETCHWORKER_NO_EGRESS_PATIENCE": "0.5"}),
    ]
    async with place.open(slots=3) as platform:
        placed = [await platform.spawn(spec) for spec in specs]
        ends = [await ended(platform, placement) for placement in placed]
    assert [end.exit_cause for end in ends] == ["ok", "degraded", "failed", "blocked", "no_egress"]
    assert "900 expected" in ends[1].reasons[0]
    assert "usr" in ends[2].reasons[0]
    assert "refusals (100%)" in ends[3].reasons[0]
    assert ends[0].items_bytes > 0
    assert ends[0].stats["fetchworker/outcome/instagram/ok"] >= 1
