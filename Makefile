# Everything here works on a fresh machine that has Python 3.11 or newer, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO ?= demo
GNN_VENV ?= .venv-gnn
GNN_DISK := 11

.PHONY: demo app test test-gnn check docs examples benchmarks clean help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

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

app: demo ## The dashboard on the demo's store, at http://127.0.0.1:8501
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ui]'
	$(BIN)/masgraph app --store $(DEMO)/masgraph.db

# One process loads more compiled packages here than anybody's program: room for all of them.
test: export GLIBC_TUNABLES = glibc.rtld.optional_static_tls=16384
test: $(VENV)/.installed-dev ## All tests; those of Neo4j and in a browser too, where these can be had
	$(BIN)/python -m pytest -n 2 --dist loadgroup

# torch takes 6.3 GiB, and 3 more while it is installed. A machine without them tests the rest.
$(GNN_VENV)/.installed: pyproject.toml constraints.txt constraints-gnn.txt
	$(PYTHON) -m venv $(GNN_VENV)
	mkdir -p $(GNN_VENV)/tmp
	TMPDIR=$(abspath $(GNN_VENV))/tmp $(GNN_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --constraint constraints.txt --constraint constraints-gnn.txt --editable '.[gnn]' pytest
	rm -rf $(GNN_VENV)/tmp
	touch $@

test-gnn: ## The tests of the learned embedding, with torch in an environment of its own
	@free=$$(df -Pk . | awk 'NR == 2 {print int($$4 / 1048576)}'); \
	if [ ! -e $(GNN_VENV)/.installed ] && [ "$$free" -lt $(GNN_DISK) ]; then \
		echo "make test-gnn: NOT TESTED: torch needs $(GNN_DISK) GiB of disk, and $$free are free" >&2; \
	else \
		$(MAKE) --no-print-directory $(GNN_VENV)/.installed && $(GNN_VENV)/bin/python -m pytest tests/gnn; \
	fi

live: $(VENV)/.installed-dev ## Run real frameworks offline and read what they write; installs them into ./.live
	$(BIN)/python tests/live/environments.py
	$(BIN)/python -m pytest -m live tests/live

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

clean: ## Remove the environments and the demo
	rm -rf $(VENV) $(GNN_VENV) $(DEMO)
