# Requires python3 (>= 3.10), make and access to PyPI; everything else is installed as wheels into $(VENV).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
EMPTY  := $(VENV)/.created
BASE   := $(VENV)/.base
STAMP  := $(VENV)/.installed
# the versions of development; `make env LOCK=` takes the newest that pyproject.toml allows
LOCK   ?= $(wildcard constraints-dev.txt)
# Python compiles what it imports; compiling all files of all dependencies takes a minute
PIP     = $(BIN)/python -m pip install -q --no-compile --disable-pip-version-check $(addprefix -c ,$(LOCK))
PYTEST  = $(BIN)/python -X faulthandler -m pytest -n auto --dist worksteal
# the tests start many processes, which load compiled modules
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help env lock demo quick check check-all tests cpus lint format types lit pytest fuzz coverage targets wheel dist base manual golden predicted entry docs peers bench ladder ops zoo gpu clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 16

$(EMPTY):
	@$(PYTHON) -c "import sys; v = sys.version_info; sys.exit(None if v >= (3, 10) else f'Python >= 3.10 is required, $(PYTHON) is {v[0]}.{v[1]}: make PYTHON=...')"
	@test ! -L $(VENV) || { echo "$(VENV) is a link to $$(readlink $(VENV)); fix: make VENV=$$(readlink $(VENV)), or remove the link"; exit 1; }
	@# a Python without ensurepip (Debian without python3-venv) gets pip from the outer pip
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install -q pip; }
	@touch $@

$(BASE): pyproject.toml | $(EMPTY)
	$(PIP) -e '.[c]'
	@touch $@

$(STAMP): pyproject.toml $(LOCK) | $(EMPTY)
	$(PIP) -e '.[dev]'
	@touch $(BASE) $@

env: $(STAMP)  ## create the environment (.venv)

