from __future__ import annotations

import gc
import logging
import weakref

import pytest

from fetchworker.telemetry.folding import KEEP_PLACE, KEEP_SAME, Folder, FoldingHandler, Line


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record):
        self.lines.append(record.getMessage())


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def kept():
    return Kept()


@pytest.fixture
def log(kept, clock):
    handler = FoldingHandler(kept, clock=clock)
    logger = logging.Logger("test")  # noqa: LOG001  # one of its own for each test
    logger.addHandler(handler)
    logger.handler = handler
    return logger


def test_the_first_five_pass_and_the_rest_is_counted(log, kept, clock):
    for _ in range(688):
        log.warning("redis is away")
    assert kept.lines == ["redis is away"] * KEEP_SAME
    clock.now += 61
    log.info("going on")
    assert kept.lines[KEEP_SAME:] == ["redis is away (and 683 more like it in 61 s)", "going on"]


def test_a_flood_that_goes_on_is_one_line_a_window(log, kept, clock):
    for _ in range(300):
        log.warning("redis is away")
        clock.now += 1
    assert len(kept.lines) <= KEEP_SAME + 5
    assert kept.lines[-1].startswith("redis is away (and 60 more")


def test_a_warning_that_comes_back_after_a_quiet_window_is_new(log, kept, clock):
    for _ in range(3):
        log.warning("now and then")
        clock.now += 61
    assert kept.lines == ["now and then"] * 3


def test_other_texts_levels_and_loggers_are_other_warnings(log, kept, clock):
    for number in range(4):
        log.warning("same")
        log.error("same")
        log.warning("other %d", number)
    assert len(kept.lines) == 12


def test_errors_fold_but_neither_news_nor_disasters(log, kept):
    for _ in range(20):
        log.error("error")
        log.info("info")
        log.critical("critical")
    assert [kept.lines.count(text) for text in ("error", "info", "critical")] == [KEEP_SAME, 20, 20]


def test_one_place_in_the_code_has_a_bound_too(log, kept, clock):
    for number in range(500):
        log.warning("request %d failed", number)
    assert len(kept.lines) == KEEP_PLACE
    clock.now += 60
    log.info("x")
    assert kept.lines[-2] == "request 499 failed (and 400 more like it in 60 s)"


def test_structlog_events_are_told_apart_by_their_event(log, kept):
    for number in range(200):
        log.warning({"event": f"event {number}"})
    assert len(kept.lines) == 200


def test_closing_tells_what_was_folded(log, kept):
    for _ in range(7):
        log.warning("away")
    log.handler.close()
    assert kept.lines[-1] == "away (and 2 more like it in 0 s)"


def test_the_summary_belongs_to_no_request():
    folder = Folder(window=1)
    line_of = logging.LogRecord("a", logging.WARNING, "", 3, "text", (), None)
    for _ in range(KEEP_SAME + 1):
        folder.admit(Line.of(line_of), 0)
    (summary,) = folder.due(1)
    record = summary.record()
    assert record.fw_attribution == {}
    assert record.folded == 1
    assert (record.name, record.levelno) == ("a", logging.WARNING)


def test_memory_is_bounded_and_nothing_is_forgotten_silently():
    folder = Folder(capacity=10)
    first = Line("a", 30, "first", "1")
    for _ in range(KEEP_SAME + 3):
        folder.admit(first, 0)
    for number in range(100):
        folder.admit(Line("a", 30, f"other {number}", f"{number}"), 1)
    assert len(folder._kinds) == 10
    assert [(summary.last.text, summary.folded) for summary in folder.due(2)] == [("first", 3)]


def test_a_record_s_arguments_are_not_kept_alive(log):
    class Request:
        pass

    request = Request()
    gone = weakref.ref(request)
    for _ in range(KEEP_SAME + 1):
        log.warning("failed %s", type(request), extra={"request": request})
    del request
    gc.collect()
    assert gone() is None


def test_arguments_that_do_not_fit_do_not_stop_the_log(log, kept, monkeypatch):
    monkeypatch.setattr(Kept, "emit", lambda self, record: self.lines.append(str(record.msg)))
    log.warning("%d items", "no")
    assert kept.lines == ["%d items"]
