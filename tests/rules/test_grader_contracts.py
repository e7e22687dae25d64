"""The rules about DeepGym judges, Waza's grading context and outputs that nobody opens, beyond their pages."""

import pytest

from scenlint.testing import base_task, lint


@pytest.fixture
def found(tmp_path):
    """found(rule, format, {path: text}) -> [(line, severity)] for a sound task with these files laid over it."""

    def run(rule, format, files):
        root = base_task(format, tmp_path / f"task{len(list(tmp_path.iterdir()))}")
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        return [(f.location.line, str(f.severity)) for f in lint(root, rule)]

    return run


# data-after-solution

JUDGE = """import json
from pathlib import Path
from deepgym_solution import load_solution, run_solution

HERE = Path(__file__)
"""


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        ('s = load_solution(p)\nc = json.loads((HERE.parent / "c.json").read_text())', True),
        ('c = json.loads((HERE.parent / "c.json").read_text())\ns = load_solution(p)', False),
        ("s = load_solution(p)\nc = json.load(open(cases))", True),
        ("s = load_solution(p)\nfrom helpers import CASES as c", True),
        ('done = run_solution(p, cwd="/tmp/box")\nc = Path("/tmp/box/out.txt").read_text()', False),
    ],
)
def test_when_a_judge_loads_its_data(found, body, reported):
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    verifier = f"{JUDGE}\n\ndef verify(p, cases=None):\n{lines}    return bool(c)\n"
    meta = '{"name": "product", "type": "coding", "support_files": ["helpers.py"]}'
    files = {"verifier.py": verifier, "helpers.py": "CASES = [1]\n", "metadata.json": meta}
    assert len(found("data-after-solution", "deepgym", files)) == reported


# context-not-guarded

READ = "import json\nimport os\nimport sys\n\n{}\ncontext = json.load(open(place))\n"
ASKED = 'place = os.environ.get("WAZA_GRADING_CONTEXT")\nif not place:\n    sys.exit("too old")'
CALLS = 'calls = context["command_invocations"]\n'


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        (CALLS + "if calls is None:\n    sys.exit(1)\nprint(len(calls))\n", False),
        (CALLS + "if not isinstance(calls, list):\n    sys.exit(1)\nprint(len(calls))\n", False),
        (CALLS + 'if not calls:\n    sys.exit("nothing was called")\nprint(len(calls))\n', False),
        (CALLS + "if not calls:\n    sys.exit(0)\nprint(len(calls))\n", True),
        (CALLS + 'if calls and any(c["command"] == "rm" for c in calls):\n    sys.exit(1)\n', True),
        ('for call in context.get("command_invocations", []):\n    print(call)\n', True),
        ('if context.get("tool_events") is None:\n    sys.exit(1)\nprint(len(context["tool_events"]))\n', False),
        ('print(len(context["tool_calls"]), context["outcome"])\n', False),
    ],
)
def test_evidence_that_may_be_null(found, body, reported):
    text = READ.format(ASKED) + body
    assert len(found("context-not-guarded", "waza", {"graders/check_product.py": text})) == reported


@pytest.mark.parametrize(
    ("place", "reported"),
    [
        ('place = os.environ["WAZA_GRADING_CONTEXT"]', True),
        ('place = os.environ.get("WAZA_GRADING_CONTEXT", "")', True),
        ('try:\n    place = os.environ["WAZA_GRADING_CONTEXT"]\nexcept KeyError:\n    sys.exit("too old")', False),
        ('place = os.environ.get("WAZA_GRADING_CONTEXT") or sys.exit("too old")', False),
        (ASKED, False),
    ],
)
def test_a_variable_that_older_versions_do_not_set(found, place, reported):
    result = found("context-not-guarded", "waza", {"graders/check_product.py": READ.format(place)})
    assert [severity for _, severity in result] == ["warning"] * reported


# output-never-read

BRIEF = "# Product\n\n1. Write the product of the numbers in `/app/factors.txt` to `/app/answer.txt`.\n2. {}\n"


@pytest.mark.parametrize(
    ("sentence", "reported"),
    [
        ("Write a summary to `/app/summary.json`.", True),
        ("A chart must be saved to `/app/chart.png`.", True),
        ("Then store the sum in `/app/total.txt`.", True),
        ("You may write notes to `/app/notes.md`.", False),
        ("The counter writes its state to `/app/state.json`.", False),
        ("Create `/app/tool.py`.", False),
        ("Read `/app/factors.txt` first.", False),
        ("Write what went wrong to `/app/run.log`, where the program logs to.", False),
    ],
)
def test_what_counts_as_a_demanded_output(found, sentence, reported):
    assert len(found("output-never-read", "harbor", {"instruction.md": BRIEF.format(sentence)})) == reported
