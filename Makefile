# Everything runs in a virtual environment that is made here, with `python3` or the PYTHON you name:
#     make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
COMMA := ,
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install
# uv installs in a third of the time; pip where there is none, or where it does not find the packages
INSTALL = { $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python $(1); } || $(PIP) $(1)

# Python keeps what it has compiled: uv compiles nothing, and tests start Python often.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help tour test lint lowest programs spec fuzz docs bench front clean

help:
	@echo "make tour    load PUMA 560, check every method against every other, and write a report"
	@echo "make test    linters, types, layers, and all tests"
	@echo "make lint    linters, types and layers alone"
	@echo "make programs  the Debian packages that tests need (make test does this itself)"
	@echo "make lowest  some of the tests, with the oldest packages that pyproject.toml allows"
	@echo "make spec    which capabilities are proved by a passing test"
	@echo "make fuzz    random functions, calls, files and mechanisms from a fresh seed; make fuzz MINUTES=60 SEED=7"
	@echo "make docs    the documentation as a site, in build/site"
	@echo "make bench   Cayley beside its peers in 20 minutes; writes benchmarks/README.md (QUICK=1 ONLY=dynamics,kinematics)"
	@echo "make front   figures of README.md, of its picture and of the paper, from benchmarks/README.md"
	@echo "make clean   remove the virtual environment and every cache"

tour: $(VENV)/.package
	@$(BIN)/cayley tour --output build/puma560.html

# Three workers, as tests of pages wait for a browser; each has its own part of the files.
test: lint programs
	@echo "pytest"
	@$(BIN)/python -m pytest -n 3 --dist worksteal -q

# Compilers, a browser and an emulator that tests run. Without root or network the tests that need them are left out by name.
programs:
	@$(PYTHON) tools/programs.py

lint: $(VENV)/.development
	@echo "ruff"
	@$(BIN)/ruff check .
	@echo "mypy"
	@$(BIN)/mypy
	@echo "import-linter"
	@$(BIN)/lint-imports --no-logo

lowest: programs
	@$(PYTHON) tools/lowest.py

spec: programs $(VENV)/.development
	@$(BIN)/python tools/spec.py

fuzz: programs $(VENV)/.development
	@$(BIN)/python tools/fuzz.py $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

docs: $(VENV)/.development
	@$(BIN)/python tools/docs.py && echo "The documentation is in build/site/index.html"

bench: programs $(VENV)/.peers $(PEERS)/.installed
	@$(BIN)/python benchmarks/run.py $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY))

front: $(VENV)/.development
	@$(BIN)/python tools/front_page.py
	@$(BIN)/python docs/pictures/pictures.py docs/pictures front moving_front
	@$(BIN)/python paper/figures.py

clean:
	rm -rf $(VENV) $(PEERS) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks
	find src tests benchmarks tools -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps: an installation is repeated only when pyproject.toml has changed.

$(VENV)/.package: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing Cayley and what it needs into $(VENV); the first time this can take a minute."
	@$(call INSTALL,--editable '.[full]')
	@touch $@

$(VENV)/.development: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing Cayley with its test tools and peers into $(VENV); the first time this can take a few minutes."
	@$(call INSTALL,--editable '.[dev]')
	@touch $@ $(VENV)/.package

$(VENV)/.peers: $(VENV)/.development
	@echo "Installing the peers of the benchmarks into $(VENV)."
	@$(call INSTALL,--editable '.[dev$(COMMA)bench]')
	@touch $@

# Peers that need other versions of packages than the tests; those that do not install are named on the page.
$(PEERS)/.installed: benchmarks/install_peers.py $(wildcard benchmarks/pinocchio_*) | $(VENV)/.peers
	@echo "Installing the other peers of the benchmarks into $(PEERS) and compiling one; this takes some minutes."
	@$(PIP) uv && $(BIN)/uv venv --quiet --clear --python $(BIN)/python $(PEERS)
	@$(BIN)/python benchmarks/install_peers.py $(BIN)/uv $(PEERS)
	@touch $@

$(VENV)/pyvenv.cfg:
	@command -v $(PYTHON) >/dev/null || { echo "There is no $(PYTHON) here. Install Python 3.11 or later, or name yours: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Cayley needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version 2>&1). Name another: make PYTHON=..." >&2; exit 1; }
	@echo "Making the virtual environment $(VENV) with $$($(PYTHON) --version 2>&1)."
	@{ $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip --version >/dev/null; } || { rm -f $@; echo "$(PYTHON) cannot make a virtual environment with pip. Install its venv module (on Debian and Ubuntu: the package python3-venv), or name another: make PYTHON=..." >&2; exit 1; }
