"""JSON-lines files: whole lines, repaired tails, batches on disk, full disks."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.errors import ExportError
from fetchworker.exports.lines import LineFile


def test_lines_are_visible_before_close(tmp_path):
    file = LineFile(tmp_path / "a.jsonl")
    file.write(b'{"n":1}\n')
    assert (tmp_path / "a.jsonl").read_bytes() == b'{"n":1}\n'
    file.close()


def test_append_keeps_what_is_there_and_overwrite_does_not(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n')
    with LineFile(path) as file:
        file.write(b'{"n":2}\n')
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n'
    with LineFile(path, overwrite=True) as file:
        file.write(b'{"n":3}\n')
    assert path.read_bytes() == b'{"n":3}\n'


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers(-9, 9), max_size=3), max_size=5), st.data())
def test_a_torn_tail_is_cut_and_whole_lines_stay(tmp_path_factory, values, data):
    path = tmp_path_factory.mktemp("torn") / "a.jsonl"
    lines = [orjson.dumps(value) + b"\n" for value in values]
    torn = data.draw(st.binary(min_size=1, max_size=40).filter(lambda b: b"\n" not in b and b != b""))
    torn = b'{"x": "' + torn.replace(b'"', b"") + b"\\"
    path.write_bytes(b"".join(lines) + torn)
    with LineFile(path) as file:
        assert file.repaired == len(torn)
    assert path.read_bytes() == b"".join(lines)


def test_a_whole_last_line_without_its_end_gets_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}')
    with LineFile(path) as file:
        assert file.repaired == 0
        file.write(b'{"n":3}\n')
    assert path.read_bytes() == b'{"n":1}\n{"n":2}\n{"n":3}\n'


def test_a_torn_line_longer_than_a_block_is_found(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n' + b'{"x":"' + b"y" * 200_000)
    LineFile(path).close()
    assert path.read_bytes() == b'{"n":1}\n'


def test_nothing_is_cut_while_another_process_writes(tmp_path):
    path = tmp_path / "a.jsonl"
    other = LineFile(path)
    other.write(b'{"n":1}\n')
    with path.open("ab") as raw:
        raw.write(b'{"half')
    with LineFile(path) as file:
        assert file.repaired == 0
    assert path.read_bytes().endswith(b'{"half')
    other.close()


async def test_durable_waits_for_a_sync_that_holds_the_lines(tmp_path, monkeypatch):
    synced: list[int] = []
    path = tmp_path / "a.jsonl"
    real = os.fdatasync

    def watched(fd):
        synced.append(path.stat().st_size)
        real(fd)

    monkeypatch.setattr(os, "fdatasync", watched)
    file = LineFile(path)
    file.write(b"1\n")
    await file.durable()
    assert synced == [2]
    file.write(b"2\n")
    await asyncio.gather(file.durable(), file.durable(), file.durable())
    assert synced == [2, 4], "three waiters share one sync"
    await file.durable()
    assert len(synced) == 2, "nothing new, nothing to sync"
    file.close()


def full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda fd, line, real=os.write: real(fd, line[:3]), "no space left for a whole line"),
        (full, "No space left on"),
    ],
)
async def test_a_full_disk_leaves_no_half_line_and_no_later_one(tmp_path, monkeypatch, write, told):
    path = tmp_path / "a.jsonl"
    file = LineFile(path)
    file.write(b'{"n":1}\n')
    monkeypatch.setattr(os, "write", write)
    with pytest.raises(ExportError, match=told):
        file.write(b'{"n":2}\n')
    monkeypatch.undo()
    with pytest.raises(ExportError, match=told):  # a later line's cursor would lead past the lost one
        file.write(b'{"n":3}\n')
    with pytest.raises(ExportError, match=told):
        await file.durable()
    assert path.read_bytes() == b'{"n":1}\n'
    file.close()


def test_a_file_that_another_process_writes_is_not_started_anew(tmp_path):
    path = tmp_path / "a.jsonl"
    with LineFile(path) as first:
        first.write(b'{"n":1}\n')
        with pytest.raises(ExportError, match="another process"):
            LineFile(path, overwrite=True)
        assert path.read_bytes() == b'{"n":1}\n'
    LineFile(path, overwrite=True).close()
    assert path.read_bytes() == b""


def test_dev_full_says_what_is_wrong():
    file = LineFile("/dev/full")
    with pytest.raises(ExportError, match="/dev/full"):
        file.write(b"{}\n")
    os.close(file._fd)


def test_a_folder_in_the_way_is_named(tmp_path):
    with pytest.raises(ExportError, match=str(tmp_path)):
        LineFile(tmp_path)


def test_a_killed_process_leaves_every_line_it_wrote(tmp_path):
    path = tmp_path / "a.jsonl"
    code = (
        "import sys, os, signal\n"
        "from fetchworker.exports.lines import LineFile\n"
        f"f = LineFile({str(path)!r})\n"
        "for n in range(20): f.write(b'{\"n\": %d}\\n' % n)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False)
    assert done.returncode == -9
    assert [orjson.loads(line)["n"] for line in path.read_bytes().splitlines()] == list(range(20))


async def test_a_failed_sync_is_not_forgotten(tmp_path, monkeypatch):
    file = LineFile(tmp_path / "a.jsonl")
    file.write(b"1\n")
    monkeypatch.setattr(os, "fdatasync", full)
    with pytest.raises(ExportError, match="cannot sync"):
        await file.durable()
    monkeypatch.undo()  # the kernel tells it once
    with pytest.raises(ExportError, match="cannot sync"):
        await file.durable()
    with pytest.raises(ExportError, match="cannot sync"):
        file.write(b"2\n")
    file.close()


def test_a_failed_sync_that_blocks_is_not_forgotten_either(tmp_path, monkeypatch):
    file = LineFile(tmp_path / "a.jsonl")
    file.write(b"1\n")
    monkeypatch.setattr(os, "fdatasync", full)
    with pytest.raises(ExportError, match="cannot sync"):
        file.sync()
    monkeypatch.undo()
    with pytest.raises(ExportError, match="cannot sync"):
        file.write(b"2\n")
    file.close()


def test_a_half_line_is_taken_back_and_not_what_another_process_wrote_behind_it(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    with LineFile(path) as other, LineFile(path) as file:

        def half(fd, line, real=os.write):
            monkeypatch.undo()
            written = real(fd, line[:4])
            other.write(b'{"n":2}\n')
            return written

        monkeypatch.setattr(os, "write", half)
        with pytest.raises(ExportError, match="no space left"):
            file.write(b'{"n":1}\n')
        other.write(b'{"n":3}\n')
    assert [orjson.loads(line)["n"] for line in path.read_bytes().splitlines()] == [2, 3]


def test_a_half_line_at_the_end_of_a_file_that_others_write_joins_no_line(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    with LineFile(path) as other, LineFile(path) as file:
        monkeypatch.setattr(os, "write", lambda fd, line, real=os.write: real(fd, line[:3]))
        with pytest.raises(ExportError, match="no space left"):
            file.write(b'{"n":1}\n')
        monkeypatch.undo()
        other.write(b'{"n":2}\n')
    assert [orjson.loads(line)["n"] for line in path.read_bytes().splitlines()] == [2]