lock:  ## write the newest versions that pyproject.toml allows, of all systems and Pythons, to constraints-dev.txt
	$(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install -q --disable-pip-version-check uv
	build/uv/bin/uv pip compile -q --upgrade --universal --no-annotate --python-version 3.10 \
	  --custom-compile-command 'make lock' --extra dev --extra nightly --output-file constraints-dev.txt pyproject.toml

demo: $(BASE)  ## run the hardware-specialization chapter; installs what it needs only
	$(BIN)/python tools/demo.py

# test/harness/tiers.py defines the tiers
quick: lint lit  ## before every commit: lint, FileCheck tests, each quick Python test at one size; two minutes on two cores
	$(PYTEST) --tier quick

check: env  ## all checks before a merge; at most fifteen minutes on two cores
	@# the checker of types has one thread and takes minutes: all others run beside it
	@$(MAKE) --no-print-directory -j2 types tests

tests: env
	@$(MAKE) --no-print-directory lint wheel fuzz lit ARGS='--pairs 10 --graphs 2 --code 20 --kernels 40 --inputs 60 --thorough --seed 0'
	$(PYTEST)
	@$(MAKE) --no-print-directory cpus

check-all: lint types wheel targets  ## nightly: every size, long fuzzer runs, lit with one process per run, Intel's OpenCL
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[nightly,zoo]'
	TIR_LIT_COLD=1 $(BIN)/lit -s test/lit
	$(PYTEST) --tier all
	@$(MAKE) --no-print-directory cpus CPUS=--all TIER=all
	$(BIN)/python tools/fuzz.py --pairs 2000 --graphs 400 --torch 400 --code 1000 --kernels 2000 --inputs 6000 --thorough --seed $$(date +%j)
	$(BIN)/python tools/bench/torch_ops.py

# tests whose code or output could depend on the CPU
CPU_TESTS = test/tir_mlir/target test/tir_mlir/intrin test/tir_mlir/schedules \
  test/tir_mlir/runtime test/tir_mlir/graph/models --ignore test/tir_mlir/schedules/gpu
CPU_PAGES = test/docs/test_pages.py test/golden -k 'not (docs/gpu or docs/machines or accelerator or offload or firmware)'
TIER ?= quick
cpus: env  ## run the tests that could depend on the CPU as other CPUs too (TIR_HOST)
	@set -e; for cpu in $$($(BIN)/python tools/other_cpus.py $(CPUS)); do \
	  echo "TIR_HOST=$$cpu"; export TIR_HOST=$$cpu; \
	  $(PYTEST) --tier $(subst quick,check,$(TIER)) $(CPU_PAGES); $(PYTEST) --tier $(TIER) $(CPU_TESTS); done

lint: env  ## check lint rules and format with ruff
	$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || { echo 'run make format'; exit 1; }

format: env  ## format all files
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

types: env  ## check static types
	$(BIN)/python tools/mlir_stubs.py
	$(BIN)/basedpyright --level error --pythonpath $(BIN)/python

lit: env  ## run the FileCheck tests
	$(BIN)/lit -s test/lit

pytest: env  ## run the Python tests on all cores
	$(PYTEST)

fuzz: env  ## fuzz with random programs, schedules, graphs and text; a long run: make fuzz ARGS='--pairs 20000 --inputs 20000'
	$(BIN)/python tools/fuzz.py $(or $(ARGS),--pairs 60 --graphs 6 --torch 6 --code 40 --kernels 60 --inputs 400 --thorough --seed 0)

coverage: env  ## nightly: which lines the tests of TIER run, in the processes that they start, too; build/coverage
	$(PIP) -e '.[nightly]'
	rm -rf build/coverage; mkdir -p build/coverage
	@failed=; \
	$(BIN)/coverage run $(BIN)/lit -s test/lit || failed="$$failed lit"; \
	$(BIN)/coverage run -m pytest -n auto --dist worksteal --tier $(TIER) || failed="$$failed pytest"; \
	$(BIN)/coverage combine -q && $(BIN)/coverage html -q && $(BIN)/coverage report --skip-covered --sort cover > build/coverage/report.txt; \
	tail -n 3 build/coverage/report.txt; \
	test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

targets: env  ## test code for other CPUs: its instructions, and its results under QEMU, wasmtime and node where installed
	$(BIN)/python -m pytest -rs test/targets

wheel: env  ## check that the sdist, the wheel and the editable install contain every file
	$(BIN)/python tools/check_wheel.py

dist: env  ## write sdist and wheel to dist/, with every file and nothing else
	$(BIN)/python tools/check_wheel.py --dist dist

base: $(BASE)  ## install the wheel without extras into a fresh environment and run programs there
	$(BIN)/python tools/check_base.py

manual: env  ## regenerate the methods of primitives, the stubs of scalar functions, and the pages of docs/reference from docstrings and examples
	$(BIN)/python tools/schedule_methods.py
	$(BIN)/python tools/scalar_stubs.py
	$(BIN)/python tools/manual

docs: env  ## build the documentation site in build/site; make docs ARGS=--dirty after small edits
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site $(ARGS)

golden: env  ## regenerate the golden messages for mistakes of learners (test/golden/learners)
	PYTHONPATH=test $(BIN)/python -m golden.mistakes

predicted: env  ## regenerate the golden table of predicted speed (test/golden/predicted.txt)
	$(BIN)/python tools/bench --predict --golden --out test/golden/predicted.txt

entry: env  ## compile the .c files of tir_mlir to .ll files
	$(BIN)/python tools/entry.py

peers: env  ## install the libraries to compare with (MKL, PyTorch) into .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[bench]'

bench: env  ## compare with the installed peers and the machine's roofline: table, build/bench.json, a plot
	$(BIN)/python tools/bench $(ARGS)

ladder: env  ## time a matrix product after each primitive of its schedule
	$(BIN)/python tools/bench --ladder $(ARGS)

ops: peers  ## a hundred operators of PyTorch beside PyTorch eager, on one thread, in five minutes; ARGS="conv* pad*"
	$(BIN)/python tools/bench/torch_ops.py $(ARGS)

zoo: env  ## nearly 200 models of torchvision, timm, transformers and diffusers beside PyTorch eager, for hours; ARGS="timm/resnet* --limit 300"
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[zoo]'
	$(BIN)/python tools/bench/zoo.py $(ARGS)

# the tests of the driver, 500 random kernels on the PTX machine and on the GPU, build/gpu.json and build/gpu-kernels.json; the
# driver is enough, PyTorch with CUDA is compared with where it is; with BIN=FOLDER, the Python there is used and nothing installed
gpu: $(if $(filter command line,$(origin BIN)),,env)  ## on a machine with an NVIDIA GPU: its tests, the PTX machine against it, figures in build/gpu*.json; at most 11 minutes on 16 cores
	@$(BIN)/python -c "import sys; sys.tracebacklimit = 0; from tir_mlir.runtime.drivers.cuda import cuda; gpu = cuda(); print(gpu.name, *gpu.devices(), sep='\n')"
	@mkdir -p build; failed=; \
	$(BIN)/python -m pytest -rs test/targets/test_gpu.py || failed="$$failed tests"; \
	$(BIN)/python tools/bench --gpu || failed="$$failed bench"; \
	timeout -s INT -k 20 330 $(BIN)/python tools/fuzz.py $(or $(ARGS),--kernels 500) --on-gpu --seed 0 --shrink 0 --json build/gpu-kernels.json || failed="$$failed fuzz"; \
	test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

clean:  ## remove generated files
	rm -rf $(VENV) build dist *.egg-info
