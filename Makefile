# Needs python3 (>= 3.10), make and pip's registry; everything else comes as wheels into $(VENV).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PYTEST  = $(BIN)/python -X faulthandler -m pytest -n auto --dist worksteal

.PHONY: help env demo quick check check-all lint format types lit pytest fuzz targets wheel manual golden entry docs peers bench ladder clean
.NOTPARALLEL:
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 16

$(STAMP): pyproject.toml
	@$(PYTHON) -c "import sys; v = sys.version_info; sys.exit(None if v >= (3, 10) else f'Python >= 3.10 is needed, $(PYTHON) is {v[0]}.{v[1]}: make PYTHON=...')"
	@# a Python without ensurepip (Debian without python3-venv) gets pip from the outer pip
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[dev]'
	@touch $@

env: $(STAMP)  ## make the environment (.venv) once

demo: env  ## run the hardware-specialization chapter
	$(BIN)/python tools/demo.py

# test/harness/tiers.py says what each tier runs
quick: lint lit  ## before every commit: rules, FileCheck tests, each Python test at one size; under two minutes
	$(PYTEST) --tier quick

check: lint types lit wheel fuzz pytest  ## everything that guards the project; at most seven minutes on two cores

check-all: lint types wheel targets  ## at night: every size, long random runs, lit with a process a run
	TIR_LIT_COLD=1 $(BIN)/lit -s test/lit
	$(PYTEST) --tier all
	$(BIN)/python tools/fuzz.py --pairs 2000 --inputs 6000 --thorough --seed $$(date +%j)

lint: env  ## ruff: rules and format
	$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo 'make format puts this right'; exit 1; }

format: env  ## put every file into the house format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

types: env  ## static types
	$(BIN)/basedpyright --level error --pythonpath $(BIN)/python

lit: env  ## FileCheck tests
	$(BIN)/lit -s test/lit

pytest: env  ## Python tests, on all cores
	$(PYTEST)

fuzz: env  ## random programs x random schedules, random text; a long run: make fuzz ARGS='--pairs 20000 --inputs 20000'
	$(BIN)/python tools/fuzz.py $(or $(ARGS),--pairs 60 --inputs 400 --thorough --seed 0)

targets: env  ## code for other CPUs: its instructions, and its results under QEMU where qemu-user is there
	$(BIN)/python -m pytest -rs test/targets

wheel: env  ## the sdist, the wheel and the editable install hold every file
	$(BIN)/python tools/check_wheel.py

manual: env  ## the generated pages of docs/reference, from docstrings and runs
	$(BIN)/python tools/manual
	$(BIN)/python tools/can_types.py

docs: env  ## the documentation site, in build/site; make docs ARGS=--dirty after small edits
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site $(ARGS)

golden: env  ## the texts of the mistakes of learners (test/golden/learners)
	$(BIN)/python test/golden/mistakes.py

entry: env  ## the .ll files of tir_mlir/runtime, from their .c files
	$(BIN)/python tools/entry.py

peers: env  ## the libraries to measure against (MKL, PyTorch) into .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[bench]'

bench: env  ## ours beside the peers that are there, and the machine's roofs: table, build/bench.json, a plot
	$(BIN)/python tools/bench $(ARGS)

ladder: env  ## a matrix product from the program as written to the top, one primitive at a time
	$(BIN)/python tools/bench --ladder $(ARGS)

clean:  ## remove what make made
	rm -rf $(VENV) build dist *.egg-info
