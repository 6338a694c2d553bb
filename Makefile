# Everything a user or a developer does, as a verb. Needs Python 3.11+ (venv, pip), make and a package index.
.DEFAULT_GOAL := help
.PHONY: help serve test coverage check bench bench-load docs lock third-party setup setup-dev voices clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
HOST ?= 127.0.0.1
PORT ?= 8000

help: ## say what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

serve: setup voices ## set up, fetch the voices, serve on http://127.0.0.1:8000
	$(BIN)/yuliu serve --host $(HOST) --port $(PORT)

# The two halves share nothing, so they run side by side; the output of the first comes last.
test: setup-dev voices ## set up, fetch the voices, run the whole test suite
	@echo "running the tests of the pure packages in the background; their output follows at the end"
	@$(BIN)/python scripts/check_coverage.py > coverage-gate.log 2>&1 & gate=$$!; \
	trap 'kill $$gate 2>/dev/null' INT TERM; \
	$(BIN)/python -m pytest $$($(BIN)/python scripts/check_coverage.py --others); others=$$?; \
	wait $$gate; gate=$$?; cat coverage-gate.log; exit $$((others > gate ? others : gate))

coverage: setup-dev voices ## require that the tests of the pure packages cover every branch of them
	$(BIN)/python scripts/check_coverage.py

check: setup-dev ## format, lint, types, layers, lock
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_lock.py

bench: setup-dev voices ## measure this machine; writes bench/results/ and docs/performance*.md
	$(BIN)/python -m bench speech --out bench/results/latest.json --table docs/performance.md $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python -m bench text --out bench/results/text.json --table docs/performance-text.md $(if $(PEERS),--peers $(PEERS))
	$(BIN)/python -m bench endpoints --out bench/results/endpoints.json --table docs/performance-endpoints.md

bench-load: setup-dev voices ## measure many clients at once; writes bench/results/ and docs/performance-load.md
	$(BIN)/python -m bench load --out bench/results/load.json --table docs/performance-load.md

docs: setup-dev voices ## run every example of the documentation
	$(BIN)/python -m pytest tests/docs

lock: setup-dev ## resolve dependencies anew: uv.lock and the hashed requirements that pip installs from
	$(BIN)/uv lock
	$(BIN)/python scripts/check_lock.py --write
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	  --no-emit-package docopt requirements/third-party.in --output-file requirements/third-party.txt
	cd tests/third_party/npm && npm install --package-lock-only --ignore-scripts --no-audit --no-fund

third-party: ## fetch third-party clients (browser, agents, decoders) for the tests
	@$(PYTHON) scripts/get_third_party.py

# Dependencies come from hashed files made from uv.lock, installed by pip, so that a user's own pip
# configuration (mirror, proxy, certificates) is honoured.
setup: $(VENV)/.run-installed ## install Yuliu into .venv
setup-dev: $(VENV)/.dev-installed ## install the developers' tools, too

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Yuliu needs Python 3.11 or newer; try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-installed: requirements/run.txt pyproject.toml | $(BIN)/python
	@echo "installing Yuliu into $(VENV) ..."
	$(PIP_INSTALL) --require-hashes -r requirements/run.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev-installed: requirements/dev.txt $(VENV)/.run-installed
	@echo "installing the developers' tools into $(VENV) ..."
	$(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

voices: setup ## fetch the voices
	$(BIN)/yuliu voices pull

clean: ## remove the environment and all caches of tools
	rm -rf $(VENV) .third-party tests/third_party/npm/node_modules coverage-gate.log .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
