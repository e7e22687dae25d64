# Two commands do everything on a fresh machine that has Python 3.11 or newer, git and make:
#   make check   lints the example tasks
#   make test    runs the project's own checks and tests
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: check test docs clean

check: $(INSTALLED)
	$(BIN)/scenlint check tasks/

# pytest comes last: its summary line is what a reader looks for. It runs import-linter too (tests/test_layers.py).
# Half of the tests wait for sandboxes and containers, so two at a time help on any machine.
test: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/deptry .
	$(BIN)/pytest -n 2 $(PYTEST_OPTIONS)

# The site, in build/site/index.html.
docs: $(INSTALLED)
	$(BIN)/sphinx-build -W -d build/doctrees docs build/site

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
