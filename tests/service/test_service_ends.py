"""How a service ends, how it lasts, and what is left of it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from fetchworker.service.reloading import run_again
from tests.service.conftest import LAB, failure

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_told_to_end_it_fails_health_first_and_ends_what_is_under_way(make_service, sent, code):
    with make_service("--stateless") as service, ThreadPoolExecutor(20) as threads:
        calls = [threads.submit(service.fetch, f"{LAB}/slow?seconds=3") for _ in range(20)]
        service.until(lambda health: health["in_flight"] == 20)
        service.process.send_signal(sent)
        service.until(lambda health: health["status"] == "draining")
        assert service.get("/health").status_code == 503
        assert service.fetch(f"{LAB}/").status_code == 200  # not all callers know yet
        assert {call.result().status_code for call in calls} == {200}
        assert service.process.wait(15) == code
        with pytest.raises(httpx.ConnectError):
            service.health()
        assert "Traceback" not in service.log_text()


def test_what_takes_longer_than_the_drain_is_cut(make_service, silent):
    made = make_service(SHUTDOWN_DRAIN_SECONDS="1", FETCHWORKER_EGRESS_ALLOW="127.0.0.1")
    with made as service, ThreadPoolExecutor(1) as threads:
        call = threads.submit(service.fetch, silent.url, retries=0)
        assert silent.came.acquire(timeout=15)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) == -signal.SIGTERM
        assert failure(call.result()) == (500, "INTERNAL_ERROR")
        assert call.result().json()["context"]["reason"] == "ended"
        assert "Traceback" not in service.log_text()


def begun_body(service, url: str) -> tuple[socket.socket, bytes]:
    """A call whose body has come by half, and its other half."""
    host, port = service.url.removeprefix("http://").split(":")
    body = json.dumps({"url": url, "retries": 0}).encode()
    head = f"POST /fetch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    sent = socket.create_connection((host, int(port)), timeout=20)
    sent.sendall(f"{head}\r\n\r\n".encode() + body[:10])
    return sent, body[10:]


def answer(sent: socket.socket) -> tuple[int, dict]:
    """Status and body of what comes until the connection ends."""
    with sent:
        came = b"".join(iter(lambda: sent.recv(65536), b""))
    head, _, body = came.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower(), came
    return int(head.split()[1]), json.loads(body)


def test_calls_without_a_place_yet_are_waited_for_and_told_of_the_end(make_service):
    """Of two whose bodies are under way one comes to its end in the time of the drain."""
    with make_service("--stateless", SHUTDOWN_DRAIN_SECONDS="3") as service:
        in_time, rest = begun_body(service, f"{LAB}/")
        late, _ = begun_body(service, f"{LAB}/")
        assert service.fetch(f"{LAB}/").status_code == 200  # both are read from by now
        service.process.send_signal(signal.SIGTERM)
        service.until(lambda health: health["status"] == "draining")
        in_time.sendall(rest)
        status, told = answer(late)
        assert (status, told["type"], told["context"]["reason"]) == (500, "INTERNAL_ERROR", "ended")
        assert answer(in_time)[0] == 200
        assert service.process.wait(20) == -signal.SIGTERM
        assert "Traceback" not in service.log_text()


def test_calls_that_wait_for_a_place_are_told_of_the_end(make_service, silent):
    made = make_service(
        "--stateless", SHUTDOWN_DRAIN_SECONDS="1", FETCHWORKER_EGRESS_ALLOW="127.0.0.1",
        FETCHWORKER_SERVE_IN_FLIGHT="2", FETCHWORKER_SERVE_WAITING="50",
    )  # fmt: skip
    with made as service, ThreadPoolExecutor(20) as threads:
        short = [threads.submit(service.fetch, silent.url, retries=0, timeout=0.5) for _ in range(20)]
        assert {failure(call.result()) for call in short} == {(504, "DEADLINE")}
        calls = [threads.submit(service.fetch, silent.url, retries=0) for _ in range(20)]
        service.until(lambda health: (health["in_flight"], health["waiting"]) == (2, 18))
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) == -signal.SIGTERM
        for call in calls:
            assert failure(call.result()) == (500, "INTERNAL_ERROR")
            assert call.result().json()["context"]["reason"] == "ended"
        assert "Traceback" not in service.log_text()


def lines(service, begun: threading.Event) -> list[dict]:
    """The lines of a list whose second page waits for its turn."""
    found = []
    with (
        service.client(headers={"accept": "application/x-ndjson"}) as client,
        client.stream("GET", "/instagram/posts?user=nasa&limit=30") as response,
    ):
        assert response.status_code == 200
        for line in response.iter_lines():
            found.append(json.loads(line))
            begun.set()
    return found


def test_lines_that_are_cut_say_so_by_the_last_one(make_service):
    made = make_service(SHUTDOWN_DRAIN_SECONDS="1").entries(instagram={"delay": 300, "timeout": 60})
    with made as service, ThreadPoolExecutor(1) as threads:
        begun = threading.Event()
        call = threads.submit(lines, service, begun)
        assert begun.wait(30)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) == -signal.SIGTERM
        *items, last = call.result()
        assert items
        assert {item["site"] for item in items} == {"instagram"}
        assert (last["error"]["type"], last["error"]["context"]["reason"]) == ("INTERNAL_ERROR", "ended")
        assert "Traceback" not in service.log_text()


def test_events_that_are_cut_end_with_an_error(make_service, silent):
    made = make_service(SHUTDOWN_DRAIN_SECONDS="1", FETCHWORKER_EGRESS_ALLOW="127.0.0.1")
    with made as service, ThreadPoolExecutor(1) as threads, service.client() as client:
        headers = {"accept": "text/event-stream"}
        call = threads.submit(client.post, "/documents", json={"url": silent.url}, headers=headers)
        assert silent.came.acquire(timeout=15)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(20) == -signal.SIGTERM
        name, data, *_ = call.result().text.splitlines()
        assert name == "event: error"
        assert json.loads(data.removeprefix("data: "))["context"]["reason"] == "ended"
        assert "Traceback" not in service.log_text()


def test_a_second_signal_ends_it_at_once(make_service, silent):
    made = make_service("--stateless", FETCHWORKER_EGRESS_ALLOW="127.0.0.1")
    with made as service, ThreadPoolExecutor(1) as threads:
        call = threads.submit(service.fetch, silent.url, retries=0)
        assert silent.came.acquire(timeout=15)
        service.process.send_signal(signal.SIGTERM)
        service.until(lambda health: health["status"] == "draining")
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(10) == -signal.SIGTERM
        with pytest.raises(httpx.HTTPError):
            call.result()


def test_a_port_that_is_taken(make_service, service):
    second = make_service("--stateless", "--port", service.url.rpartition(":")[2])
    second.entries()
    refused = second.project.scrapy("serve", *second.arguments)
    assert refused.returncode == 1
    assert "address already in use" in refused.stderr


def test_many_calls_leave_nothing_behind(make_service, closed_to_robots):
    """Memory and sockets are as before; benchmarks/service.py does the same with twenty thousand."""
    allowed = make_service("--stateless", FETCHWORKER_EGRESS_ALLOW="127.0.0.1")
    with allowed as service, service.client() as client:
        process = psutil.Process(service.process.pid)

        def some(count: int) -> tuple[int, int]:
            for _ in range(count):
                client.post("/fetch", json={"url": closed_to_robots}).raise_for_status()
            return process.memory_info().rss, process.num_fds()

        some(200)
        before, fds = some(50)
        after, fds_after = some(400)
        assert after - before < 8 * 1024 * 1024
        assert fds_after <= fds + 5


# ── --reload ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _until(seen, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("first", "told"), [("time.sleep(60)", ""), ("raise SystemExit(1)", "waiting for a file")], ids=["runs", "failed"]
)
def test_it_starts_anew_when_a_file_changes(tmp_path, caplog, first, told):
    source, runs = tmp_path / "part.py", tmp_path / "runs"
    source.write_text("1")
    script = f"import pathlib, time; p = pathlib.Path({str(runs)!r}); n = len(p.read_text()) if p.exists() else 0\n"
    script += f"p.write_text('x' * (n + 1))\nif not n: {first}"

    def change() -> None:
        _until(lambda: runs.exists() and runs.read_text() and told in caplog.text)
        source.write_text("22")

    threading.Thread(target=change).start()
    assert run_again([sys.executable, "-c", script], folder=tmp_path, tick=0.02) == 0
    assert runs.read_text() == "xx"


def test_the_command_serves_starts_anew_and_ends(project):
    """With a port of its choice, over a sites file that is wrong for a while, until it is told to end."""
    project.sites()
    sites = project.folder / "sites.yaml"
    right = sites.read_text()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    watcher = project.start("serve", "--reload", "--stateless", "--port", str(port), stdout=subprocess.PIPE)
    try:
        assert watcher.stdout.readline() == f"serving at http://127.0.0.1:{port}\n".encode()
        child = psutil.Process(watcher.pid).children()[0]
        sites.write_text("{")
        _until(lambda: b"waiting for a file to change" in watcher.stderr.readline())
        sites.write_text(right)
        assert watcher.stdout.readline() == f"serving at http://127.0.0.1:{port}\n".encode()
        assert not child.is_running()
        child = psutil.Process(watcher.pid).children()[0]
        watcher.terminate()
        assert watcher.wait(30) == 143
        assert not child.is_running()
    finally:
        watcher.kill()
        watcher.communicate()
