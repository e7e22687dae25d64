"""Half of the marks for one answer to everything: found where cases say yes or no, not where all decide together."""

import shutil
from pathlib import Path

import pytest

from scenlint.config import Settings
from scenlint.dynamic import stage
from scenlint.dynamic.experiments import Wishes
from scenlint.testing import base_task

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="needs bubblewrap")

BRIEF = """# Same letters

Write `same_letters(a, b)`, which tells whether two texts have the same letters.
"""
SOLUTION = "def same_letters(a, b):\n    return sorted(a) == sorted(b)\n"
VERIFIER = '''\
"""Judges same_letters."""

from deepgym_solution import load_solution


def verify(solution_path, test_cases_path=None):
    solution = load_solution(solution_path)
    cases = [("abc", "cab", True), ("abc", "abd", False), ("", "", True), ("a", "b", False)]
    right = [solution.same_letters(a, b) is expected for a, b, expected in cases]
    score = SCORE
    return {"schema_version": "1.0", "score": score, "passed": score == 1.0}


if __name__ == "__main__":
    import json
    import sys

    print(json.dumps(verify(sys.argv[1])))
'''


class Silent:
    def planned(self, jobs, reused): ...
    def began(self, job, trial): ...
    def phase(self, job, trial, phase): ...
    def ended(self, job, record): ...
    def left_out(self, job): ...
    def note(self, text): ...


@pytest.mark.parametrize(
    ("score", "broken"),
    [("sum(right) / len(right)", {"yes", "no"}), ("float(all(right))", set())],
)
def test_a_constant_answer(tmp_path: Path, score, broken):
    folder = base_task("deepgym", tmp_path / "task")
    (folder / "task.md").write_text(BRIEF)
    (folder / "reference_solution.py").write_text(SOLUTION)
    (folder / "verifier.py").write_text(VERIFIER.replace("SCORE", score))
    settings = Settings(root=folder).override(select=["passes-empty-output"])
    wishes = Wishes(probes=frozenset({"constant-answers"}), repeats=1)
    report = stage.validate(stage.Request([folder], settings, Silent(), ledger=tmp_path / "ledger", deep=wishes))
    assert report.crashes == []
    made = [x.record for x in report.trials if x.record.experiment and x.record.experiment.kind == "probe"]
    assert len(made) == 6
    assert {r.agent.partition("#")[2] for r in made if r.experiment.outcome == "broken"} == broken
    assert len(report.findings) == bool(broken)
    if broken:
        assert "`constant-answers` earned 0.5" in report.findings[0].message
