"""How a job ended, in one word and with reasons; pure."""

from __future__ import annotations

import signal as signals
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: outcomes of answers that say: not to you
_REFUSALS = frozenset({"blocked", "challenge", "rate_limited", "login_wall"})
#: those that say: it is not there
_ABSENT = frozenset({"not_found", "gone", "private"})
#: finish reasons of crawls whose own end is a cause
_REASONS = {"no_egress": "no_egress", "export_error": "storage_error", "storage_error": "storage_error"}
#: beginnings of stats that count what an output did not take
_LOST = ("fetchworker/lines_lost", "feedexport/failed_count/")
#: errors that a start is refused for, and one that requests fail with
_STORAGE = frozenset({"ExportError", "StorageError"})
_PROXY_REFUSED, _EXHAUSTED = "ProxyRefusedError", "PROXY_EXHAUSTED"
_OVER_BUDGET = 3
_MOST = 5  # reasons of a kind


@dataclass(frozen=True, slots=True)
class Thresholds:
    """When a job that has ended well is called degraded.

    ``block_share``: the share of answers that are refusals, from which on. ``drift_share``: the share of pages that
    lack what their contract promises, from which on. ``items_min``: how many items are expected at least.
    """

    block_share: float = 0.5
    drift_share: float = 0.1
    items_min: int = 0


@dataclass(frozen=True, slots=True)
class Ending:
    """What is known when a job's processes are gone.

    ``stopped`` is why its supervisor ended it: ``oom``, ``timed_out``, ``aborted`` or ``killed``, ``detail`` that in
    words; ``refused`` what a start was refused for (class and message of the error); ``fault`` why it could not be
    started.
    """

    exit_code: int | None = None
    signal: int | None = None
    stopped: str | None = None
    detail: str = ""
    finish_reason: str | None = None
    stats: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    refused: tuple[str, str] | None = None
    fault: OSError | None = None
    disk_full: bool = False


Judgement = tuple[str, tuple[str, ...]]
"""An exit cause and its reasons."""


def judge(ending: Ending, thresholds: Thresholds | None = None) -> Judgement:
    """The exit cause and its reasons: those of the first rule that has something to say."""
    for rule in (_ended_by_us, _not_begun, _unwritten, _gave_up, _failed, _wordless):
        if (found := rule(ending)) is not None:
            return found
    return _good(ending, thresholds or Thresholds())


def _ended_by_us(ending: Ending) -> Judgement | None:
    if ending.stopped:
        return ending.stopped, (ending.detail,) if ending.detail else ()
    return ("killed", (_by_signal(ending.signal),)) if ending.signal is not None else None


def _not_begun(ending: Ending) -> Judgement | None:
    if ending.fault is not None:
        return "storage_error", (f"the job could not be started: {ending.fault.strerror or ending.fault}",)
    if ending.refused is None:
        return None
    error, message = ending.refused
    if error in _STORAGE:
        return "storage_error", (message,)
    return ("no_egress" if error == _PROXY_REFUSED else "failed"), (message,)


def _unwritten(ending: Ending) -> Judgement | None:
    lost = tuple(
        f"an output was not written whole ({name}: {count})"
        for name, count in sorted(ending.stats.items())
        if name.startswith(_LOST)
    )
    return ("storage_error", lost) if lost else None


def _gave_up(ending: Ending) -> Judgement | None:
    if ending.finish_reason in _REASONS:
        told = f"the crawl ended as {ending.finish_reason}"
        return _REASONS[ending.finish_reason], (told, *_troubles(ending.stats))
    if ending.finish_reason == "shutdown":
        return "killed", ("the crawl was told to end, and not by its supervisor",)
    return None


