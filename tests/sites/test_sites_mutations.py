"""Whatever becomes of a good body, a parser gives whole items or says what it misses, for every site and operation."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fetchworker.contracts import Call
from fetchworker.demo.mutations import mutated
from fetchworker.demo.visit import CALLS
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.items import validate

WORK = [(site, operation) for site, operations in CALLS.items() for operation in operations]
STAMP = {"item_id": "i-0", "site": "s", "operation": "o", "fetched_at": "2026-01-31T10:00:00Z"}


def checked(operation, page, params) -> list:
    """What a page gives; like what leads to the next one it must be such that it can be written."""
    items, parsed = [], operation.parse(page, Call(operation.name, params))
    for draft in parsed.items:
        draft.__dict__.update(STAMP)
        items.append(validate(draft))
        orjson.dumps(items[-1].model_dump(mode="json"))
    orjson.dumps([parsed.cursor, parsed.state])
    return items


def called(spiders, site, operation):
    spider = spiders[site](operation=operation, **CALLS[site][operation])
    return spiders[site].operations[operation], spider.started.call.params


def test_every_operation_has_its_pages(spiders, demo_pages):
    sites = {
        name
        for name, spider in spiders.items()
        if getattr(spider, "operations", None) and name not in {"document", "fetch"}
    }
    assert {(site, operation) for site in sites for operation in spiders[site].operations} == demo_pages.keys()
    assert [work for work, pages in demo_pages.items() if not pages] == []


@pytest.mark.parametrize(("site", "operation"), WORK)
def test_a_good_body_gives_items(spiders, demo_pages, site, operation):
    chosen, params = called(spiders, site, operation)
    for page in demo_pages[site, operation]:
        checked(chosen, page, params)
        found = chosen.read(page, Call(operation, params))
        assert found.items or found.cursor, "or it leads on, as what tells a name's number does"


@pytest.mark.parametrize("work", WORK, ids="-".join)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**64), which=st.integers(0, 9))
def test_a_damaged_body_gives_whole_items_or_says_what_it_misses(spiders, demo_pages, work, seed, which):
    page = demo_pages[work][which % len(demo_pages[work])]
    chosen, params = called(spiders, *work)
    with suppress(ContractError, OutcomeError):
        checked(chosen, replace(page, body=mutated(page.body, seed)), params)


def test_the_long_run_takes_a_refusal_that_a_parser_tells_for_an_answer():
    root = Path(__file__).resolve().parents[2]
    options = ("--times", "1", "--seed", "12", "--only", "threads profile")  # a shell without data
    command = [sys.executable, "benchmarks/mutations.py", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "0 gave items        1 lacked something" in done.stdout


@pytest.mark.parametrize(("site", "operation"), WORK)
@pytest.mark.parametrize("body", [b"", b" ", b"null", b"[]", b"\x89PNG\r\n\x1a\n" + bytes(64), b"{" * 5000])
def test_what_is_no_page_is_told(spiders, demo_pages, site, operation, body):
    chosen, params = called(spiders, site, operation)
    with pytest.raises(ContractError):
        checked(chosen, replace(demo_pages[site, operation][0], body=body), params)


@pytest.mark.parametrize(("site", "operation"), WORK)
def test_thirty_megabytes_are_no_trap(spiders, demo_pages, site, operation):
    chosen, params = called(spiders, site, operation)
    page = demo_pages[site, operation][0]
    half = len(page.body) // 2
    for body in (page.body + b" " * 30_000_000, page.body[:half] + b"a" * 30_000_000, b"<div>" * 6_000_000):
        with suppress(ContractError, OutcomeError):
            checked(chosen, replace(page, body=body), params)
