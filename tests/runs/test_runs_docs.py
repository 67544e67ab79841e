"""docs/runs.md says what is so."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from sqlalchemy import Table

from fetchworker.db import runtables
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
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    ast.parse(code)
