# make demo    the main job, against a local site with invented people
# make serve   the HTTP service on 127.0.0.1:8000, started anew when a source file changes
# make test    all tests, in a process for each core and one more; ARGS="-k proxies" passes options to pytest, WORKERS=0 uses one
# make lint    ruff, mypy, layers
# make bench   what a request costs, beside other download handlers
# make clean   remove the virtual environment and what was built
#
# The first run installs into .venv and needs the network; later ones do not. Python 3.11, 3.12 or 3.13 is found by
# itself; PYTHON=/path/to/python names one, VENV=.venv-3.13 another folder.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && { echo "$$p"; exit; }; \
	done; echo python3)
VENV ?= .venv
ARGS ?=
WORKERS ?= auto
BIN := $(VENV)/bin
READY := $(VENV)/.ready
NEEDS := $(READY)-venv pyproject.toml constraints.txt

.PHONY: help demo serve test lint bench clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

demo: $(READY)-demo
	@$(BIN)/python -m fetchworker.demo run

serve: $(READY)-service
	@$(BIN)/python -m scrapy serve --reload $(ARGS)

test: $(READY)-test
	@$(BIN)/python -c 'import cv2' 2>/dev/null || { \
	echo "The tests of documents need libGL.so.1 and libglib-2.0.so.0; on Debian and Ubuntu: apt-get install libgl1 libglib2.0-0" >&2; exit 1; }
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

lint: $(READY)-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)-bench
	@$(BIN)/python benchmarks/crawl.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(READY)-venv:
	@"$(PYTHON)" -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else \
	"Python 3.11, 3.12 or 3.13 is needed; $(PYTHON) is %d.%d. Name another: make PYTHON=/path/to/python" % v)' || exit 1
	@"$(PYTHON)" -c 'import venv, ensurepip' || { \
	echo "This Python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@rm -rf $(VENV)
	@"$(PYTHON)" -m venv $(VENV)
	@touch $@

# `test` and `bench` hold all that `demo` needs
define install
@echo "Installing fetchworker[$(1)] into $(VENV) ..."
@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[$(1)]'
@touch $(READY)-demo $@
endef

$(READY)-demo: $(NEEDS)
	$(call install,demo)

$(READY)-service: $(NEEDS)
	@echo "Installing fetchworker[service] into $(VENV) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt -e '.[service]'
	@touch $@

$(READY)-test: $(NEEDS)
	$(call install,test)

$(READY)-bench: $(NEEDS)
	$(call install,bench)
