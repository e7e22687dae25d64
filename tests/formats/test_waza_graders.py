"""Waza's declared graders without Waza: the evaluator is really run, on a workspace and an output."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scenlint.formats.waza.declared import EVALUATOR, OnlyWazaError, declared, pattern
from scenlint.formats.waza.suite import Places
from scenlint.source.files import FileTree


def evaluate(folder: Path, kind: str, config: dict[str, Any], output: str = "") -> tuple[int, str]:
    """Exit status and what was printed; `folder` is the eval's, the workspace is its folder `work`."""
    made = declared(kind, {"config": config}, Places(FileTree(folder)))
    argument = made.argument
    for place, target in made.snapshots:
        argument = argument.replace(target, str(place))
    (folder / "work").mkdir(exist_ok=True)
    env = {**os.environ, "WAZA_WORKSPACE_DIR": str(folder / "work")}
    argv = [sys.executable, "-I", str(EVALUATOR), argument]
    done = subprocess.run(argv, input=output.encode(), env=env, capture_output=True, timeout=60)
    assert not done.stderr, done.stderr.decode()
    return done.returncode, done.stdout.decode()


@pytest.mark.parametrize(
    ("config", "output", "passes"),
    [
        ({}, "", True),
        ({"contains": ["Forty"]}, "it is forty two", True),
        ({"contains_cs": ["Forty"]}, "it is forty two", False),
        ({"not_contains": ["FORTY"]}, "it is forty two", False),
        ({"not_contains_cs": ["FORTY"]}, "it is forty two", True),
        ({"regex_match": ["^[a-z]+$"]}, "word", True),
        ({"regex_match": ["^[a-z]+$"]}, "word\n", False),  # `$` is the very end
        ({"regex_match": ["(?m)^two$"]}, "one\ntwo\nthree", True),
        ({"regex_match": [r"[$]\d"]}, "price $5", True),
        ({"regex_match": [r"\$5\z"]}, "price $5", True),
        ({"regex_match": [r"^\w+$"]}, "größe", False),  # \w is ASCII
        ({"regex_not_match": ["(?i)error"]}, "No Error here", False),
    ],
)
def test_text(tmp_path, config, output, passes):
    assert (evaluate(tmp_path, "text", config, output)[0] == 0) is passes


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"must_exist": ["a.txt"], "must_not_exist": ["c.txt"]}, ""),
        ({"must_exist": ["c.txt"]}, "c.txt does not exist"),
        ({"must_not_exist": ["a.txt"]}, "a.txt exists"),
        ({"content_patterns": [{"path": "a.txt", "must_match": ["^4"], "must_not_match": ["x"]}]}, ""),
        ({"content_patterns": [{"path": "a.txt", "must_match": ["^5"]}]}, "a.txt does not match ^5"),
        ({"content_patterns": [{"path": "c.txt"}]}, "c.txt cannot be read"),
    ],
)
def test_file(tmp_path, config, says):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/a.txt").write_text("42")
    status, printed = evaluate(tmp_path, "file", config)
    assert (status, printed.strip()) == (1 if says else 0, says)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"path": "a.bin", "snapshot": "a.bin"}, ""),
        ({"path": "b.txt", "snapshot": "a.bin"}, "b.txt differs from its snapshot"),
        ({"path": "b.txt", "contains": ["+two", "-four", "one", "", "+"]}, ""),
        ({"path": "b.txt", "contains": ["+four"]}, "b.txt lacks: four"),
        ({"path": "b.txt", "contains": ["-two"]}, "b.txt has: two"),
        ({"path": "c.txt", "contains": ["-two"]}, "c.txt cannot be read"),
    ],
)
def test_diff(tmp_path, entry, says):
    for folder in ("fixtures", "work"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.bin").write_bytes(b"\xff\x00")
    (tmp_path / "work/b.txt").write_text("one\ntwo\n")
    status, printed = evaluate(tmp_path, "diff", {"expected_files": [entry]})
    assert (status, printed.strip()) == (1 if says else 0, says)


def test_json_schema(tmp_path):
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}
    assert evaluate(tmp_path, "json_schema", {"schema": schema}, '{"total": 42}')[0] == 0
    assert "$.total" in evaluate(tmp_path, "json_schema", {"schema": schema}, '{"total": "42"}')[1]
    assert "not JSON" in evaluate(tmp_path, "json_schema", {"schema": schema}, "42 it is")[1]
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures/s.json").write_text('{"type": "array"}')
    assert evaluate(tmp_path, "json_schema", {"schema_file": "s.json"}, "[]")[0] == 0
    assert evaluate(tmp_path, "json_schema", {"schema_file": "s.json"}, "{}")[0] == 1


@pytest.mark.parametrize(
    ("assertion", "passes"),
    [
        ("len(output) > 3", True),
        ("'forty' in output.lower() and str(42) not in output", True),
        ("all(w in output for w in ['two'])", False),  # as in Waza, a generator does not see `output`
        ("re.search('[0-9]', output)", False),
        ("open('/etc/passwd')", False),
        ("output ==", False),
        ("[]", False),
    ],
)
def test_code(tmp_path, assertion, passes):
    assert (evaluate(tmp_path, "code", {"assertions": [assertion]}, "Forty two")[0] == 0) is passes


@pytest.mark.parametrize(
    ("kind", "config", "says"),
    [
        ("prompt", {}, "asks a model"),
        ("", {}, "looks at the session"),
        ("text", {"contains": "x"}, "`contains` is no list"),
        ("text", {"regex_match": ["(?=x)"]}, "looks around"),
        ("text", {"regex_match": [r"\p{L}"]}, "only Go's regexp knows"),
        ("text", {"regex_match": ["["]}, "cannot be evaluated here"),
        ("file", {}, "checks nothing"),
        ("file", {"must_exist": ["/etc/passwd"]}, "does not lie in the workspace"),
        ("file", {"must_exist": ["../x"]}, "does not lie in the workspace"),
        ("diff", {"expected_files": [{"path": "a", "snapshot": "none"}]}, "`none` is not there"),
        ("diff", {"expected_files": [{"path": "a"}]}, "neither a snapshot nor lines"),
        ("diff", {}, "expects no file"),
        ("json_schema", {}, "no schema"),
        ("json_schema", {"schema": {"type": 3}}, "its schema is none"),
        ("code", {"language": "javascript"}, "javascript"),
        ("code", {"assertions": ["len(tool_calls) > 0"]}, "`tool_calls` of the session"),
        ("text", {"contains": ["x" * 100_001]}, "too long"),
    ],
)
def test_what_only_waza_can_evaluate_says_why(tmp_path, kind, config, says):
    with pytest.raises(OnlyWazaError, match=says.replace("(", r"\(")):
        declared(kind, {"config": config}, Places(FileTree(tmp_path)))


def test_assertions_may_stand_outside_of_the_configuration(tmp_path):
    made = declared("code", {"assertions": ["True"]}, Places(FileTree(tmp_path)))
    assert '"assertions": ["True"]' in made.argument


def test_a_pattern_keeps_what_both_know():
    assert pattern(r"a\.b[\]$]+$") == r"a\.b[\]$]+\Z"
    assert pattern(r"(?im)^x$") == r"(?im)^x$"
    assert pattern(r"[^]$]\$") == r"[^]$]\$"
