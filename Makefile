# `make check` is what CI runs; `make pins` renews the pinned requirements, `make soak` takes long.

PYTHON ?= .venv/bin/python
CODE = evalsite reports vendor/evalrunner tests manage.py
# Checks need a data folder, and never the one that holds somebody's runs.
export EVALSITE_DATA_DIR ?= $(CURDIR)/build/data

.PHONY: check environment lint types imports migrations test format pins soak

check: lint types imports migrations test

environment:
	python3 manage.py test --version

lint: environment
	$(PYTHON) -m ruff format --check $(CODE) examples
	$(PYTHON) -m ruff check $(CODE) examples

types: environment
	$(PYTHON) -m mypy --strict $(CODE)

imports: environment
	$(dir $(PYTHON))lint-imports --no-logo

migrations: environment
	$(PYTHON) manage.py makemigrations --check --dry-run

test:
	python3 manage.py test

# Hours, not minutes: workers killed fifty times on each stack, and the statistics of simulated suites.
soak: environment
	$(PYTHON) -m tests.soak.kill_workers
	$(PYTHON) -m tests.soak.coverage

format: environment
	$(PYTHON) -m ruff format $(CODE) examples
	$(PYTHON) -m ruff check --fix $(CODE) examples

# hatchling builds the project itself, so it is pinned beside what the project depends on.
PIN = echo hatchling | uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --no-annotate -q
pins:
	$(PIN) pyproject.toml - -o requirements.txt
	$(PIN) pyproject.toml - --extra test -c requirements.txt -o requirements-test.txt
