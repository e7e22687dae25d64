# Two commands do everything on a fresh machine that has Python 3.11 or newer, git and make:
#   make check   lints the example tasks
#   make test    runs the project's own checks and tests
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: check test test-harness clean

check: $(INSTALLED)
	$(BIN)/scenlint check tasks/

# pytest comes last: its summary line is what a reader looks for. It runs import-linter too (tests/test_layers.py).
test: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/deptry .
	$(BIN)/pytest

# Real containers and sandboxes; .ci/run shows how an engine is installed and started.
test-harness: $(INSTALLED)
	$(BIN)/pytest -o addopts="-q --import-mode=importlib" tests/harness

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
