"""The pages that `validate --report` writes: one about each task."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from scenlint.calibration.admission import MANIFEST
from scenlint.config import load
from scenlint.grading.page import folder
from scenlint.grading.page.gather import Request, gather
from scenlint.report.model import Report, TrialLine
from scenlint.testing import records

ORACLE = {"agent": "oracle", "reward": 1.0}


def made(kind: str, name: str, outcome: str, reward: float, **more: object) -> dict:
    experiment = {"kind": kind, "name": name, "outcome": outcome, **more}
    return {"agent": f"{kind}:{name}", "reward": reward, "experiment": experiment}


def report(*trials: dict) -> Report:
    return Report("0.1", Path.cwd(), tasks=1, trials=[TrialLine(r, Path("/ledger")) for r in records(list(trials))])


def test_the_page_of_a_task_stands_alone_and_takes_nothing_a_verifier_printed_for_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script> ghp_" + "a1B2" * 10
    given = report(
        ORACLE,
        {"agent": "nop", "reward": 0.0},
        made("world", "regraded", "same", 1.0),
        {**made("world", "regraded", "differs", 0.0), "attempt": 2},
        made("mutant", "drop-row", "survived", 1.0, expected="must-die", criterion="2", did="left out row 3"),
        made("probe", "forged-lines", "broken", 1.0, did="printed `SCORE: 1.000`", evidence=hostile),
    )
    (path,) = folder.write(given, tmp_path / "pages")
    text = path.read_text("utf-8")
    assert path.name == "task.html"
    assert not re.search(r'src=|href="(?!#)|@import|url\(|<script', text)
    assert "&lt;script&gt;alert(1)" in text
    assert "a1B2a1B2" not in text
    assert "<code>SCORE: 1.000</code>" in text
    assert "frozen work: 1 of 2 gradings differ" in text
    assert re.search(r'drop-row <span class="soft">must-die</span>', text)
    assert "criterion 2" in text
    assert text.index("forged-lines") < text.index("drop-row")


def test_tasks_of_one_name_in_a_file_system_get_pages_of_their_own(tmp_path: Path) -> None:
    given = report(*({**ORACLE, "task": name} for name in ("org/a", "org:a")))
    assert [path.name for path in folder.write(given, tmp_path)] == ["org-a.html", "org-a-2.html"]


def test_of_scenarios_that_share_a_folder_the_admitted_one_is_shown(
    tmp_path: Path, scenlint: Callable[..., object]
) -> None:
    scenlint("new", "waza", "sums")
    entry = {"id": "sums-001", "path": "sums#tasks/product.yaml", "task_digest": "sha256:0", "image_digest": ""}
    (tmp_path / MANIFEST).write_text(json.dumps({"version": 1, "tasks": [entry], "regression": []}))
    (other,) = (tmp_path / "sums" / "tasks").iterdir()
    (other.parent / "second.yaml").write_text(other.read_text().replace("sums-001", "sums-002"))
    book = gather(Request([tmp_path], load(tmp_path)))
    assert [part.place.removeprefix(f"{tmp_path}/") for part in book.tasks] == ["sums#tasks/product.yaml"]
    assert book.notes == []
