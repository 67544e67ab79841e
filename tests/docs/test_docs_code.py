"""What the code knows is documented, and what is documented the code knows."""

from __future__ import annotations

import argparse
import json
import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from scrapy.commands import BaseRunSpiderCommand, ScrapyCommand
from scrapy.settings import Settings, default_settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object

from fetchworker import settings as fetchworker_settings
from fetchworker.config import PREFIX, Environment
from fetchworker.errors import OUTCOME_ERROR_TYPES, how_to_install
from fetchworker.items import KINDS
from fetchworker.outcomes import Outcome
from fetchworker.sites.model import Backoff, SiteConfig
from fetchworker.sites.pooling import Pool

ROOT = Path(__file__).resolve().parents[2]
SPIDERS = SpiderLoader(Settings({"SPIDER_MODULES": fetchworker_settings.SPIDER_MODULES}))
OWN_COMMANDS = sorted(path.stem for path in (ROOT / "fetchworker" / "commands").glob("[a-z]*.py"))
#: written on purpose: a misspelling that an error message names
MISSPELT = {"FETCHWORKER_PROXYS"}


def words(cell: str) -> list[str]:
    """What stands between backticks."""
    return re.findall(r"`([^`]+)`", cell)


def told(value: Any) -> str:
    """A default as the tables write it."""
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):  # ports and ranges of ports
        return f"`{','.join(str(first) if first == last else f'{first}-{last}' for first, last in value)}`"
    if isinstance(value, bool):
        return f"`{value}`".lower()
    return f"`{value:.15g}`" if isinstance(value, float) else f"`{value}`"


def own_options(name: str) -> list[str]:
    """The options that one of our commands adds to Scrapy's."""
    command = load_object(f"fetchworker.commands.{name}.Command")()
    command.settings = Settings()
    base = BaseRunSpiderCommand if isinstance(command, BaseRunSpiderCommand) else ScrapyCommand
    mine, scrapys = argparse.ArgumentParser(), argparse.ArgumentParser()
    command.add_options(mine)
    base.add_options(command, scrapys)
    known = {option for action in scrapys._actions for option in action.option_strings}
    return [option for action in mine._actions for option in action.option_strings if option not in known]


class TestConfiguration:
    def test_variables(self, pages):
        rows = pages["docs/configuration.md"].rows("variable", "default")
        documented = {words(name)[0]: default for name, default, _ in rows}
        expected = {f"{PREFIX}{name.upper()}": told(value) for name, value in Environment()}
        # made up or taken from elsewhere where it is not given
        expected |= {"REDIS_URL": "none", "FETCHWORKER_CRAWL_ID": "made up"}
        expected |= {"FETCHWORKER_LOG_LEVEL": "Scrapy's `LOG_LEVEL`"}
        assert documented == expected

    def test_no_page_names_another_variable(self, page):
        known = {f"{PREFIX}{name.upper()}" for name in Environment.model_fields} | MISSPELT
        assert set(re.findall(rf"{PREFIX}[A-Z_]*[A-Z]", page.text)) <= known

    def test_keys_of_a_site(self, pages):
        rows = pages["docs/configuration.md"].rows("key", "default")
        documented = {words(name)[0]: default for name, default, _ in rows}
        sections = ("backoff", "pool")
        expected = {name: told(value) for name, value in SiteConfig() if name not in sections}
        for section, model in zip(sections, (Backoff, Pool), strict=True):
            expected |= {f"{section}.{name}": told(value) for name, value in model()}
        assert documented == expected

    def test_the_file_that_comes_with_the_project_explains_each_key(self):
        text = (ROOT / "sites.yaml").read_text(encoding="utf-8")
        names = [*SiteConfig.model_fields, *Backoff.model_fields]
        assert [name for name in names if not re.search(rf"\b{name}:", text)] == []


