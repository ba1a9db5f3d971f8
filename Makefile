# Everything here works on a fresh machine that has Python 3.11 or newer, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo

.PHONY: demo test check docs examples benchmarks clean help

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "masgraph needs Python 3.11 or newer: run  make $(MAKECMDGOALS) PYTHON=python3.11" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed ## Example data into the embedded store; motifs, metrics and a report in ./demo
	$(BIN)/masgraph demo --out $(DEMO)

test: $(VENV)/.installed-dev ## All tests; those of the Neo4j store too, where a server can be had
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: $(VENV)/.installed-dev ## Style, types, and pages that are generated
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python scripts/build_docs.py --check

docs: $(VENV)/.installed-dev ## Generate the pages that come from the code
	$(BIN)/python scripts/build_docs.py

examples: $(VENV)/.installed ## Play the example teams again and write their traces
	$(BIN)/python examples/make_examples.py

benchmarks: $(VENV)/.installed-dev ## Measure, and write docs/benchmarks.md (minutes)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[benchmarks]'
	$(BIN)/python -m benchmarks

clean: ## Remove the environment and the demo
	rm -rf $(VENV) $(DEMO)
