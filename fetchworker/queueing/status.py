"""How queues stand, for people and for programs (pure)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fetchworker.telemetry.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from fetchworker.frontier.report import Held, Holder, Report

#: leases of a worker that people are shown, the oldest first
SHOWN = 10
_URL = 100
_HEAD = (
    *("SITE", "CRAWL", "HIGH", "NORMAL", "LOW", "UNSERVED", "LEASED", "DELAYED", "SEEDS", "DEAD"),
    *("ENQUEUED", "DONE", "AGAIN", "START"),
)
_USAGE = re.compile(r"\.? (Operations and their|Its) fields \(\* required\):$")
_LEFT = frozenset({"SESSION", "STATE", "JAR", "SITE", "CRAWL", "START", "WORKER", "URL", "REASON", "ID", "KIND"})


def tiers(report: Report) -> dict[str, int]:
    """Requests by tier: of priorities above zero, of zero, and below."""
    found = {"high": 0, "normal": report.parts, "low": 0}
    for level in report.levels:
        found["high" if level.priority > 0 else "low" if level.priority < 0 else "normal"] += level.entries
    return found


def span(seconds: float | None) -> str:
    """A time for people: ``12s``, ``5m``, ``3h``, ``2d``."""
    if seconds is None:
        return "-"
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if abs(seconds) >= 2 * length:
            return f"{seconds / length:.0f}{unit}"
    return f"{seconds:.0f}s"


def first_line(reason: str) -> str:
    """Why something was refused, on one line: without the list of operations and fields that follows for people."""
    return _USAGE.sub("", reason.partition("\n")[0])


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lines of aligned columns: numbers to the right."""
    lines = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    left = [name in _LEFT for name in head]
    return [
        "  ".join(
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(line, widths, left, strict=True)
        ).rstrip()
        for line in lines
    ]


# ── for people ───────────────────────────────────────────────────────────────────────────────────────────────────────


def as_text(reports: Sequence[Report], *, verbose: bool = False) -> list[str]:
    """A table of namespaces, and what there is to say of each."""
    lines = table(_HEAD, map(_row, reports))
    for report in reports:
        details = [*_notes(report), *(_levels(report) if verbose else []), *_leases(report)]
        if details:
            lines += ["", f"{report.names}:", *(f"  {line}" for line in details)]
    return lines


def _row(report: Report) -> tuple[Any, ...]:
    counts = report.counts
    seeds = f"({report.seeds_kind}?)" if report.seeds is None else report.seeds
    return (
        *(report.names.spider, report.names.id or "(shared)", *tiers(report).values(), span(report.unserved)),
        *(report.leased, report.delayed, seeds, report.dead),
        *(counts.get("enqueued", 0), counts.get("done", 0), counts.get("redelivered", 0), report.start),
    )


def _notes(report: Report) -> list[str]:
    told = []
    if report.seeds is None:
        told.append(f"{report.names.seeds} is a {report.seeds_kind}: seeds are a list, a set or a sorted set")
    if report.due is not None:
        told.append(f"the next delayed request is due {'now' if report.due <= 0 else f'in {span(report.due)}'}")
    if report.staged:
        told.append(f"{report.staged} children of pages under way are staged")
    if report.committed:
        told.append(f"{report.committed} pages are done whose {report.parts} further children join the queue in parts")
    if report.expires is not None:
        told.append(f"ended; what is left goes in {span(report.expires)}")
    return told


def _levels(report: Report) -> list[str]:
    rows = [(level.priority, level.entries, span(level.unserved)) for level in report.levels]
    return table(("PRIORITY", "REQUESTS", "UNSERVED"), rows) if rows else []


def _leases(report: Report) -> list[str]:
    lines: list[str] = []
    for worker in report.workers:
        lapse = f"lapse in {span(worker.lapses)}" if worker.lapses > 0 else f"lapsed {span(-worker.lapses)} ago"
        lines.append(f"{worker.owner}: {len(worker.held)} leases, {lapse}")
        rows = [(span(one.age), *_tries(one), one.priority, _url(one)) for one in worker.held[:SHOWN]]
        if rows:
            lines += [f"  {line}" for line in table(("AGE", "ATTEMPT", "DELIVERY", "PRIORITY", "URL"), rows)]
        if len(worker.held) > SHOWN:
            lines.append(f"  … and {len(worker.held) - SHOWN} more")
    return lines


def _tries(one: Held) -> tuple[Any, Any]:
    return ("?", "?") if one.entry is None else (one.entry.failures + 1, one.entry.deliveries + 1)


def _url(one: Held) -> str:
    if one.url is None:
        return "(a seed)" if one.entry is not None and one.entry.kind == "seed" else "(unreadable)"
    url = redact(one.url)
    return url if len(url) <= _URL else f"{url[: _URL - 1]}…"


# ── for programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def as_json(reports: Iterable[Report]) -> dict[str, Any]:
    """One object; times are seconds from now."""
    return {"namespaces": [_namespace(report) for report in reports]}


def _namespace(report: Report) -> dict[str, Any]:
    counts = report.counts
    return {
        "site": report.names.spider,
        "crawl": report.names.id,
        "queued": report.queued,
        "tiers": tiers(report),
        "priorities": [
            {"priority": level.priority, "requests": level.entries, "unserved": round(level.unserved, 3)}
            for level in report.levels
        ],
        "unserved": _rounded(report.unserved),
        "leased": report.leased,
        "workers": [_worker(worker) for worker in report.workers],
        "delayed": report.delayed,
        "next_due": _rounded(report.due),
        "seeds": report.seeds,
        "seeds_key": report.names.seeds,
        "seeds_type": report.seeds_kind,
        "staged": report.staged,
        "committed": {"pages": report.committed, "children": report.parts},
        "dead": report.dead,
        "seen": report.seen,
        "counts": {name: counts.get(name, 0) for name in ("enqueued", "done", "redelivered", "dead")},
        "start": {"state": report.start, "requests": report.started},
        "expires_in": _rounded(report.expires),
    }


def _worker(worker: Holder) -> dict[str, Any]:
    return {
        "owner": worker.owner,
        "lapses_in": round(worker.lapses, 3),
        "leased": len(worker.held),
        "leases": [_lease(one) for one in worker.held],
    }


def _lease(one: Held) -> dict[str, Any]:
    entry = one.entry
    return {
        "id": one.token,
        "kind": entry.kind if entry else None,
        "age": round(one.age, 3),
        "attempt": entry.failures + 1 if entry else None,
        "failures": entry.failures if entry else None,
        "deliveries": entry.deliveries + 1 if entry else None,
        "priority": one.priority,
        "url": redact(one.url) if one.url is not None else None,
        "bytes": one.size,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
