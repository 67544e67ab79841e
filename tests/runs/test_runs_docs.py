"""docs/runs.md says what is so."""

from __future__ import annotations

import ast
import json
import re
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Table

from fetchworker.db import runtables
from fetchworker.db.runtables import scrape_jobs, scrape_runs
from fetchworker.jobs.webhook import HEADER, signed
from fetchworker.runs.callback import delivery_of
from fetchworker.runs.models import RunRequest, State
from fetchworker.runs.states import _STATES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "runs.md").read_text()
ALL = sorted(name for name, table in vars(runtables).items() if isinstance(table, Table))


@pytest.mark.parametrize("table", ALL)
def test_all_columns_are_described(table):
    described = PAGE[PAGE.index(f"**`{table}`**") :].split("\n\n")[1]
    first_cells = " ".join(line.split("|")[1] for line in described.splitlines())
    assert set(re.findall(r"`(\w+)`", first_cells)) == set(getattr(runtables, table).columns.keys())


def test_the_request_is_one():
    [body] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(RunRequest.model_validate(json.loads(body)).runs) == 3


def test_all_states_and_causes_are_told():
    rows = re.findall(r"^\| `(\w+)` \| [^`|]*\|", PAGE[: PAGE.index("exitCause")], re.MULTILINE)
    assert set(rows) == set(State.__args__)
    assert all(f"`{cause}`" in PAGE for cause in _STATES)


def test_the_python_is_python():
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        ast.parse(code)


def test_the_receivers_code_knows_our_signature():
    [code] = [code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "hmac" in code]
    found = {}
    exec(code, found)
    header = signed("a secret", b"{}", int(time.time()))
    assert found["is_ours"]("a secret", b"{}", header)
    assert not found["is_ours"]("a secret", b"{ }", header)
    assert not found["is_ours"]("a secret", b"{}", signed("a secret", b"{}", int(time.time()) - 400))


def test_the_callbacks_body_and_headers_are_told():
    run = SimpleNamespace(**dict.fromkeys(scrape_runs.columns.keys()))
    roll, job = SimpleNamespace(state="", exit_causes={}, reasons=[]), dict.fromkeys(scrape_jobs.columns.keys())
    body = delivery_of(run, roll, [SimpleNamespace(**job)], "")["body"]
    part = PAGE[PAGE.index("## Callbacks") :]
    assert all(f"`{name}`" in part for name in (*body, *body["jobs"][0], HEADER))
