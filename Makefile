# `make check` is what CI runs; `make pins` renews the pinned requirements.

PYTHON ?= .venv/bin/python
CODE = evalsite reports vendor/evalrunner tests manage.py
# Checks need a data folder, and never the one that holds somebody's runs.
export EVALSITE_DATA_DIR ?= $(CURDIR)/build/data

.PHONY: check environment lint types imports migrations test format pins

check: lint types imports migrations test

environment:
	python3 manage.py test --version

lint: environment
	$(PYTHON) -m ruff format --check $(CODE)
	$(PYTHON) -m ruff check $(CODE)

types: environment
	$(PYTHON) -m mypy --strict $(CODE)

imports: environment
	$(dir $(PYTHON))lint-imports --no-logo

migrations: environment
	$(PYTHON) manage.py makemigrations --check --dry-run

test:
	python3 manage.py test

format: environment
	$(PYTHON) -m ruff format $(CODE)
	$(PYTHON) -m ruff check --fix $(CODE)

# hatchling builds the project itself, so it is pinned beside what the project depends on.
PIN = echo hatchling | uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --no-annotate -q
pins:
	$(PIN) pyproject.toml - -o requirements.txt
	$(PIN) pyproject.toml - --extra test -c requirements.txt -o requirements-test.txt
