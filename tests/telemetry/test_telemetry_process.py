"""Whole processes: what really comes out of them, and what importing costs."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path

import pytest

from tests import preloaded

ROOT = Path(__file__).parents[2]
OURS = ("FETCHWORKER_", "REDIS_URL", "SCRAPY_")
CANARY = "kanarienvogel-4711"


def run(cwd, *command, **env):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    env = {**clean, "PYTHONPATH": str(ROOT), **env}
    return preloaded.run([sys.executable, *command], cwd=cwd, env=env, timeout=50)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def test_importing_telemetry_loads_nothing_heavy():
    heavy = {"structlog", "pydantic", "yaml", "orjson", "rich"}
    code = f"import sys, fetchworker.telemetry; print(sorted({heavy} & set(sys.modules)))"
    assert run(ROOT, "-c", code).stdout.strip() == "[]"


@pytest.mark.slow
def test_a_process_without_a_terminal_writes_json_and_no_secret(tmp_path):
    script = f"""
        import logging, warnings
        from fetchworker.telemetry import bound, configure_logging, get_logger, register_secret
        register_secret({CANARY!r})
        configure_logging()
        logging.captureWarnings(True)
        log = get_logger("job")
        proxy = "http://ana:{CANARY}@127.0.0.1:9"
        with bound(request_id="r1", session="s1"):
            log.info("trying", proxy=proxy, headers={{"Proxy-Authorization": "Basic {CANARY}"}})
            for _ in range(50):
                logging.getLogger("redis").warning("cannot connect to %s", proxy)
            try:
                raise ConnectionError(f"refused by {{proxy}}") from ValueError({CANARY!r})
            except ConnectionError:
                logging.getLogger("http").exception("failed: %s", {CANARY!r})
            warnings.warn("old: {CANARY}")
        print("done")
    """
    done = run(tmp_path, "-c", textwrap.dedent(script))
    assert done.stdout == "done\n"
    lines = json_lines(done.stderr)
    assert CANARY not in done.stderr
    assert [line["logger"] for line in lines] == ["job", *["redis"] * 5, "http", "py.warnings", "redis"]
    assert lines[0]["request_id"] == "r1"
    assert lines[-1]["folded"] == 45
    assert "request_id" not in lines[-1]


# ── scrapy crawl ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def project(tmp_path):
    """A bare Scrapy project that uses the add-on, with a spider that fetches a data: URL and fails once."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "settings.py").write_text(
        textwrap.dedent(
            """
            BOT_NAME = "shop"
            SPIDER_MODULES = ["shop.spiders"]
            ADDONS = {"fetchworker.telemetry.scrapylog.LoggingAddon": 0}
            TELNETCONSOLE_ENABLED = False
            LOG_LEVEL = "INFO"
            """
        )
    )
    (package / "spiders.py").write_text(
        textwrap.dedent(
            f"""
            import scrapy

            class Shop(scrapy.Spider):
                name = "shop"
                custom_settings = {{}}

                async def start(self):
                    meta = {{"fw_request_id": "r1", "fw_session": "s1", "fw_call": {{"operation": "profile"}}}}
                    yield scrapy.Request("data:text/plain,{CANARY}", meta=meta)

                def parse(self, response):
                    self.logger.info("parsing with http://ana:{CANARY}@proxy.test:1")
                    yield {{"kind": "profile", "item_id": "i1", "text": "{CANARY}"}}
                    raise RuntimeError("no title in http://ana:{CANARY}@proxy.test:1")

            class Loud(Shop):
                name = "loud"
                custom_settings = {{"LOG_LEVEL": "DEBUG"}}
            """
        )
    )
    return tmp_path


def crawl(project, *args, spider="shop", **env):
    return run(project, "-m", "scrapy", "crawl", spider, *args, **env)


@pytest.mark.slow
def test_scrapy_s_lines_are_json_from_the_first_to_the_last(project):
    done = crawl(project)
    lines = json_lines(done.stderr)
    assert done.returncode == 0
    assert done.stdout == ""
    assert lines[0]["event"].startswith("Scrapy 2.")
    assert any(line["event"].startswith("Dumping Scrapy stats") for line in lines)
    assert {line["level"] for line in lines} == {"info", "error"}
    (error,) = [line for line in lines if line["level"] == "error"]
    assert error["event"].startswith("Spider error processing <GET data:")
    fields = {name: error[name] for name in ("request_id", "session", "site", "operation", "spider")}
    assert fields == {"request_id": "r1", "session": "s1", "site": "shop", "operation": "profile", "spider": "shop"}
    assert error["exception"].endswith("RuntimeError: no title in http://***@proxy.test:1")
    assert f"ana:{CANARY}" not in done.stderr


@pytest.mark.slow
def test_a_spider_s_own_level_holds_and_debug_lines_are_short(project):
    lines = json_lines(crawl(project, spider="loud").stderr)
    events = [line["event"] for line in lines if line["level"] == "debug"]
    assert f"Crawled (200) <GET data:text/plain,{CANARY}>, {len(CANARY)} bytes" in events
    assert f"Scraped profile i1 from <200 data:text/plain,{CANARY}>" in events
    (crawled,) = [line for line in lines if line["event"].startswith("Crawled (")]
    assert crawled["request_id"] == "r1"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "env", "lowest"),
    [
        (["-L", "ERROR"], {"FETCHWORKER_LOG_LEVEL": "debug"}, "error"),
        ([], {"FETCHWORKER_LOG_LEVEL": "error"}, "error"),
        (["-s", "FETCHWORKER_LOG_LEVEL=DEBUG"], {}, "debug"),
    ],
)
def test_the_level_comes_from_the_command_line_or_the_environment_or_the_settings(project, args, env, lowest):
    levels = {line["level"] for line in json_lines(crawl(project, *args, **env).stderr)}
    assert levels == {"error"} if lowest == "error" else "debug" in levels


@pytest.mark.slow
def test_a_log_file_gets_every_line_and_the_terminal_none(project):
    done = crawl(project, "--logfile", "crawl.log")
    assert done.stderr == ""
    lines = json_lines((project / "crawl.log").read_text())
    assert lines[0]["event"].startswith("Scrapy 2.")
    assert any(line["event"].startswith("Spider closed") for line in lines)


@pytest.mark.slow
def test_text_where_text_is_asked_for_and_nothing_with_nolog(project):
    text = crawl(project, FETCHWORKER_LOG_FORMAT="text").stderr
    assert " [info] Spider opened [scrapy.core.engine]" in text
    assert "\x1b" not in text
    assert crawl(project, "--nolog").stderr == ""


@pytest.mark.slow
def test_a_project_that_installs_its_own_handler_keeps_its_own_logging(project):
    settings = project / "shop" / "settings.py"
    settings.write_text(settings.read_text() + "LOG_INSTALL_ROOT_HANDLER = True\n")
    lines = crawl(project).stderr.splitlines()
    assert "[scrapy.utils.log] INFO: Scrapy 2." in lines[0]


@pytest.mark.slow
def test_a_wrong_variable_does_not_cost_the_log_and_stops_the_crawl(project):
    done = crawl(project, FETCHWORKER_LOG_FROMAT=CANARY)
    assert done.returncode != 0
    assert "FETCHWORKER_LOG_FROMAT: unknown variable; did you mean FETCHWORKER_LOG_FORMAT?" in done.stderr
    assert CANARY not in done.stderr
