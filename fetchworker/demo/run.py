"""``make demo``: the main job against the demo site, all that can go wrong on its way, and what came of it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from fetchworker.browser.program import VARIABLE, find_program
from fetchworker.demo.process import DemoProcess
from fetchworker.errors import ConfigError
from fetchworker.sites import load_sites

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from fetchworker.demo.log import Record

#: quick waits for the main play; no request of any site ever goes out directly
_MAIN = {
    "proxy": "required",
    "concurrency": 4,
    "delay": 0,
    "retries": 6,
    "robots": "ignore",
    "backoff": {"first": 0.2, "factor": 2, "max": 3, "retry_after_max": 5},
}
_OTHERS = {"proxy": "required", "robots": "ignore"}
_TICK = 0.2


@dataclass(frozen=True, slots=True)
class Job:
    """One crawl of the demo."""

    title: str
    arguments: tuple[str, ...]
    output: str
    site: str = "instagram"


JOBS = (
    Job("the profile", ("-a", "user=nasa"), "nasa.jsonl"),
    Job("its posts, page by page", ("-a", "user=nasa", "-a", "operation=posts", "-a", "limit=100"), "nasa-posts.jsonl"),
)
#: pages behind a script that computes a cookie: the first takes a browser, the second none
CHALLENGES = tuple(
    Job(title, ("-a", f"url=https://lab.example/challenge/{name}", "-a", "session=ann"), f"{name}.jsonl", "fetch")
    for name, title in (("cup", "a page behind a script: one page of a browser"), ("bowl", "the next one: HTTP alone"))
)


def run(folder: Path, project: Path) -> int:
    """Run all jobs; the exit code: 0 when each gave items and none went out without a proxy."""
    folder = folder.resolve()  # the crawls run in the project's folder
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "site", ignore_errors=True)
    (folder / "sites.yaml").write_text(json.dumps({"sites": _sites(project)}))
    print("A local site plays instagram with invented people. Nothing leaves this machine.\n")
    with DemoProcess(folder / "site", "--behaviour", "demo", "--wall-after", "4", "--proxies", "2") as demo:
        environment = _environment(folder, demo)
        good = all(_run_job(job, folder, project, environment, demo) for job in (*JOBS, *_with_browser()))
        records = demo.log()
    direct = _report(records)
    return 0 if good and not direct else 1


def _with_browser() -> tuple[Job, ...]:
    """The jobs that take a browser, none where there is none."""
    try:
        find_program(os.environ.get(VARIABLE))
    except ConfigError as exc:
        print(f"Left out, a page that takes a browser: {exc.message}\n")
        return ()
    return CHALLENGES


def _sites(project: Path) -> dict[str, Any]:
    """An entry for each site of the project."""
    own = {"instagram": _MAIN, "fetch": _OTHERS | {"render": "on_evidence"}}
    return {name: own.get(name, _OTHERS) for name in load_sites(project / "sites.yaml")}


def _environment(folder: Path, demo: DemoProcess) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if name == VARIABLE or not name.startswith("FETCHWORKER_")}
    own.pop("REDIS_URL", None)
    return own | {
        "FETCHWORKER_PROXIES": "\n".join(demo.proxies),
        "FETCHWORKER_PROXY_COOLDOWN": "0.5",
        "FETCHWORKER_CA_FILE": demo.ca,
        "FETCHWORKER_HOST_MAP": json.dumps(demo.ready["host_map"]),
        "FETCHWORKER_SITES_FILE": str(folder / "sites.yaml"),
        "FETCHWORKER_STATE_DIR": str(folder / "state"),
        "FETCHWORKER_REDIS_KEEP_RUNNING": "false",
        "FETCHWORKER_LOG_FORMAT": "json",
    }


def _run_job(job: Job, folder: Path, project: Path, environment: dict[str, str], demo: DemoProcess) -> bool:
    output = folder / job.output
    output.unlink(missing_ok=True)  # the progress line counts this run's items
    command = ["scrapy", "crawl", job.site, *job.arguments, "-O", str(output)]
    print(f"{job.title}\n$ {' '.join(_shown(part, project) for part in command)}")
    log = folder / f"{output.stem}.log"
    with log.open("wb") as stderr:
        process = subprocess.Popen([sys.executable, "-m", *command], cwd=project, env=environment, stderr=stderr)  # noqa: S603
        _watch(process, output, demo)
    lines = _lines(output)
    if process.returncode or not lines:
        print(f"  exit code {process.returncode}; the end of {log}:\n{log.read_text()[-1500:]}")
        return False
    _show_items(lines)
    print(f"  outcomes: {_outcomes(log)}{_pages(job, log)}")
    print(f"  items: {_shown(str(output), project)}   log: {_shown(str(log), project)}\n")
    return True


def _watch(process: subprocess.Popen[bytes], output: Path, demo: DemoProcess) -> None:
    """A progress line while the crawl runs: rewritten on a terminal, printed once elsewhere."""
    started = time.monotonic()
    while True:
        try:
            process.wait(_TICK)
        except subprocess.TimeoutExpired:
            if sys.stdout.isatty():
                _progress(sys.stdout, output, demo, started, end="")
            continue
        _progress(sys.stdout, output, demo, started, end="\n")
        return


def _progress(out: TextIO, output: Path, demo: DemoProcess, started: float, *, end: str) -> None:
    requests, obstacles = len(demo.log("request")), len(demo.log("behaviour"))
    told = f"{len(_lines(output))} items; at the site so far: {requests} requests, {obstacles} obstacles"
    start = "\r" if out.isatty() else ""
    print(f"{start}  {told}; {time.monotonic() - started:.1f} s   ", end=end, flush=True, file=out)


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
    except FileNotFoundError:
        return []


def _show_items(items: list[dict[str, Any]]) -> None:
    kinds = Counter(item["kind"] for item in items)
    print("  " + ", ".join(f"{count} {kind}" for kind, count in kinds.items()))
    shown: Counter[str] = Counter()
    for item in items:
        shown[item["kind"]] += 1
        if shown[item["kind"]] <= 2:  # noqa: PLR2004  # enough to see what they are like
            print(f"    {_short(item)}")


def _short(item: dict[str, Any]) -> str:
    kept = {name: value for name, value in item.items() if value not in (None, [], {}) and name not in _LEFT_OUT}
    text = json.dumps(kept, ensure_ascii=False)
    return text if len(text) <= 160 else text[:157] + "…}"  # noqa: PLR2004  # a terminal's width or two


def _shown(text: str, project: Path) -> str:
    """A path as one would write it from here."""
    return text.removeprefix(f"{project}/")


_LEFT_OUT = frozenset({"item_id", "site", "operation", "fetched_at", "extra", "media", "avatar_url", "url"})


def _outcomes(log: Path) -> str:
    """The summary that the crawl logged at its end."""
    for line in reversed(log.read_text().splitlines()):
        event = json.loads(line).get("event", "") if line.startswith("{") else line
        if "answers:" in event:
            return str(event.partition("answers: ")[2])
    return "none"


def _pages(job: Job, log: Path) -> str:
    """How many pages a browser has loaded for it, where that is the question."""
    if job not in CHALLENGES:
        return ""
    found = re.search(r"'fetchworker/browser/pages': (\d+)", log.read_text())
    return f"; pages in a browser: {found[1] if found else 0}"


def _report(records: list[Record]) -> int:
    """Who did what at the site, and how many requests came by no proxy."""
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    last: dict[tuple[int, str], list[str]] = {}
    direct = 0
    for record in records:
        place = (record.get("connection", 0), record.get("path", ""))
        if record["type"] == "request":
            direct += record["peer"] == "127.0.0.1"
            steps = last[place] = rows[record["peer"], _identity(record)]
            steps.append(_step(record))
        elif record["type"] == "behaviour" and place in last:
            last[place][-1] += f" → {record['what']}"
    print("At the site, by exit and identity (its cookie `mid`; – before it has one):")
    for (exit_, identity), steps in rows.items():
        print(f"  proxy{exit_.removeprefix('127.0.0.1')} {identity:9} {len(steps):3}  {', '.join(_folded(steps))}")
    print(f"\nRequests that came by no proxy: {direct}")
    return direct


def _identity(record: Record) -> str:
    for name, value in record["headers"]:
        if name.lower() == "cookie" and "mid=" in value:
            return str(value.partition("mid=")[2].partition(";")[0][:8])
    return "–"


def _step(record: Record) -> str:
    return str(record["path"].partition("?")[0])


def _folded(steps: Iterable[str]) -> Iterator[str]:
    """Steps in their order, equal neighbours as one with their number."""
    last, count = "", 0
    for step in [*steps, ""]:
        if step == last:
            count += 1
            continue
        if last:
            yield last if count == 1 else f"{last} ×{count}"
        last, count = step, 1
