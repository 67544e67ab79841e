from __future__ import annotations

import io
import json
import logging
import os
import re
import threading

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy import Spider

from fetchworker.errors import ConfigError
from fetchworker.telemetry import bound, configure_logging, get_logger, register_secret
from fetchworker.telemetry.attribution import set_process
from fetchworker.telemetry.logging import disable_logging, installed_handler, reset_logging
from fetchworker.telemetry.redaction import forget_secrets


@pytest.fixture(autouse=True)
def _clean():
    levels = logging.root.level, logging.getLogger("scrapy").level
    forget_secrets()
    yield
    reset_logging()
    forget_secrets()
    structlog.reset_defaults()
    logging.root.setLevel(levels[0])
    logging.getLogger("scrapy").setLevel(levels[1])


@pytest.fixture
def out():
    stream = io.StringIO()
    configure_logging("json", "DEBUG", stream)
    return stream


def fail(message):
    raise ValueError(message)


def lines(out) -> list[dict]:
    return [json.loads(line) for line in out.getvalue().split("\n")[:-1]]


std = logging.getLogger("some.library")
log = get_logger("fetchworker.part")


def test_a_line_begins_with_time_level_logger_and_event(out):
    std.warning("read %d of %s", 3, "seven")
    (line,) = lines(out)
    assert list(line) == ["ts", "level", "logger", "event"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("ts"))
    assert line == {"level": "warning", "logger": "some.library", "event": "read 3 of seven"}


def test_our_logger_a_library_s_and_structlog_s_give_the_same_line(out):
    with bound(request_id="r1", site="shop"):
        log.info("page", size=3)
        std.info("page", extra={"size": 3})
        structlog.get_logger("x").info("page", size=3)
    first, second, third = ({k: v for k, v in line.items() if k not in {"ts", "logger"}} for line in lines(out))
    assert first == second == third == {"level": "info", "event": "page", "request_id": "r1", "site": "shop", "size": 3}


def test_a_bound_logger_keeps_its_fields(out):
    one = log.bind(part="a")
    one.info("x", n=1)
    one.bind(part="b", more=True).warning("%s", "y")
    log.debug("z")
    shown = [{k: v for k, v in line.items() if k in {"event", "part", "n", "more"}} for line in lines(out)]
    assert shown == [{"event": "x", "part": "a", "n": 1}, {"event": "y", "part": "b", "more": True}, {"event": "z"}]


def test_process_fields_are_on_every_line(out):
    set_process(crawl_id="c1")
    try:
        std.info("x")
    finally:
        set_process(crawl_id=None)
    assert lines(out)[0]["crawl_id"] == "c1"


def test_a_field_does_not_take_the_place_of_one_of_the_line_s_own(out):
    with bound(site="shop"):
        log.info("x", level="high", site="other", ts=1)
    (line,) = lines(out)
    assert (line["level"], line["level_"], line["site"], line["site_"], line["ts_"]) == (
        "info",
        "high",
        "shop",
        "other",
        1,
    )


def test_arguments_of_a_message_can_tell_whose_it_is(out):
    with bound(request_id="context", trace_id="t"):
        std.info("Crawled %(url)s", {"url": "u", "fw_attribution": {"request_id": "own", "site": "shop"}})
    (line,) = lines(out)
    assert (line["request_id"], line["trace_id"], line["site"]) == ("own", "t", "shop")
    assert line["event"] == "Crawled u"


@pytest.mark.parametrize("way", ["exc_info=True", "exception object", "exception()", "library"])
def test_a_traceback_is_a_field_and_holds_no_secret(out, way):
    register_secret("kanarienvogel")
    try:
        fail("http://ana:geheim@proxy.test and kanarienvogel")
    except ValueError as exc:
        if way == "exc_info=True":
            log.warning("failed", exc_info=True)
        elif way == "exception object":
            log.warning("failed", exc_info=exc)
        elif way == "exception()":
            log.exception("failed")
        else:
            std.exception("failed")
    (line,) = lines(out)
    assert line["exception"].startswith("Traceback (most recent call last):\n")
    assert line["exception"].endswith("ValueError: http://***@proxy.test and ***")
    assert "geheim" not in out.getvalue()


def test_exc_info_without_an_exception_is_no_traceback(out):
    std.error("x", exc_info=True)
    log.error("x", exc_info=None)
    assert all("exception" not in line for line in lines(out))


def test_a_spider_is_shown_by_its_name(out):
    std.info("x", extra={"spider": Spider("shop")})
    assert lines(out)[0]["spider"] == "shop"


def test_a_record_that_cannot_be_formatted_says_so(out, capsys):
    record = logging.LogRecord("x", logging.INFO, "", 0, "%d items of ana:geheim@proxy.test:1", ("geheim",), None)
    installed_handler().handle(record)  # pytest's own handlers would raise
    (line,) = lines(out)
    assert line["event"].startswith("a log record could not be shown (TypeError): %d items of ***@")
    assert capsys.readouterr().err == ""


def test_a_stream_that_is_gone_does_not_stop_the_program(out, capsys):
    out.close()
    std.info("password=geheim %s", "geheim")
    assert capsys.readouterr().err == ""


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.dates()
    | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(), st.dictionaries(st.text(min_size=1), values, max_size=4))
