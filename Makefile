# Shorthand only: every line is a command that works without make, run in .venv-dev (see README.md).
PYTHON ?= .venv-dev/bin/python

.PHONY: test long lint types workspace alone ci

test:
	$(PYTHON) -m pytest -q -n 2 -m "not long" --hypothesis-profile=quick

long:
	$(PYTHON) -m pytest -q -n 2 -m "long or hypothesis"

lint:
	$(PYTHON) -m ruff check
	$(PYTHON) -m ruff format --check

types:
	$(PYTHON) -m mypy

workspace:
	$(PYTHON) tools/check_workspace.py

alone:
	$(PYTHON) tools/alone.py

ci:
	.ci/run