class TestSites:
    @pytest.mark.parametrize("site", SPIDERS.list())
    def test_every_operation_and_argument_is_told(self, pages, site):
        page = pages[f"docs/sites/{site}.md"]
        operations = SPIDERS.load(site).operations
        rows = {words(row[0])[0]: set(words(row[1])) for row in page.rows("operation", "arguments")}
        further = {name for row in page.rows("argument") for name in words(row[0])}
        known = {name: set(operation.params.model_fields) for name, operation in operations.items()}
        assert set(rows) == set(known) or (not rows and len(known) == 1)
        assert further <= set().union({"session"}, *known.values())
        for name, fields in known.items():
            row = rows.get(name, set())
            assert (row - fields, fields - row - further) == (set(), set()), name

    @pytest.mark.parametrize("site", sorted({*SPIDERS.list()} - {"document", "fetch"}))
    def test_an_item_the_outcomes_and_the_pace_are_shown(self, pages, site):
        page = pages[f"docs/sites/{site}.md"]
        shown = [json.loads(block) for block in page.blocks("json")]
        assert shown
        for item in shown:
            assert item.keys() - {"kind", *KINDS[item["kind"]].model_fields} == set()
        assert page.rows("outcome", "when")
        assert "sites.yaml" in page.text

    def test_a_page_per_site(self, pages):
        assert sorted(Path(name).stem for name in pages if name.startswith("docs/sites/")) == SPIDERS.list()


class TestCommands:
    def test_own_commands_have_a_section(self, pages):
        sections = {heading.split()[1] for heading in pages["docs/commands.md"].headings()[1:]}
        assert sections == {*OWN_COMMANDS, "list"}

    @pytest.mark.parametrize("name", OWN_COMMANDS)
    def test_own_options_are_told(self, pages, name):
        assert [option for option in own_options(name) if option not in pages["docs/commands.md"].text] == []

    def test_crawls_on_a_page_name_calls(self, page):
        for command in page.commands():
            parts = shlex.split(command, comments=True)
            if parts[:2] == ["scrapy", "crawl"]:
                arguments = [parts[place + 1] for place, part in enumerate(parts) if part == "-a"]
                if arguments:
                    resolver = SPIDERS.load(parts[2]).make_resolver()
                    resolver.arguments(dict(argument.split("=", 1) for argument in arguments))
                for setting in (parts[place + 1].split("=")[0] for place, part in enumerate(parts) if part == "-s"):
                    assert setting.startswith(PREFIX) or hasattr(default_settings, setting), setting
            elif parts[0] == "scrapy":
                assert parts[1] in {*OWN_COMMANDS, "list"}

    def test_seeds_on_a_page_name_calls(self, page):
        for command in page.commands():
            parts = shlex.split(command, comments=True)
            if "lpush" in parts and not any(part.startswith("$") for part in parts):
                key, *seeds = parts[parts.index("lpush") + 1 :]
                for seed in seeds:
                    SPIDERS.load(key.partition(":")[0]).make_resolver().seed(seed)

    def test_make_targets_exist(self, page):
        targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
        for command in page.commands():
            parts = shlex.split(command, comments=True)
            if parts[0] == "make":
                assert {part for part in parts[1:] if "=" not in part} <= targets, command


def test_what_to_install_is_told_in_one_way(pages):
    """The project is on no index: only a checkout can be installed, with the versions that are tested together."""
    sources = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "fetchworker").rglob("*.py")}
    texts = {name: page.text for name, page in pages.items()}
    texts |= {name: path.read_text(encoding="utf-8") for name, path in sources.items()}
    wrong = {name: re.findall(r"pip install [^\n]*fetchworker(?:\[|\b(?![.-]))", text) for name, text in texts.items()}
    assert {name: found for name, found in wrong.items() if found} == {}
    for extra in ("store", "media"):
        assert how_to_install(extra) in texts["docs/database.md" if extra == "store" else "docs/media.md"]
        assert f"\n{extra} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_what_scrapys_own_tests_expect_otherwise(pages):
    """The lists of tests/conformance, test by test."""
    lists = runpy.run_path(str(ROOT / "tests" / "conformance" / "test_conformance_scrapy.py"))["FAILURES"]
    rows = pages["docs/download.md"].rows("test of Scrapy's")
    for column, profile in ((1, None), (2, "chrome")):
        assert {words(row[0])[0] for row in rows if row[column] == "fails"} == lists[profile].keys()


class TestWords:
    def test_outcomes(self, pages):
        rows = pages["docs/outcomes.md"].rows("outcome", "it means")
        assert sorted(name for row in rows for name in words(row[0])) == sorted(Outcome)

    def test_types_of_failures(self, pages):
        documented = {words(row[0])[0] for row in pages["docs/exports.md"].rows("type", "what happened")}
        others = {"PROXY_EXHAUSTED", "EGRESS_DENIED", "ROBOTS_DENIED", "CONFIG_ERROR", "UNFINISHED", "INTERNAL_ERROR"}
        others |= {"SESSION_EXHAUSTED", "SESSION_BUSY", "SESSION_NEWER"}
        assert documented == set(OUTCOME_ERROR_TYPES.values()) | others