def test_any_record_is_one_line_of_json(event, fields):
    stream = io.StringIO()
    configure_logging("json", "DEBUG", stream)
    std.info("%s", event, extra={f"x{name}": value for name, value in fields.items()})
    log.info(event.replace("%", ""), **{f"x{name}": value for name, value in fields.items()})
    first, second = lines(stream)
    assert first["level"] == second["level"] == "info"
    assert set(first) == set(second)
    stream.getvalue().encode()


# ── text ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_text_is_readable_and_has_no_escape_codes():
    stream = io.StringIO()
    configure_logging("text", stream=stream)
    with bound(site="shop"):
        log.info("page\x1b[31m done", size=3, url="http://ana:geheim@proxy.test", odd="\x07\u202e")
    text = stream.getvalue()
    assert re.match(
        r"\d{4}-\d\d-\d\dT[\d:.]+Z \[info\] page\\x1b\[31m done \[fetchworker.part\] site=shop size=3", text
    )
    assert "http://***@proxy.test" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_a_traceback_follows_the_text_as_it_is():
    stream = io.StringIO()
    configure_logging("text", stream=stream)
    try:
        fail("http://ana:geheim@proxy.test")
    except ValueError:
        log.exception("failed")
    head, *rest = stream.getvalue().splitlines()
    assert "failed" in head
    assert rest[0] == "Traceback (most recent call last):"
    assert rest[-1] == "ValueError: http://***@proxy.test"


@pytest.mark.parametrize(("no_color", "colored"), [(False, True), (True, False)])
def test_on_a_terminal_auto_means_text_with_colours_unless_unwanted(monkeypatch, no_color, colored):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    leader, follower = os.openpty()
    try:
        with os.fdopen(follower, "w") as terminal:
            configure_logging(stream=terminal)
            std.info("hello there")
            reset_logging()
            terminal.flush()
            shown = os.read(leader, 4096).decode()
    finally:
        os.close(leader)
    assert "hello there" in shown
    assert not shown.startswith("{")
    assert ("\x1b[" in shown) is colored


# ── setting up ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_setting_up_twice_changes_what_differs_and_nothing_else(out):
    handler = installed_handler()
    configure_logging("json", "DEBUG", out)
    assert installed_handler() is handler
    std.info("once")
    configure_logging("json", "WARNING", out)
    assert installed_handler() is handler
    std.info("hidden")
    assert len(lines(out)) == 1
    other = io.StringIO()
    configure_logging("json", "INFO", other)
    std.info("elsewhere")
    assert [handler for handler in logging.root.handlers if handler is installed_handler()] == [installed_handler()]
    assert len(lines(out)) == 1
    assert len(lines(other)) == 1


def test_below_the_level_no_record_is_made(out):
    configure_logging("json", "WARNING", out)
    assert not std.isEnabledFor(logging.INFO)
    assert not logging.getLogger("scrapy.core.engine").isEnabledFor(logging.DEBUG)


@pytest.mark.parametrize(("level", "shown"), [("info", 2), (10, 3), ("30", 1), ("CRITICAL", 0)])
def test_levels_are_names_or_numbers(level, shown):
    stream = io.StringIO()
    configure_logging("json", level, stream)
    for method in (std.debug, std.info, std.warning):
        method("x")
    assert len(lines(stream)) == shown


def test_an_unknown_level_is_a_config_error():
    with pytest.raises(ConfigError, match="LOG_LEVEL: no level is called 'LOUD'; write DEBUG"):
        configure_logging(level="LOUD")


def test_a_file_gets_json_and_is_kept(tmp_path):
    path = tmp_path / "crawl.log"
    path.write_text("before\n")
    configure_logging(path=path)
    std.info("größer")
    configure_logging(path=path)
    std.info("again")
    reset_logging()
    before, first, second = path.read_text("utf-8").splitlines()
    assert before == "before"
    assert (json.loads(first)["event"], json.loads(second)["event"]) == ("größer", "again")


def test_a_file_can_be_begun_anew_and_is_emptied_once(tmp_path):
    path = tmp_path / "crawl.log"
    path.write_text("before\n")
    for number in range(3):
        configure_logging(path=path, append=False)
        std.info("%d", number)
    reset_logging()
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["0", "1", "2"]


@pytest.mark.parametrize("options", [{"path": "/nowhere/at/all.log"}, {"encoding": "klingon"}])
def test_a_file_that_cannot_be_opened_is_a_config_error_and_the_log_stays(out, tmp_path, options):
    with pytest.raises(ConfigError, match=r"LOG_FILE: .*cannot be opened"):
        configure_logging(**{"path": tmp_path / "x.log", **options})
    std.info("still here")
    assert lines(out)[-1]["event"] == "still here"


def test_logging_can_be_off(out, capsys):
    disable_logging()
    std.error("x")
    assert out.getvalue() == ""
    assert capsys.readouterr().err == ""


def test_threads_write_whole_lines(out):
    def work(name):
        for number in range(50):
            with bound(request_id=name):
                log.info("x", number=number, filler="y" * 500)

    threads = [threading.Thread(target=work, args=(f"t{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(out)) == 200


def test_our_logger_works_before_any_set_up(caplog):
    with caplog.at_level("INFO"):
        get_logger("early").info("hello", n=1)
    assert caplog.records[0].name == "early"
