"""A job of the tests' own platform: ``_job.py FOLDER SPEC``; what it does stands in the query of its ``url``.

rows=N first=M: so many rows from that one on; half=1: a last line without an end; bad=1: a line that is no JSON;
spent=N: it has cost N requests; wait=NAME: goes on when that file is there; end=CAUSE: how it ends;
deaf=1: SIGTERM does not move it.
"""

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

folder = Path(sys.argv[1])
spec = json.loads(sys.argv[2])
told = dict(parse_qsl(urlsplit(spec["arguments"]["url"]).query))
try:
    folder.mkdir(parents=True)
except FileExistsError:
    sys.stdout.write("there\n")
    sys.exit()


def write(name, value):
    (folder / f".{name}").write_text(json.dumps(value))
    (folder / f".{name}").rename(folder / name)


def end(cause, reasons=()):
    write("end.json", {"exit_cause": cause, "reasons": list(reasons), "ended": time.time()})
    os._exit(0)


signal.signal(signal.SIGTERM, signal.SIG_IGN if told.get("deaf") else lambda *_: end("aborted"))
with (folder.parent.parent / "spawned").open("a") as log:
    log.write(spec["job_id"] + "\n")
(folder / "log").write_text(f"begun {spec['job_id']}\n")
write("begun.json", {"pid": os.getpid(), "started": time.time()})
with contextlib.suppress(BrokenPipeError):  # who began it may have been killed
    os.write(1, b"begun\n")
os.close(1)
if told.get("spent"):
    number = int(told["spent"])
    sums = {"provider": "evomi", "tier": "residential", "requests": number, "bytes_up": 10, "bytes_down": 1 << 40}
    session = {"session_id": "ann", "exit": "evomi:gate.example:1", "country": "DE", "exits": 2, "outcomes": {"ok": 1}}
    costs = [{**sums, "operation": "fetch", "browser_ms": 7}, {**sums, "operation": "warmup", "browser_ms": 0}]
    write("spent.json", {"site": "fetch", "costs": costs, "sessions": [{**sums, **session}]})
lines = (folder / "items.jsonl").open("ab", buffering=0)
first = int(told.get("first", 0))
for number in range(first, first + int(told.get("rows", 0))):
    item = {"item_id": f"i{number}", "kind": "post", "site": "fetch", "number": number, "text": told.get("text", "")}
    lines.write(json.dumps(item).encode() + b"\n")
if told.get("bad"):
    lines.write(b'{"item_id": \n')
if told.get("half"):
    lines.write(b'{"item_id": "half"')
while told.get("wait") and not (folder.parent.parent / told["wait"]).exists():
    time.sleep(0.01)
    if os.getppid() == 1 and not folder.exists():
        os._exit(1)
for number in range(first + 1000, first + 1000 + int(told.get("more", 0))):
    lines.write(json.dumps({"item_id": f"i{number}", "kind": "post", "number": number}).encode() + b"\n")
end(told.get("end", "ok"), [told["why"]] if told.get("why") else [])
