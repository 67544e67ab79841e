"""What became of a chaos run: pages missing or doubled, fetches that nothing explains, what is left in Redis."""

from __future__ import annotations

import json
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from chaos import Chaos

#: seconds for which a page that was served may not have been acknowledged yet
OPEN = 20.0
#: seconds after an outage in which leases may lapse because of it
AFTER = 3.0
_SHOWN = 5
#: how a worker begins to say that others have got its work
LAPSED = ("this worker was silent", "a lease had lapsed")
#: ends of keys that hold no work: that start() is done, which crawls there were, what a shared queue has seen
NO_WORK = (":start", ":namespaces}", ":dupefilter")


@dataclass(slots=True)
class Disturbance:
    """A kill or stop of one incarnation of a worker, or of Redis (``worker`` is empty), and when it was over."""

    at: float
    kind: str
    worker: str
    until: float = 0.0

    def meets(self, first: float, last: float) -> bool:
        """Whether it falls into this time, or its consequences do."""
        return self.at <= last and first <= max(self.at, self.until) + AFTER


@dataclass
class Findings:
    violations: list[str] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    stuck: bool = False

    def lack(self, what: str, names: list[str]) -> None:
        """Note what is wrong with these, if any."""
        if names:
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            self.violations.append(f"{len(names)} {what}: {', '.join(names[:_SHOWN])}{more}")

    def told(self) -> str:
        lines = [f"{name:32}{value}" for name, value in self.report.items() if name != "violations"]
        wrong = [f"VIOLATION: {each}" for each in self.violations]
        return "\n".join(lines + (wrong or ["nothing lost, nothing doubled"]))


def check(run: Chaos) -> None:
    """Fill the run's findings."""
    found, answers = run.found, run.served.answers
    wanted = {path.strip("/").replace("/", "-") for path in run.tree.paths()}
    stored, lines, torn = _stored(run.folder / "items.db"), *_lines(run.folder)
    for where, ids in (("the store", stored), ("the JSON lines", lines)):
        found.lack(f"pages missing in {where}", sorted(wanted - ids.keys()))
        found.lack(f"things in {where} that are no page", sorted(ids.keys() - wanted))
    found.lack("pages doubled in the store", [name for name, count in stored.items() if count > 1])
    found.lack("lines that are no JSON", torn)
    lapses = [each for worker in run.workers for each in _lapses(worker.log, worker.number, run.options.lease)]
    again, unexplained = _repeats(answers, run.disturbances + lapses)
    found.lack("fetched again without a reason", unexplained)
    left, counts = left_in_redis(run.redis.client())
    found.lack("kinds of work left in Redis", [f"{key} ({count})" for key, count in left.items()])
    kinds = Counter(each.kind for each in run.disturbances)
    total = sum(len(each) for each in answers.values())
    found.report |= {
        "pages": len(wanted),
        "pages stored": len(stored),
        "JSON lines": sum(lines.values()),
        "JSON lines twice": sum(lines.values()) - len(lines),
        "kills": kinds["kill"],
        "stops past the lease": kinds["stop"],
        "Redis killed": kinds["redis"],
        "worker starts": sum(worker.starts for worker in run.workers),
        "tries spoilt by the upstream": run.served.spoilt,
        "leases lapsed": len(lapses),
        "requests delivered again": counts.get("redelivered", 0),
        "pages fetched again": again,
        "share of tries spoilt": round(run.served.spoilt / max(1, run.served.spoilt + total), 3),
        "seconds Redis was away": round(sum(each.until - each.at for each in run.disturbances if each.until), 1),
        "seconds": round(found.seconds, 1),
        "pages a second": round(len(wanted) / found.seconds, 1),
        "violations": found.violations,
    }


def _stored(path: Path) -> Counter[str]:
    """How often each item is among the observations."""
    if not path.exists():
        return Counter()
    with closing(sqlite3.connect(path)) as database:
        known = {row[0] for row in database.execute("SELECT id FROM items")}
        seen = Counter(row[0] for row in database.execute("SELECT item_id FROM observations"))
    return Counter({name: count for name, count in seen.items() if name in known})


def _lines(folder: Path) -> tuple[Counter[str], list[str]]:
    """How often each item is in the lines of the workers, and the lines that cannot be read."""
    ids: Counter[str] = Counter()
    torn = []
    for path in sorted(folder.glob("worker-*.jsonl")):
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            try:
                if line:
                    ids[json.loads(line)["item_id"]] += 1
            except (ValueError, KeyError, TypeError):
                torn.append(f"{path.name}:{number}")
    return ids, torn


def _repeats(answers: dict[str, list[tuple[float, str]]], disturbances: list[Disturbance]) -> tuple[int, list[str]]:
    """How often pages were served again, and those for which there was no reason.

    A reason is a kill or stop of whoever was served before (it may not have acknowledged the page), an earlier stop of
    either (its lease is over and it does not know), or an outage of Redis. A worker that was silent for longer than its
    lease because the machine had no time for it is as good as stopped.
    """
    again, wrong = 0, []
    for path, served in answers.items():
        for (before, first), (now, second) in pairwise(served):
            again += 1
            reasons = [each for each in disturbances if each.meets(before, min(now, before + OPEN))]
            held = any(each.worker in {"", first} for each in reasons)
            late = [each for each in disturbances if each.kind in {"stop", "lapse"} and each.meets(now - OPEN, now)]
            held = held or any(each.worker in {first, second} for each in late)
            if not held:
                wrong.append(f"{path} ({first}, {now - before:.1f} s later {second})")
    return again, wrong


def _lapses(log: Path, number: int, lease: float) -> list[Disturbance]:
    """When incarnations of a worker found out that they had been silent for too long, as they logged it."""
    found, start, offset = [], 0, time.monotonic() - time.time()
    for line in log.read_text().splitlines():
        record = _record(line)
        start += record.get("event", "").startswith("Scrapy ")
        if record.get("event", "").startswith(LAPSED):
            at = datetime.fromisoformat(record["ts"]).timestamp() + offset
            found.append(Disturbance(at - lease, "lapse", f"{number}.{start}", until=at))
    return found


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:  # of something else than the log, or torn by a kill
        return {}
    return record if isinstance(record, dict) else {}


#: what stays after a crawl, but for sessions that are in use still
KEPT, LEASED, USED = ("fw:pool:", "fw:session:"), ":leases", ":usage}:"


def left_in_redis(client: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Keys that hold work, with how much; and the queue's own counts."""
    sizes = {"list": client.llen, "zset": client.zcard, "hash": client.hlen}
    left, counts = {}, {}
    for key in sorted(each.decode() for each in client.scan_iter(count=1000)):
        kind = client.type(key).decode()
        if key.endswith(":counts"):
            counts = {name.decode(): int(count) for name, count in client.hgetall(key).items()}
        elif (
            kind in sizes
            and USED not in key
            and not key.endswith(NO_WORK)
            and (not key.startswith(KEPT) or key.endswith(LEASED))
        ):
            left[key] = int(sizes[kind](key))
    return left, counts
