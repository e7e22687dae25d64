"""The layers of docs/architecture.md hold: import-linter keeps the contracts in pyproject.toml."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_every_contract_is_kept() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_a_rule_that_imports_a_format_breaks_a_contract(tmp_path: Path) -> None:
    """The contracts would notice: the same configuration over a package in which one rule reaches sideways."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = next(c["layers"] for c in configuration["contracts"] if c["type"] == "layers")
    for module in (name.strip("() ") for layer in layers for name in layer.split("|")):
        folder = tmp_path.joinpath(*module.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
    (tmp_path / "scenlint/__init__.py").touch()
    (tmp_path / "scenlint/rules/reaching.py").write_text("import scenlint.formats\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    done = lint_imports(tmp_path)
    assert done.returncode == 1
    assert "scenlint.rules is not allowed to import scenlint.formats" in done.stdout
