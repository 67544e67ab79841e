from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from fetchworker.demo import DemoProcess
from fetchworker.demo.run import _with_browser

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


async def test_serves_through_its_proxies_and_logs(tmp_path: Path, browser: Any) -> None:
    with DemoProcess(tmp_path / "state", "--behaviour", "demo", "--block-exits", "1", "--proxies", "2") as demo:
        statuses = []
        for url in demo.proxies:
            client = await browser(proxy=url, verify=demo.ca)
            statuses += [(await client.get("https://www.instagram.com/nasa/")).status_code for _ in range(2)]
            await client.close()
        assert statuses == [403, 200, 200, 200]
        assert demo.ready["host_map"]["www.instagram.com:443"] == f"127.0.0.1:{demo.https_port}"
        assert {record["peer"] for record in demo.log("request")} == {"127.0.0.11", "127.0.0.12"}
        (block,) = demo.log("behaviour")
        assert (block["what"], block["peer"]) == ("block", "127.0.0.11")
        assert {record["proxy"] for record in demo.log("proxy")} == {"proxy1", "proxy2"}
        passwords = [url.split(":")[2].partition("@")[0] for url in demo.proxies]
        assert len(set(passwords)) == 2
        written = (tmp_path / "state" / "log.jsonl").read_text()
        assert not any(password in written for password in passwords)
    assert (tmp_path / "state" / "stderr.txt").read_text() == ""


# curl_cffi warns whoever uses a proxy behind TLS, in case it was a slip
@pytest.mark.filterwarnings("ignore:Make sure you are using https over https proxy")
@pytest.mark.parametrize("scheme", ["https", "socks5"])
async def test_other_kinds_of_proxies(tmp_path: Path, browser: Any, scheme: str) -> None:
    with DemoProcess(tmp_path, "--behaviour", "calm", "--proxies", "1", "--proxy-scheme", scheme) as demo:
        client = await browser(proxy=demo.proxies[0], verify=demo.ca)
        answer = await client.get("https://bench.example/page/1024/3")
        assert len(answer.content) == 1024
        assert (await client.get("https://lab.example/status/418")).status_code == 418
        await client.close()


async def test_quiet_log_has_events_only(tmp_path: Path, browser: Any) -> None:
    with DemoProcess(tmp_path, "--quiet-log", "--wall-after", "0") as demo:
        client = await browser(proxy=demo.proxies[0], verify=demo.ca)
        await client.get("https://bench.example/page/1024/3")
        await client.close()
        assert {record["type"] for record in demo.log()} <= {"proxy", "proxy_closed"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_on_signals(tmp_path: Path, number: int) -> None:
    demo = DemoProcess(tmp_path, "--proxies", "0")
    demo.start()
    process = demo._process
    assert process is not None
    os.kill(demo.pid, number)
    assert process.wait(20) == 0
    demo.stop()
    demo.stop()


def test_runs_on_without_a_pipe_as_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fetchworker.demo", "serve", "--state-dir", str(tmp_path), "--proxies", "1"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        assert ready["proxies"][0].startswith("http://demo1:")
        assert process.poll() is None
        process.terminate()
        assert process.wait(20) == 0


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="invalid choice: 'rude'"):
        DemoProcess(tmp_path, "--behaviour", "rude").start()


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_the_demo_itself(tmp_path: Path, shell: str) -> None:
    """`make demo`: every site of the project has its entry, every job its items, and nothing goes out by no proxy."""
    command = [sys.executable, "-m", "fetchworker.demo", "run", "--folder", str(tmp_path)]
    env = os.environ | {"FETCHWORKER_BROWSER": shell}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"pages in a browser: (\d)", done.stdout) == ["1", "0"], "a challenge, then the same session"
    assert "Requests that came by no proxy: 0" in done.stdout
    assert len((tmp_path / "nasa.jsonl").read_bytes().splitlines()) == 14


def test_the_demo_where_there_is_no_browser(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FETCHWORKER_BROWSER", "/nowhere/chromium")
    assert _with_browser() == ()
    assert "/nowhere/chromium is no program" in capsys.readouterr().out


def test_help() -> None:
    command = [sys.executable, "-m", "fetchworker.demo", "serve", "--help"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "--state-dir" in text
    assert "host_map" in text


def test_importing_the_package_is_cheap() -> None:
    script = (
        "import sys, fetchworker.demo; "
        "print([name for name in ('asyncio', 'ssl', 'h2', 'trustme', 'cryptography', 'scrapy') if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == "[]"


def test_every_public_name_is_there() -> None:
    import fetchworker.demo as package

    for name in package.__all__:
        assert getattr(package, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        package.nothing  # noqa: B018
