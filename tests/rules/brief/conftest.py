"""A task of the author's own, made over the sound base: its brief, its verifier, its solution."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from scenlint.task.finding import Finding
from scenlint.testing import base_task, lint

TEST_SH = """#!/bin/bash
if python3 -m pytest /tests/test_outputs.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""


@pytest.fixture
def findings(tmp_path: Path) -> Callable[..., list[Finding]]:
    """findings(rule, brief=…, tests=…, solve=…, files={…}): what the rule finds in such a Harbor task."""

    count = itertools.count()

    def run(
        rule: str, *, brief: str, tests: str, solve: str | None = "", files: dict[str, str] | None = None
    ) -> list[Finding]:
        root = base_task("harbor", tmp_path / f"suite-{next(count)}" / "product")
        written = {
            "instruction.md": brief,
            "tests/test_outputs.py": tests,
            "tests/test.sh": TEST_SH,
            "solution/solve.sh": "#!/bin/bash\nset -eu\n" + (solve or ""),
            **(files or {}),
        }
        for path, text in written.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        if solve is None:
            (root / "solution/solve.sh").unlink()
        return lint(root, rule)

    return run