def _failed(ending: Ending) -> Judgement | None:
    stats, troubles = ending.stats, tuple(_troubles(ending.stats))
    if _all_refused(stats):
        return "blocked", (_told_refusals(stats), *troubles)
    if ending.exit_code in {0, _OVER_BUDGET}:
        return None
    failed = {name.rsplit("/", 1)[1] for name in stats if name.startswith("fetchworker/failed/")}
    if failed == {_EXHAUSTED} and not stats.get("item_scraped_count"):
        return "no_egress", ("no proxy was to be had for any request", *troubles)
    if ending.disk_full and ending.finish_reason is None:
        return "storage_error", (f"exit code {ending.exit_code}, and the disk is full",)
    told = f", the crawl ended as {ending.finish_reason}" if ending.finish_reason else ""
    kinds = ", ".join(sorted(failed))
    return "failed", (
        f"exit code {ending.exit_code}{told}",
        *([f"requests failed: {kinds}"] if kinds else ()),
        *troubles,
    )


def _wordless(ending: Ending) -> Judgement | None:
    """A process that ends well tells how: one that is silent was ended from within."""
    if ending.finish_reason is None and not ending.stats:
        return "failed", (f"its process ended with exit code {ending.exit_code} and told nothing of the crawl",)
    return None


def _good(ending: Ending, limits: Thresholds) -> Judgement:
    reasons = (*_below(ending, limits), *_troubles(ending.stats))
    return ("degraded", reasons) if reasons else ("ok", ())


def _by_signal(number: int) -> str:
    name = signals.Signals(number).name if number in signals.valid_signals() else str(number)
    hint = "; the kernel does that where memory is short" if number == signals.SIGKILL else ""
    return f"the process was ended by {name}, and not by its supervisor{hint}"


def _answers(stats: Mapping[str, Any], kind: frozenset[str] = _REFUSALS) -> tuple[int, int]:
    """All answers, and those of a kind: refusals."""
    counts = [
        (name.rsplit("/", 1)[1], count) for name, count in stats.items() if name.startswith("fetchworker/outcome/")
    ]
    return sum(count for _, count in counts), sum(count for outcome, count in counts if outcome in kind)


def _all_refused(stats: Mapping[str, Any]) -> bool:
    """Whether nothing came but refusals, with what else may end in no item."""
    _, refusals = _answers(stats)
    good = sum(
        count for name, count in stats.items() if name.startswith("fetchworker/outcome/") and name.endswith("/ok")
    )
    return bool(refusals) and not good and not stats.get("item_scraped_count")


def _told_refusals(stats: Mapping[str, Any]) -> str:
    answers, refusals = _answers(stats)
    return f"{refusals} of {answers} answers were refusals ({refusals / answers:.0%})"


def _below(ending: Ending, limits: Thresholds) -> Iterator[str]:
    answers, refusals = _answers(ending.stats)
    if refusals and refusals / answers >= limits.block_share:
        yield _told_refusals(ending.stats)
    items = ending.stats.get("item_scraped_count", 0)
    if items < limits.items_min:
        yield f"{items} items, {limits.items_min} expected"
    answers, absent = _answers(ending.stats, _ABSENT)
    if absent and not items:
        yield f"no item came: by {absent} of {answers} answers what was asked for is not there"
    if ending.exit_code == _OVER_BUDGET:
        yield "the site's budget of bytes is used up"
    yield from _drift(ending.stats, limits)


def _drift(stats: Mapping[str, Any], limits: Thresholds) -> Iterator[str]:
    def total(kind: str) -> int:
        return sum(count for name, count in stats.items() if name.startswith(f"fetchworker/{kind}/"))

    drifted = total("drift")
    pages = drifted + total("parsed")
    if drifted and drifted / pages >= limits.drift_share:
        yield f"{drifted} of {pages} pages ({drifted / pages:.0%}) lack what their contract promises"


def _troubles(stats: Mapping[str, Any]) -> Iterator[str]:
    """What went wrong in the spider's own code."""
    found = [name for name in sorted(stats) if name.startswith("spider_exceptions/") and name.count("/") == 1]
    for name in [name for name in found if not name.endswith("/count")][:_MOST]:
        yield f"the spider raised {name.partition('/')[2]} ({stats[name]})"
