"""The rules about what a brief says, forbids and gives away, beyond the examples of their pages."""

import pytest

from scenlint.testing import base_task, lint

IMAGE = "FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de\n"


@pytest.fixture
def found(tmp_path):
    """found(rule, brief, {path: text}) -> [(line, message)] for a sound task with this brief and these files."""

    def run(rule, brief, files=None):
        root = base_task("harbor", tmp_path / f"task{len(list(tmp_path.iterdir()))}")
        for path, text in {"instruction.md": brief, **(files or {})}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")
        return [(f.location.line, f.message) for f in lint(root, rule)]

    return run


ASKS = "1. Write the product of the numbers in `/app/factors.txt` to `/app/answer.txt`.\n"


def solution(text):
    return {"solution/solve.sh": f"#!/bin/bash\nset -eu\n{text}\n"}


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("echo 42 > /app/anwser.txt", True),
        ("echo 42 > /app/answer.csv", True),
        ("echo 42 > /app/out/answer.txt", True),
        ("echo 42 > /app/result.txt", True),
        ("cd /app\necho 42 > answer.txt", False),
        ("cd /app\necho 42 > out.tmp\nmv out.tmp answer.txt", False),
        ("OUT=/app\necho 42 > $OUT/answer.txt", False),
        ("python3 /solution/solve.py", False),
        ("sort /app/factors.txt > /app/sorted.txt\necho 42 > /app/answer.txt", False),
    ],
)
def test_another_file_than_the_brief_asks_for(found, text, reported):
    assert len(found("oracle-contradicts-brief", ASKS, solution(text))) == reported


def test_a_patch_holds_no_path_that_the_solution_writes(found):
    patch = "--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-\ta.config = old\n+\ta.result = config\n"
    brief = "1. Fix `/app/x.go` and write the reason to `/app/answer.txt`.\n"
    files = {
        "solution/fix.patch": patch,
        **solution("patch -p1 < /solution/fix.patch\ncat > /tmp/made.diff < /dev/null"),
    }
    assert found("oracle-contradicts-brief", brief, files) == []


@pytest.mark.parametrize(("form", "reported"), [("%Y-%m-%d", False), ("%F", False), ("%d.%m.%Y", True), ("%s", False)])
def test_another_form_of_date(found, form, reported):
    brief = "1. Write the day to `/app/answer.txt` as YYYY-MM-DD.\n"
    assert len(found("oracle-contradicts-brief", brief, solution(f"date -u +{form} > /app/answer.txt"))) == reported


@pytest.mark.parametrize(
    ("criterion", "reported"),
    [
        ("Choose appropriate names.", True),
        ("List the top customers.", True),
        ("Keep the recent orders.", True),
        ("Remove spaces, tabs, etc.", True),
        ("Choose the appropriate column.", False),
        ("Choose a value suitable for sorting.", False),
        ("List the top 5 customers.", False),
        ("Keep the most recent order.", False),
        ("Handle gaps appropriately (write 0).", False),
        ('Name the column "appropriate".', False),
        ("Write `/etc/hosts`.", False),
    ],
)
def test_words_with_two_readings(found, criterion, reported):
    assert (
        len(found("ambiguous-wording", f"# Orders\n\n1. {criterion}\n2. Write 42 to `/app/answer.txt`.\n")) == reported
    )


@pytest.mark.parametrize(
    ("sentence", "reported"),
    [
        ("It is checked by `/tests/test_outputs.py`.", True),
        ("See test_outputs.py for what is checked.", True),
        ("A 1 in /logs/verifier/reward.txt means success.", True),
        ("Have a look at solution/solve.sh.", True),
        ("Your work will be checked.", False),
        ("Create `/app/test_outputs.py` with tests of your own.", False),
        ("Write a script called test.sh.", False),
    ],
)
def test_what_a_brief_gives_away(found, sentence, reported):
    assert len(found("brief-reveals-verifier", f"{ASKS}\n{sentence}\n")) == reported


@pytest.mark.parametrize(
    ("sentence", "reported"),
    [
        ("Do not modify `/app/factors.txt`.", True),
        ("You must not edit or delete the file factors.txt.", True),
        ("`/app/factors.txt` must remain unchanged.", True),
        ("- `/app/factors.txt` (DO NOT MODIFY)", True),
        ("Leave `/app/factors.txt` exactly as it is.", True),
        ("Keep the file `/app/factors.txt` unchanged.", True),
        ("Leave `/app/factors.txt` in its folder.", False),
        ("Do not change the order of the numbers in `/app/factors.txt`.", False),
        ("You do not need to modify `/app/factors.txt`.", False),
        ("Do not modify `/app/missing.txt`.", False),
        ("Modify `/app/factors.txt`.", False),
    ],
)
def test_what_a_brief_forbids(found, sentence, reported):
    assert len(found("do-not-modify-unenforced", f"{ASKS}\n{sentence}\n")) == reported


def test_a_separate_verifier_needs_no_watch(found):
    metadata = (
        'version = "1.0"\n\n[agent]\ntimeout_sec = 300.0\n\n[verifier]\ntimeout_sec = 60.0\n'
        'environment_mode = "separate"\n'
    )
    brief = f"{ASKS}\nDo not modify `/app/factors.txt`.\n"
    assert found("do-not-modify-unenforced", brief, {"task.toml": metadata}) == []


@pytest.mark.parametrize(
    ("brief", "image", "reported"),
    [
        ("1. Write 42 to `answer.txt`.\n", IMAGE, True),
        ("1. Write 42 to `./answer.txt`.\n", IMAGE, True),
        ("1. Write 42 to `answer.txt`.\n", IMAGE + "WORKDIR /app\n", False),
        ("1. Write 42 to `answer.txt` in /app.\n", IMAGE, False),
        ("The working directory is /app.\n\n1. Write 42 to `answer.txt`.\n", IMAGE, False),
        ("1. Write 42 to `/app/answer.txt`.\n", IMAGE, False),
        ("1. Write 42 to `answer.txt`.\n", "FROM acme/workbench:2\n", False),
        ("1. Write 42 to `notes.txt`.\n", IMAGE, False),
    ],
)
def test_a_path_that_may_lie_anywhere(found, brief, image, reported):
    assert len(found("relative-path-in-brief", brief, {"environment/Dockerfile": image})) == reported
