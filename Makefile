# make demo   the main job, against a local site with invented people
# make test   all tests
# make lint   ruff, mypy, layers
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: demo test lint bench clean help

help:
	@sed -n 's/^# //p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11, 3.12 or 3.13 is needed, this is %d.%d (set PYTHON=)" % sys.version_info[:2] if not (3, 11) <= sys.version_info[:2] < (3, 14) else 0)'
	@$(PYTHON) -m venv $(VENV) || { echo "python3-venv is missing: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(STAMP)-demo: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[demo]'
	@touch $@

$(STAMP)-test: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

$(STAMP)-bench: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

demo: $(STAMP)-demo
	@$(BIN)/python -m fetchworker.demo run

test: $(STAMP)-test
	$(BIN)/python -m pytest

lint: $(STAMP)-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)-bench
	$(BIN)/python benchmarks/crawl.py

clean:
	rm -rf $(VENV) .fetchworker build *.egg-info
