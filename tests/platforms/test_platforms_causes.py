"""The exit cause is a pure function of what is known at the end."""

from __future__ import annotations

import errno

import pytest

from fetchworker.jobs.causes import Ending, Thresholds, judge

DRIFT, PARSED = "fetchworker/drift/shop/item/price", "fetchworker/parsed/shop/item"
RAISED = {"spider_exceptions/count": 2, "spider_exceptions/KeyError": 2}
SITE = "fetchworker/outcome/shop"
DONE = {"exit_code": 0, "finish_reason": "finished"}
FAILED = {"exit_code": 1, "finish_reason": "finished"}


def answers(**counts: int) -> dict[str, int]:
    return {f"{SITE}/{outcome}": count for outcome, count in counts.items()}


@pytest.mark.parametrize(
    ("ending", "cause", "reason"),
    [
        (Ending(**DONE, stats={**answers(ok=5), "item_scraped_count": 5}), "ok", None),
        (Ending(**DONE), "ok", None),
        (Ending(exit_code=0, finish_reason="idle"), "ok", None),
        # stopped by the supervisor, whatever else is told
        (Ending(signal=9, stopped="oom", detail="300 MB", finish_reason="export_error"), "oom", "300 MB"),
        (Ending(exit_code=0, stopped="aborted", detail="told", finish_reason="shutdown"), "aborted", "told"),
        (Ending(exit_code=1, stopped="timed_out", detail="9 s"), "timed_out", "9 s"),
        # by somebody else
        (Ending(signal=9), "killed", "SIGKILL, and not by its supervisor; the kernel"),
        (Ending(signal=11), "killed", "SIGSEGV"),
        (Ending(signal=250), "killed", "250"),
        (Ending(exit_code=0, finish_reason="shutdown"), "killed", "not by its supervisor"),
        # without a word
        (Ending(exit_code=0), "failed", "exit code 0 and told nothing"),
        (Ending(exit_code=3), "failed", "told nothing"),
        # not begun
        (Ending(fault=OSError(errno.ENOSPC, "No space left on device")), "storage_error", "No space left"),
        (Ending(exit_code=2, refused=("ExportError", "cannot write x")), "storage_error", "cannot write x"),
        (Ending(exit_code=2, refused=("StorageError", "no database")), "storage_error", "no database"),
        (Ending(exit_code=2, refused=("ProxyRefusedError", "407")), "no_egress", "407"),
        (Ending(exit_code=2, refused=("ArgumentError", "usr?")), "failed", "usr?"),
        (Ending(exit_code=1), "failed", "exit code 1"),
        (Ending(exit_code=1, disk_full=True), "storage_error", "the disk is full"),
        # reasons of the crawl's own
        (Ending(exit_code=1, finish_reason="no_egress"), "no_egress", "no_egress"),
        (Ending(exit_code=1, finish_reason="export_error"), "storage_error", "export_error"),
        (Ending(exit_code=1, finish_reason="storage_error"), "storage_error", "storage_error"),
        (Ending(**DONE, stats={"fetchworker/lines_lost": 2}), "storage_error", "lines_lost: 2"),
        (Ending(**FAILED, stats={"feedexport/failed_count/X": 1}), "storage_error", "X: 1"),
        (Ending(**FAILED, stats={"fetchworker/failed/shop/PROXY_EXHAUSTED": 3}), "no_egress", "no proxy"),
        (
            Ending(**FAILED, stats={"fetchworker/failed/shop/PROXY_EXHAUSTED": 3, "fetchworker/failed/shop/X": 1}),
            "failed",
            "requests failed: PROXY_EXHAUSTED, X",
        ),
        (Ending(exit_code=1, finish_reason="redis_unavailable"), "failed", "redis_unavailable"),
        # refusals
        (Ending(**FAILED, stats=answers(blocked=4, rate_limited=1)), "blocked", "5 of 5 answers"),
        (Ending(**DONE, stats=answers(login_wall=1, not_found=1)), "blocked", "1 of 2 answers"),
        # it was asked for something, and has brought nothing
        (Ending(**DONE, stats=answers(not_found=2)), "degraded", "no item came: by 2 of 2 answers"),
        (Ending(**DONE, stats=answers(ok=1, gone=1, private=1)), "degraded", "no item came: by 2 of 3 answers"),
        (Ending(**DONE, stats={**answers(not_found=2, ok=1), "item_scraped_count": 1}), "ok", None),
        (Ending(**DONE, stats=answers(ok=1)), "ok", None),
        (Ending(**DONE, stats=answers(ok=1, blocked=1)), "degraded", "1 of 2 answers were refusals (50%)"),
        (Ending(**DONE, stats=answers(ok=2, blocked=1)), "ok", None),
        # less than was hoped for
        (
            Ending(**DONE, stats={DRIFT: 1, PARSED: 9}),
            "degraded",
            "1 of 10 pages (10%)",
        ),
        (Ending(**DONE, stats={DRIFT: 1, PARSED: 10}), "ok", None),
        (Ending(**DONE, stats=RAISED), "degraded", "KeyError (2)"),
        (Ending(exit_code=3, finish_reason="budget"), "degraded", "budget of bytes"),
    ],
)  # fmt: skip
def test_the_cause_and_its_reason(ending, cause, reason):
    told, reasons = judge(ending)
    assert told == cause
    assert bool(reasons) == (reason is not None)
    assert reason is None or any(reason in text for text in reasons), reasons


def test_the_limits_are_settings():
    ending = Ending(**DONE, stats={**answers(ok=8, blocked=2), "item_scraped_count": 4})
    assert judge(ending)[0] == "ok"
    assert judge(ending, Thresholds(block_share=0.2)) == ("degraded", ("2 of 10 answers were refusals (20%)",))
    assert judge(ending, Thresholds(items_min=5)) == ("degraded", ("4 items, 5 expected",))
    assert judge(Ending(**DONE), Thresholds(items_min=1)) == ("degraded", ("0 items, 1 expected",))
